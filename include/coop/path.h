// Absolute, normalised paths as plain strings: "/", "/a/b"; no trailing slash, no "." or "..".
#pragma once

#include <string>

namespace coop {

using Path = std::string;

}  // namespace coop
