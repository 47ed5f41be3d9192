// Expands a path as written in a file. Purely textual: does not access the file system.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "policy/settings/settings.h"

namespace coop::policy {

struct ExpandedPath {
  Path path{};                          // absolute and normalised
  bool pattern = false;                 // it has wildcards, written literally in the file
  std::optional<Missing> if_missing{};  // skip when `text` ended with "?"
  bool operator==(const ExpandedPath&) const = default;
};

// "~" and "~/x", "$VAR" and "${VAR}" ("$$" is a dollar sign), relative paths, wildcards and a
// trailing "?". Not recursive: the value of a variable is not expanded. An unset or empty variable,
// a ".." anywhere, a relative path without a base, a NUL and more than 4096 bytes are errors whose
// subject is a sentence.
Result<ExpandedPath> expand_path(std::string_view text, const Surroundings& surroundings);

// The same for a single existing path: "?" and wildcards are literal characters.
Result<Path> expand_plain_path(std::string_view text, const Surroundings& surroundings);

}  // namespace coop::policy
