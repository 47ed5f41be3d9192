// Base64 encoding.
#pragma once

#include <string>
#include <string_view>

namespace coop {

// The standard alphabet, padded.
std::string base64(std::string_view bytes);

}  // namespace coop
