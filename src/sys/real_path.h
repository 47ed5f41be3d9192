// Paths without symlinks, as the kernel resolves them.
#pragma once

#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace coop {

// realpath(): everything on the path must exist.
Result<Path> real_path(const Path& path);

// The existing part of `path` resolved, the rest as written.
Path resolved_path(const Path& path);

// Each name that the kernel looks up on the way to the absolute `path`, by its real directory: directories, symlinks and what
// they lead to. The last is the real path.
Result<std::vector<Path>> names_on_the_way(const Path& path);

// Where a symlink leads, as it says so itself. Cut at PATH_MAX.
Result<Path> read_link(const Path& path);

}  // namespace coop
