#include "host/workspace.h"

#include <ctime>

#include "host/guard_names.h"
#include "host/guard_walk.h"
#include "host/outside_git.h"

namespace coop::host {

namespace {

// A run may add files, and must not escape the second look by adding many.
constexpr std::uint64_t kEntriesAgain = 50'000'000;

// The clock that file systems take their time stamps from; the finer one runs ahead of it.
std::int64_t file_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Result<WorkspaceFacts> look(const Path& root, std::span<const std::string> guards,
                            std::vector<Path> outside, const WalkLimits& limits) {
  WorkspaceFacts facts{.outside_git = std::move(outside), .started = file_clock()};
  std::vector<Path> writable = facts.outside_git;
  writable.push_back(root);
  const GuardNames names(guards);
  GuardWalk walk(names, limits, std::move(writable));
  // The small ones first: too many entries in the workspace must not hide them.
  for (const Path& git : facts.outside_git)
    TRY(with_context("looking through the repository", walk.git_directory(git)));
  TRY(with_context("looking through the workspace", walk.tree(root)));
  facts.guarded = walk.take_guarded();
  facts.complete = walk.complete();
  return facts;
}

}  // namespace

Result<WorkspaceFacts> inspect_workspace(const Path& root, std::span<const std::string> guards) {
  return look(root, guards, find_outside_git(root), WalkLimits{});
}

Result<WorkspaceFacts> inspect_again(const Path& root, std::span<const std::string> guards,
                                     const WorkspaceFacts& before) {
  return look(root, guards, before.outside_git, WalkLimits{.entries = kEntriesAgain});
}

}  // namespace coop::host
