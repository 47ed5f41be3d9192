// A path as people write it in a file becomes the path it means. Nothing here looks at a file system.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "policy/settings.h"

namespace coop::policy {

struct ExpandedPath {
  Path path{};                          // absolute and normalised
  bool pattern = false;                 // it has wildcards, and they were written as such
  std::optional<Missing> if_missing{};  // skip when `text` ended with "?"
  bool operator==(const ExpandedPath&) const = default;
};

// "~" and "~/x", "$VAR" and "${VAR}" ("$$" is a dollar sign), relative paths, wildcards and a trailing
// "?". Once: what a variable holds is taken as it is. An unset or empty variable, a ".." anywhere, a
// relative path without a base, a NUL and more than 4096 bytes are errors whose subject is a sentence.
Result<ExpandedPath> expand_path(std::string_view text, const Surroundings& surroundings);

// The same for one path that is there: "?" and wildcards are characters like others.
Result<Path> expand_plain_path(std::string_view text, const Surroundings& surroundings);

}  // namespace coop::policy
