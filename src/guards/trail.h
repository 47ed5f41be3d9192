// Resolves a path and records the symlinks on it.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "coop/path.h"

namespace coop::guards {

struct TrailLink {
  Path path{};  // canonical
  std::string text{};
  struct stat status{};
};

struct Trail {
  std::vector<TrailLink> links{};
  Path place{};                         // without symlinks; empty for a symlink loop
  std::optional<struct stat> status{};  // nothing when the path does not exist
};

// What was found on the way of earlier trails: many begin with the same directories.
struct Observed {
  struct stat status{};
  std::string link{};
};
using TrailMemo = std::unordered_map<Path, std::optional<Observed>>;

// Resolves `path` (absolute, with any "..") as the kernel would. Unsearchable directories in the
// `writable` trees are opened by changing their mode: the sandbox could do the same.
Trail follow_trail(const Path& path, std::span<const Path> writable, TrailMemo* memo = nullptr);

// The text of a symlink; empty when it cannot be read.
std::string read_link(int directory, const std::string& name);

// The repositories outside, the root and the other writable trees.
std::vector<Path> all_trees(const Path& root, const std::vector<Path>& outside,
                            std::span<const Path> writable);
// The tree that contains `path`; null when none does.
const Path* tree_of(const Path& path, std::span<const Path> trees);
// Whether one of the trees lies in `path`, or is it.
bool holds_a_tree(const Path& path, std::span<const Path> trees);

}  // namespace coop::guards
