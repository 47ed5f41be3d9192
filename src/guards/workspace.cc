#include "guards/workspace.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/path.h"
#include "guards/git/outside.h"
#include "guards/names.h"
#include "guards/trail.h"
#include "guards/walk.h"

namespace coop::guards {

namespace {

// Bytes of guarded paths that a run may add before the rest is spilled: more than a thousand usual ones. A path may
// have 16 KB, and going down to each costs as much.
constexpr std::size_t kPathBytesAgain = std::size_t{128} << 10;

void add_named(GuardWalk& walk, std::span<const std::string> guards,
               const std::vector<NamedPath>& all) {
  for (const NamedPath& named : all)
    if (named.path.starts_with('/') && is_guarded(guards, named)) walk.named(named);
}

// `facts` has the state before; paths named now come from `names_now`, if given.
Result<WorkspaceFacts> look(const Path& root, std::span<const std::string> guards,
                            const std::vector<Path>& writable, const WalkLimits& limits,
                            WorkspaceFacts facts, GitNames* names_now, const Spill& spill,
                            TreeMemory memory, GuardWalk::Stop& stop) {
  facts.started = file_clock();
  memory.began = facts.started;
  const GuardNames names(guards, names_now != nullptr ? names_now->named() : facts.named, root);
  GuardWalk walk(names, limits, writable, names_now, spill);
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
  facts.package_links = walk.take_package_links();
  facts.complete = walk.complete();
  stop = walk.stop();
  if (names_now != nullptr && names_now->full()) stop = GuardWalk::Stop::too_large;
  return facts;
}

// What was not seen before a run would be taken for new after it, or, with nothing to compare with, for the user's.
std::unexpected<Error> cannot_look(const Path& root, GuardWalk::Stop stop) {
  const bool large = stop == GuardWalk::Stop::too_large;
  return std::unexpected(Error{
      .kind = large ? Error::Kind::unsupported : Error::Kind::unavailable,
      .operation = "look for guarded files",
      .subject = root,
      .hint = large ? "it has too many entries, guarded paths, symlinks in guarded directories or "
                      "directories that git's settings name: choose a smaller workspace"
                    : "its directories are being moved all the time: try again when the other "
                      "program has ended"});
}

}  // namespace

Result<WorkspaceFacts> inspect_workspace(const Path& root, std::span<const std::string> guards,
                                         std::span<const Path> writable, const GitUser& user,
                                         const TreeMemory& memory) {
  constexpr int kTries = 5;
  const WorkspaceFacts begin{.outside_git = find_outside_git(root)};
  const std::vector<Path> trees = all_trees(root, begin.outside_git, writable);
  std::vector<Path> homes = user.homes;
  if (homes.empty() && !user.home.empty()) homes.push_back(user.home);
  for (Path& home : homes) home = canonical(home).value_or(home);
  const Path config_home = user.config_home.empty()
                               ? Path()
                               : canonical(user.config_home).value_or(normalize(user.config_home));
  auto stop = GuardWalk::Stop::none;
  for (int attempt = 0; attempt < kTries && stop != GuardWalk::Stop::too_large; ++attempt) {
    GitNames names(user, trees);
    names.in_homes(home_guards(guards), homes, config_home);
    for (const Surrounding& repository : surrounding_repositories(root))
      names.surrounding(repository);
    Result<WorkspaceFacts> facts =
        look(root, guards, trees, WalkLimits{}, begin, &names, {}, memory, stop);
    if (facts && names.failure() && stop != GuardWalk::Stop::disturbed)
      return std::unexpected(*names.failure());
    if (!facts || stop == GuardWalk::Stop::none) return facts;
  }
  return cannot_look(root, stop);
}

// Only from files that the sandbox could not write: it must not make coop take the user's directories away by naming them.
std::vector<NamedPath> named_now(std::span<const std::string> guards, const WorkspaceFacts& before,
                                 std::span<const GitDirectory> served,
                                 const std::vector<Path>& trees, GitUser user) {
  std::erase_if(user.configurations, [&](const Path& path) {
    return std::ranges::any_of(trees, [&](const Path& tree) { return is_within(path, tree); });
  });
  GitNames names(user, trees);
  for (const GitDirectory& git : before.git)
    if (std::ranges::any_of(served,
                            [&](const GitDirectory& one) { return is_within(git.path, one.path); }))
      names.repository(AT_FDCWD, git.path);
  for (const Path& tree : trees)
    for (const Surrounding& repository : surrounding_repositories(tree))
      if (tree_of(repository.git, trees) == nullptr) names.surrounding(repository);
  std::vector<NamedPath> named;
  std::ranges::copy_if(names.named(), std::back_inserter(named), [&](const NamedPath& path) {
    return is_guarded(guards, path) && !std::ranges::binary_search(before.named, path);
  });
  return named;
}

Result<SecondLook> inspect_again(const Path& root, std::span<const std::string> guards,
                                 const WorkspaceFacts& before, std::span<const Path> writable,
                                 const Spill& spill, const TreeMemory& memory) {
  WalkLimits limits;
  if (spill) {
    limits.path_bytes = kPathBytesAgain;
    for (const GuardedPath& known : before.guarded) limits.path_bytes += known.path.size();
  }
  WorkspaceFacts facts{.outside_git = before.outside_git, .git = before.git, .named = before.named};
  facts.git.insert(facts.git.end(), before.made_inside.begin(), before.made_inside.end());
  auto stop = GuardWalk::Stop::none;
  WorkspaceFacts now = TRY(look(root, guards, all_trees(root, before.outside_git, writable), limits,
                                std::move(facts), nullptr, spill, memory, stop));
  now.stopped = stop != GuardWalk::Stop::none;
  return SecondLook{std::move(now), stop == GuardWalk::Stop::disturbed};
}

}  // namespace coop::guards
