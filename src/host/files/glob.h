// Matches wildcards against the file system, one directory per component: no tree is walked.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/path.h"

namespace coop::host {

// Paths that `pattern` (absolute; * ? [a-z] [!a-z] within one component, never "**") matches now,
// sorted. A leading dot must be literal. Symlinks before the first wildcard are followed, matched
// ones are not. More than 1000 matches or 10000 entries are an error: such a pattern is probably a
// mistake.
Result<std::vector<Path>> glob(std::string_view pattern);

}  // namespace coop::host
