// The walk through a tree that lists what is guarded in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/directory_stack.h"
#include "host/entries.h"
#include "host/facts.h"
#include "host/git_names.h"
#include "host/guard_names.h"

namespace coop::host {

struct WalkLimits {
  std::uint64_t entries = 2'000'000;
  // Of all guarded paths together. Without it, a tree of 100,000 levels with something guarded in
  // each would take memory by the square of its depth.
  std::size_t path_bytes = std::size_t{64} << 20;
};

class GuardWalk {
 public:
  // `writable`: the trees in which a symlink's target is guarded too.
  // `git_names` is told of the repositories that are found; null when nobody wants to know.
  GuardWalk(const GuardNames& names, const WalkLimits& limits, std::vector<Path> writable,
            GitNames* git_names = nullptr)
      : names_(names), limits_(limits), writable_(std::move(writable)), git_names_(git_names) {}

  // Everything below `root`.
  Result<void> tree(const Path& root);
  // Only what git keeps settings in: the directory itself, modules and worktrees in it.
  Result<void> git_directory(const Path& path);
  // What git's configuration names, if it is there. An absolute one only.
  void named(const NamedPath& name);

  // What was found, sorted. Each path once.
  std::vector<GuardedPath> take_guarded();
  bool complete() const { return complete_; }

 private:
  enum class Reach { everything, git_structure };
  // What a directory is, by the place it was found in: .git/modules, something below it, …
  enum class Place { top, ordinary, dot_git, modules, module, worktrees, worktree };

  struct Level {
    Place place = Place::ordinary;
    bool git = false;             // a git directory
    std::size_t path_length = 0;  // of the directory above, in path_
    std::string pending{};        // names of directories to enter, each with a NUL behind
    std::size_t next = 0;
  };
  struct Seen {
    std::string name;
    unsigned char type;
  };
  using Sight = std::vector<Seen>;  // the interesting entries of one directory

  Result<void> walk(const Path& top, Place place, Reach reach);
  void look(Level& level);
  std::optional<Level> descend(Level& level);
  std::optional<Place> place_of(const Level& level, const std::string& name) const;
  void look_in_git(const Level& level, const Sight& sight);
  void look_beside(const Sight& sight);
  void match(const Guard& guard, const Sight& sight);
  void find_git_pointer(const std::string& name, Place place);
  void add(const std::string& name, const Path& path, const std::string& guard,
           std::string_view rest);
  void add_ancestor(const Path& path, const std::string& guard);
  void add_behind_link(const GuardedPath& link, std::string_view rest);
  void keep(GuardedPath found);
  void cannot_enter(const std::string& name, int error);
  void count_path(const Path& path);
  void give_up() { complete_ = false, stopped_ = true; }

  const GuardNames& names_;
  WalkLimits limits_;
  Reach reach_ = Reach::everything;
  std::vector<Path> writable_;
  GitNames* git_names_;
  DirectoryStack* directory_ = nullptr;  // where the walk is
  Path path_{};                          // the same as text
  std::size_t top_depth_ = 0;            // components of the top's path
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
  std::vector<GuardedPath> guarded_{};
  std::vector<std::pair<std::size_t, Path>> git_files_{};  // index in guarded_, where it leads
  std::set<Path> git_directories_{};  // those a .git file may lead to: their guards are looked at
  std::uint64_t entries_ = 0;
  std::size_t path_bytes_ = 0;
  bool complete_ = true;
  bool stopped_ = false;
};

}  // namespace coop::host
