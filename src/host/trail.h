// The way from a name to what it stands for, with the symlinks that have a say in it.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coop/path.h"

namespace coop::host {

struct TrailLink {
  Path path{};  // canonical
  std::string text{};
  struct stat status{};
};

struct Trail {
  std::vector<TrailLink> links{};
  Path place{};                         // without symlinks; empty when the links go in circles
  std::optional<struct stat> status{};  // nothing when the place does not exist
};

// Goes along `path` (absolute, with any "..") as the kernel would. Directories in one of the
// `writable` trees that nobody may search are opened by force: whoever can lock them can unlock them.
Trail follow_trail(const Path& path, std::span<const Path> writable);

// The tree that `path` lies in, or is; null when it is in none.
const Path* tree_of(const Path& path, std::span<const Path> trees);

}  // namespace coop::host
