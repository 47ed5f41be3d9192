#include "guards/workspace.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <mutex>

#include "base/path.h"
#include "guards/git/outside.h"
#include "guards/names.h"
#include "guards/trail.h"
#include "guards/walk.h"

namespace coop::guards {

namespace {

// A run may add files, and must not evade the second walk by adding many.
constexpr std::uint64_t kEntriesAgain = 50'000'000;
// Bytes of guarded paths that a run may add before the rest is spilled: more than a thousand usual ones. A path may
// have 16 KB, and going down to each costs as much.
constexpr std::size_t kPathBytesAgain = std::size_t{128} << 10;

// CLOCK_REALTIME_COARSE, which file systems use for time stamps; the fine clock is ahead of it.
std::int64_t file_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void add_named(GuardWalk& walk, std::span<const std::string> guards,
               const std::vector<NamedPath>& all) {
  for (const NamedPath& named : all)
    if (named.path.starts_with('/') && is_guarded(guards, named)) walk.named(named);
}

// The last ones that were asked for: a look after a run needs those of the look before it, a pool the same again and again.
class KnownNames {
 public:
  std::shared_ptr<const GuardNames> get(std::span<const std::string> guards,
                                        const std::vector<NamedPath>& named, const Path& root) {
    const std::lock_guard lock(mutex_);
    for (const Known& one : known_)
      if (one.names && one.root == root && one.named == named &&
          std::ranges::equal(one.guards, guards))
        return one.names;
    Known& oldest = known_[next_++ % known_.size()];
    oldest = {.guards = {guards.begin(), guards.end()},
              .named = named,
              .root = root,
              .names = std::make_shared<const GuardNames>(guards, named, root)};
    return oldest.names;
  }

 private:
  struct Known {
    std::vector<std::string> guards{};
    std::vector<NamedPath> named{};
    Path root{};
    std::shared_ptr<const GuardNames> names{};
  };
  std::mutex mutex_{};
  std::array<Known, 4> known_{};
  std::size_t next_ = 0;
};

std::shared_ptr<const GuardNames> names_for(std::span<const std::string> guards,
                                            const std::vector<NamedPath>& named, const Path& root) {
  static KnownNames known;
  return known.get(guards, named, root);
}

// `facts` has the state before; paths named now come from `names_now`, if given.
Result<WorkspaceFacts> look(const Path& root, std::span<const std::string> guards,
                            const std::vector<Path>& writable, const WalkLimits& limits,
                            WorkspaceFacts facts, GitNames* names_now, const Spill& spill,
                            TreeMemory memory) {
  facts.started = file_clock();
  memory.began = facts.started;
  const std::shared_ptr<const GuardNames> names =
      names_for(guards, names_now != nullptr ? names_now->named() : facts.named, root);
  GuardWalk walk(*names, limits, writable, names_now, spill);
  // Small trees first: many entries in the workspace must not exhaust the limit for them.
  for (const Path& git : facts.outside_git)
    TRY(with_context("looking through the repository", walk.git_directory(git)));
  // Without its HEAD a bare repository does not look like one, but git still obeys its settings for its worktrees.
  for (const GitDirectory& git : facts.git) {
    struct stat status{};
    if (::lstat(join(git.path, "HEAD").c_str(), &status) == 0 ||
        ::lstat(git.path.c_str(), &status) < 0 || status.st_dev != git.device ||
        status.st_ino != git.inode)
      continue;
    [[maybe_unused]] const Result<void> may_be_gone = walk.git_directory(git.path);
  }
  if (names_now == nullptr) add_named(walk, guards, facts.named);
  TRY(with_context("looking through the workspace", walk.tree(root, memory)));
  if (names_now != nullptr) {
    facts.named = names_now->named();
    facts.notes = names_now->notes();
    add_named(walk, guards, facts.named);
  }
  facts.guarded = walk.take_guarded();
  facts.git = walk.take_git();
  facts.complete = walk.complete();
  return facts;
}

}  // namespace

Result<WorkspaceFacts> inspect_workspace(const Path& root, std::span<const std::string> guards,
                                         std::span<const Path> writable, const GitUser& user,
                                         const TreeMemory& memory) {
  WorkspaceFacts facts{.outside_git = find_outside_git(root)};
  const std::vector<Path> trees = all_trees(root, facts.outside_git, writable);
  GitNames names(user, trees);
  std::vector<Path> homes = user.homes;
  if (homes.empty() && !user.home.empty()) homes.push_back(user.home);
  for (Path& home : homes) home = canonical(home).value_or(home);
  names.home_guards(named_in_home(guards, homes, user.config_home));
  return look(root, guards, trees, WalkLimits{}, std::move(facts), &names, {}, memory);
}

Result<WorkspaceFacts> inspect_again(const Path& root, std::span<const std::string> guards,
                                     const WorkspaceFacts& before, std::span<const Path> writable,
                                     const Spill& spill, const TreeMemory& memory) {
  WalkLimits limits{.entries = kEntriesAgain};
  if (spill) {
    limits.path_bytes = kPathBytesAgain;
    for (const GuardedPath& known : before.guarded) limits.path_bytes += known.path.size();
  }
  WorkspaceFacts facts{.outside_git = before.outside_git, .git = before.git, .named = before.named};
  facts.git.insert(facts.git.end(), before.made_inside.begin(), before.made_inside.end());
  return look(root, guards, all_trees(root, before.outside_git, writable), limits, std::move(facts),
              nullptr, spill, memory);
}

}  // namespace coop::guards
