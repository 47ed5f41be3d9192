// From a path as commands inside write it to a tree of the host.
#pragma once

#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::tools {

struct Location {
  Path root{};    // a directory of the host that the view shows, canonical
  Path below{};   // the path below it, normalised; "." for the root itself
  Path inside{};  // the whole path, as commands know it

  Path host() const;  // by its text: symlinks are still in it
  bool operator==(const Location&) const = default;
};

// Textual: ".." takes the name before it away, whatever that is. `path` is absolute or relative to
// the workspace; the host's own name of the workspace (`workspace`) is understood too.
Result<Location> locate(const Plan& plan, const Path& workspace, std::string_view operation,
                        std::string_view path);

}  // namespace coop::tools
