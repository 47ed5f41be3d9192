// Whether a path, existing or not, is guarded, and by which guard.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "guards/names.h"
#include "guards/place.h"
#include "host/facts.h"

namespace coop::guards {

// One guarded tree, as inspect_workspace() found it.
struct GuardedTree {
  Path root{};  // canonical; one of `before.outside_git`, too
  std::vector<std::string> names{};
  WorkspaceFacts before{};
  std::vector<Path> writable{};  // every tree that the sandbox may write
};

class GuardMatcher {
 public:
  explicit GuardMatcher(GuardedTree tree);

  // The guard that a regular file at `path` (in the tree or where its symlinks lead, without symlinks) would touch if it were written now, with
  // the directories above it: because it is listed already, because a walk would list it then, or because a walk
  // would list something else on account of it (HEAD is the last part of a bare repository). Nothing: a walk
  // afterwards lists what it lists now, and `path` lies in none of that.
  // `made`: `path` or a directory above it that was made a moment ago; it is judged as if it were not there yet.
  std::optional<std::string> guard_of(const Path& path, const Path& made = {}) const;

 private:
  std::optional<std::string> known_guard(const Path& path) const;
  std::optional<std::string> guard_behind_link(const GuardedPath& link, const Path& path) const;
  std::optional<std::string> linked_guard(const Path& path) const;
  std::optional<std::string> named_guard(const Path& path) const;
  std::optional<std::string> guard_on_the_way(const Path& path, const Path& made) const;
  enum class Entry : std::uint8_t { missing, made };
  std::optional<std::string> brought_about(const Path& directory, Place place,
                                           const Seen& appearing, Entry entry) const;

  GuardedTree tree_;
  std::vector<Path> trees_;  // writable, root and repositories outside
  GuardNames names_;
  bool outside_git_ = false;
};

}  // namespace coop::guards
