// Resolves a path and records the symlinks on it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "sys/tree/directory_stack.h"

namespace coop::guards {

struct TrailLink {
  Path path{};  // canonical
  std::string text{};
  struct stat status{};
  std::int64_t born = 0;
};

struct Trail {
  std::vector<TrailLink> links{};
  Path place{};                         // without symlinks; empty for a symlink loop
  std::optional<struct stat> status{};  // nothing when the path does not exist
  std::int64_t born = 0;
};

// What was found on the way of earlier trails: many begin with the same directories.
struct Observed {
  struct stat status{};
  std::string link{};
  std::int64_t born = 0;
};
using TrailMemo = std::unordered_map<Path, std::optional<Observed>>;

// Resolves `path` (absolute, with any "..") as the kernel would. Unsearchable directories in the
// `writable` trees are opened by changing their mode: the sandbox could do the same. What is missing counts as a directory, also
// before "..": there may be one soon.
Trail follow_trail(const Path& path, std::span<const Path> writable, TrailMemo* memo = nullptr);

// When it was made, in nanoseconds; 0 when that is unknown. An inode number alone says little: ext4 gives that of a
// removed file to the next one.
std::int64_t born_at(int directory, const char* name);

// DT_*, where getdents64(2) does not say.
unsigned char type_of(int directory, const char* name);

// The text of a symlink; empty when it cannot be read.
std::string read_link(int directory, const std::string& name);

// The repositories outside, the root and the other writable trees.
std::vector<Path> all_trees(const Path& root, const std::vector<Path>& outside,
                            std::span<const Path> writable);
// The tree that contains `path`; null when none does.
const Path* tree_of(const Path& path, std::span<const Path> trees);
// The directories above, in their tree, may be unreadable.
Result<DirectoryStack> open_within(const Path& directory, std::span<const Path> trees);
// Whether a directory that we cannot read may contain something new. Our own directories have been
// made readable: this is about those of other users.
bool may_hide_something(int parent, const std::string& name);
// Whether one of the trees lies in `path`, or is it.
bool holds_a_tree(const Path& path, std::span<const Path> trees);

}  // namespace coop::guards
