// Shell wildcards in one name: * ? [a-z] [!a-z].
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coop {

bool has_wildcard(std::string_view text);

// A pattern that matches exactly `text`.
std::string as_wildcard(std::string_view text);

// Refuses "**", an unclosed "[", and an empty or backward range.
Result<void> check_wildcard(std::string_view pattern);

// Whether `pattern` (without a slash) matches the whole of `name`. Takes time proportional to the
// product of their lengths, whatever the input.
bool matches_wildcard(std::string_view pattern, std::string_view name);

}  // namespace coop
