// Walks a tree and lists the guarded paths in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "guards/findings.h"
#include "guards/git/names.h"
#include "guards/links/link_walk.h"
#include "guards/links/package_links.h"
#include "guards/names.h"
#include "guards/place.h"
#include "host/facts.h"
#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"
#include "sys/tree/tree_index.h"
#include "sys/tree/tree_watch.h"

namespace coop::guards {

// CLOCK_REALTIME_COARSE, which file systems use for time stamps, in nanoseconds; the fine clock is ahead of it.
std::int64_t file_clock();

// Once the limit on paths is reached, guarded entries are passed on one by one: `name` in the directory where the walk
// is. What is not taken is listed in spite of the limit.
enum class Spilled : std::uint8_t { taken, left };
using Spill = std::function<Spilled(DirectoryStack& directory, const std::string& name,
                                    const GuardedPath& found)>;

// What an earlier walk through a tree has seen, and whether this one may add to it.
struct TreeMemory {
  Path directory{};        // of the indexes; empty: there is none
  std::int64_t began = 0;  // when this walk did
  enum class Writing : std::uint8_t { no, yes } writing = Writing::no;
  // Of a process that looks again and again; may be null. It learns from looks that no caller waits for.
  TreeWatch* watch = nullptr;
  enum class Learning : std::uint8_t { no, yes } learning = Learning::no;
  IndexRules rules{};
};

class GuardWalk {
 public:
  // `writable`: the trees in which a symlink's target is guarded too.
  // `git_names` is told of the repositories that are found; may be null.
  GuardWalk(const GuardNames& names, const WalkLimits& limits, std::vector<Path> writable,
            GitNames* git_names = nullptr, Spill spill = {})
      : names_(names),
        found_(limits, spill ? Findings::Beyond::go_on : Findings::Beyond::end),
        links_(found_, writable),
        package_links_(found_, std::move(writable)),
        git_names_(git_names),
        spill_(std::move(spill)) {}
  GuardWalk(const GuardWalk&) = delete;
  GuardWalk& operator=(const GuardWalk&) = delete;

  // Everything below `root`, and what symlinks below it lead to in directories of packages. Directories that an index says to be
  // as they were are not listed.
  Result<void> tree(const Path& root, const TreeMemory& memory = {});
  // Only where git keeps settings: the directory itself, its modules and worktrees.
  Result<void> git_directory(const Path& path);
  // A path named in git's configuration, if it exists. Absolute only.
  void named(const NamedPath& name) { links_.named(name); }
  // Everything below a directory of a tree.
  Result<void> subtree(const Path& top, Place place, Reach reach);
  // Before that: an entry of the directory counts although it does not exist, or does not count.
  void reckon_with(Seen appearing) { appearing_ = std::move(appearing); }
  void pass_over(std::string name) { passed_over_ = std::move(name); }

  // The result, sorted and unique.
  std::vector<GuardedPath> take_guarded();
  std::vector<GitDirectory> take_git();  // sorted
  std::vector<PackageLink> take_package_links() { return package_links_.take(); }
  bool complete() const { return found_.complete(); }
  using Stop = WalkStop;
  Stop stop() const { return found_.stop(); }

 private:
  struct Level {
    Standing standing{};
    std::size_t path_length = 0;  // of the directory above, in path_
    std::string pending{};        // names of directories to enter, NUL-terminated
    std::size_t next = 0;
    std::vector<std::uint64_t> inodes{};     // of `pending`
    std::size_t entered = 0;                 // of them
    std::vector<std::uint64_t> missed{};     // inodes of those that were not there any more
    std::int64_t listed = 0;                 // when, by the clock of file systems
    std::uint32_t known = TreeIndex::kNone;  // its row in the index
    std::uint32_t row = TreeIndex::kNone;    // and in the new one
    // Rows of the directories in it. Views of names in the index.
    std::unordered_map<std::string_view, std::uint32_t> rows_below{};
  };

  // Of a walk with an index.
  struct Memory {
    TreeIndex known;
    IndexBuilder next;
    Memory(TreeIndex read, const TreeMemory& memory)
        : known(std::move(read)), next(known, memory.began, memory.rules) {}
  };

  Result<void> walk(const Path& top, Place place, Reach reach);
  Result<void> walk(DirectoryStack& directory, const Path& top, Place place, Reach reach);
  void walk_linked();
  void enter_index(Level& level, std::string_view name);
  void leave_index(const Level& level);
  bool is_known(const Level& level) const;
  void look_in_index(Level& level);
  bool skip(const Level& level, const std::string& name, Place place);
  void look(Level& level);
  std::optional<Level> descend(Level& level);
  Sight read_entries(Level& level, std::vector<std::string>& links);
  enum class Leading : std::uint8_t { elsewhere, into_packages };
  Leading look_at_links(const Level& level, const std::vector<std::string>& links);
  void add_unfollowable(const std::string& name);
  void look_in_git(const Level& level, const Sight& sight);
  void look_for_links(const Level& level);
  void add_git_link(const std::string& name, const Path& above);
  enum class Deeper : std::uint8_t { ignored, guarded };  // what lies below the last level
  void find_git_links(const std::string& name, const Path& above, std::size_t levels,
                      Deeper levels_end);
  std::vector<std::string> directories_here();
  void look_at_git_file(const Seen& seen);
  void match(const Guard& guard, const Sight& sight);
  void follow(const Guard& guard, std::size_t index, const std::string& name, const Path& above);
  std::vector<std::string> names_like(std::string_view folded_name);
  void find_git_pointer(const std::string& name, Place place);
  void add(const std::string& name, const Path& path, const std::string& guard,
           std::string_view rest);
  void add_ancestor(const Path& path, const std::string& guard);
  void cannot_enter(const std::string& name, int error);
  void cannot_list(const Error& error);
  void look_for_missed(const Level& level);

  const GuardNames& names_;
  Findings found_;
  LinkWalk links_;
  PackageLinks package_links_;
  bool follows_package_links_ = false;
  std::optional<Seen> appearing_{};  // in the first directory that is looked at
  std::string passed_over_{};        // there, too
  Reach reach_ = Reach::everything;
  GitNames* git_names_;
  Spill spill_;
  std::unique_ptr<Memory> memory_{};
  DirectoryStack* directory_ = nullptr;  // where the walk is
  Path path_{};                          // the same as text
  std::size_t top_depth_ = 0;            // components of the top's path
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
  std::vector<std::pair<std::size_t, Path>>
      git_files_{};                   // index in found_.guarded(), where it leads
  std::set<Path> git_directories_{};  // those a .git file may lead to: their guards are looked at
  std::set<GitDirectory> git_{};      // all
};

}  // namespace coop::guards
