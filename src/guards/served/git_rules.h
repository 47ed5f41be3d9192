// Which names of a served git directory are read-only: the rules of the walk, asked for one name at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guards/names.h"
#include "guards/place.h"

namespace coop::guards {

// What is known about one directory of a git directory.
struct ServedPlace {
  // Unset: neither a git directory nor one that leads to some (objects, lfs).
  std::optional<Standing> standing{};
  // Guards of several components that lead through here, and how many of these have matched.
  std::vector<std::pair<const Guard*, std::size_t>> begun{};
  std::string_view guard{};  // that makes it, or everything in it, read-only; empty: none
  // Guarded names count although nothing proves that it is a git directory: the sandbox may have removed the proof.
  bool strict = false;
  // Made by the sandbox during this run, where git directories stand: judged by the second look, not here.
  bool made_inside = false;

  bool guarded() const { return !guard.empty(); }
  // Moved away, it could be changed under a name that no rule knows, and moved back.
  bool is_fixed() const;
};

class GitRules {
 public:
  explicit GitRules(GuardNames names);

  // The git directory itself.
  ServedPlace top() const { return {.standing = Standing{Place::dot_git, true}}; }
  // The guard that makes `name` in `parent` read-only, whether it exists or not; empty: none. The names under which git
  // prepares a guarded file are, too: the host's git would take a config.lock that the sandbox wrote to.
  std::string_view guard_of(const ServedPlace& parent, std::string_view name) const;
  // Whether it is the name under which git prepares new settings, which then exists only inside.
  bool is_draft(const ServedPlace& parent, std::string_view name) const;
  // Whether it is what keeps git from removing a worktree of the host's: see GitFiles::look_up().
  bool is_lock_of_worktree(const ServedPlace& parent, std::string_view name) const;
  // The directory of that name. What stands in it now is not asked: the sandbox could add and remove a HEAD.
  enum class Known : std::uint8_t { no, git_directory };  // when the run began
  ServedPlace below(const ServedPlace& parent, std::string_view name, Known known) const;
  // Whether a directory that the sandbox moves to that name would bring guarded names with it.
  bool begins_guard(const ServedPlace& parent, std::string_view name) const;
  // Whether a directory of that name which the sandbox made is left to the second look.
  bool may_be_made(const ServedPlace& parent) const;
  // The guarded names of one component.
  const std::vector<std::string>& plain_names() const { return plain_names_; }

 private:
  template <typename Visit>
  void for_each_begun(const ServedPlace& parent, std::string_view folded_name, Visit visit) const;

  GuardNames names_;
  std::vector<std::string> plain_names_{};  // asked at each write
};

}  // namespace coop::guards
