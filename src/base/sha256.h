// SHA-256 (FIPS 180-4), to identify file contents.
#pragma once

#include <string>
#include <string_view>

namespace coop {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view data);

}  // namespace coop
