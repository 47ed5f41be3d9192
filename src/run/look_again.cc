#include "run/look_again.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/path.h"
#include "plan/compile.h"
#include "policy/builtin.h"
#include "run/cleanup/cleanup.h"

namespace coop::run {

namespace {

// Which host path is mounted at each place in the end. A served directory has another device number.
std::map<Path, Path> sources_of(const Plan& plan) {
  std::map<Path, Path> sources;
  for (const Step& step : plan.steps) {
    if (const auto* bind = std::get_if<BindMount>(&step.action)) {
      if (bind->through != Through::supervisor) sources[bind->target] = bind->source;
      else sources.erase(bind->target);
    } else if (const auto* hide = std::get_if<HideMount>(&step.action)) {
      sources.erase(hide->target);
    } else if (const auto* tmpfs = std::get_if<TmpfsMount>(&step.action)) {
      sources.erase(tmpfs->target);
    }
  }
  return sources;
}

// Everything but the time of the look, and what no mount protects: the host's git writes its index again and again.
bool same_look(WorkspaceFacts before, WorkspaceFacts now) {
  const auto by_contents = [](const GuardedPath& path) {
    return policy::guard_kind(path.guard) == policy::GuardKind::contents;
  };
  std::erase_if(before.guarded, by_contents);
  std::erase_if(now.guarded, by_contents);
  before.started = now.started;
  return before == now;
}

// Whether a plan of these facts is the one that was made: a plan depends on nothing but the policy and the facts.
bool gives_same_plan(const Prepared& then, Draft& now) {
  // Of no effect, but for when the sandbox was created: and that was then.
  now.host.now = then.facts->now;
  now.host.workspace.started = then.facts->workspace.started;
  if (now.policy == then.policy && now.host == *then.facts) return true;
  const Result<Plan> plan = plan::compile(now.policy, now.host);
  return plan && *plan == then.plan;
}

// Waits until the child has entered its root. False when it failed before.
bool await_root(Sandbox::State& state) {
  while (!state.root.valid() && !state.failed)
    if (!read_report(state)) break;
  return state.root.valid();
}

}  // namespace

// The mounts hold their inodes, so that a number that is the same now means the same inode.
bool mounts_are_current(const guards::InsideView& view, const Plan& plan) {
  return std::ranges::all_of(sources_of(plan), [&](const auto& mount) {
    const guards::InsideTree from = view.start_of(mount.first);
    const Path below(relative_to(mount.first, from.place));
    const Result<UniqueFd> inside =
        open_in_root(from.directory, below.empty() ? "." : below, O_PATH | O_NOFOLLOW);
    struct stat mounted{};
    struct stat now{};
    return inside && ::fstat(inside->get(), &mounted) == 0 &&
           ::lstat(mount.second.c_str(), &now) == 0 && mounted.st_dev == now.st_dev &&
           mounted.st_ino == now.st_ino;
  });
}

bool look_again(Sandbox::State& state, const Policy& policy) {
  Prepared& then = state.prepared;
  const Path state_directory = parent_of(parent_of(then.quarantine));
  if (!enter_record(state, state_directory, then.policy.id)) return false;
  Policy same = policy;
  same.id = then.policy.id;
  Result<Draft> now = begin_prepare(std::move(same));
  if (!now) return false;
  now->watch = state.watch;
  if (!gather(*now) || !gives_same_plan(then, *now)) return false;
  // A mount below a tree of the sandbox shows other files there than the sandbox has.
  if (mounts_below(then.plan.guards.roots, now->host.mounts) != then.mounts) return false;
  std::vector<WorkspaceFacts> looks = looks_of(then.plan, *now->looks);
  // A guarded file that the host replaced has the same path, and its mount in the sandbox is gone.
  if (!std::ranges::equal(then.before, looks, same_look)) return false;
  if (state.network && state.network->ended()) return false;
  if (!await_root(state) || !mounts_are_current({state.root.get(), inside_trees(state)}, then.plan))
    return false;
  then.before = std::move(looks);
  return keep_versions(state) && renew_charge(state).has_value();
}

}  // namespace coop::run
