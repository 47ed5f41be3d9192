// ASCII letters and blanks, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace coop {

std::string lower(std::string_view text);

// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace coop
