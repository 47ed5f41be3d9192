// Wildcards against the real file system, one directory at a time: no tree is walked.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/path.h"

namespace coop::host {

// Paths that `pattern` (absolute; * ? [a-z] [!a-z] within one component, never "**") matches now,
// sorted. A leading dot must be written. Symlinks in the part before the first wildcard are followed,
// matched ones are not. Refused beyond 1000 matches or 10000 entries looked at: such a pattern hides a
// mistake.
Result<std::vector<Path>> glob(std::string_view pattern);

}  // namespace coop::host
