#include "run/view_root.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "plan/compile.h"
#include "sys/message.h"
#include "sys/process.h"

namespace coop::run {

Policy policy_for_view(Policy policy) {
  policy.id = "files";
  policy.network = NetworkMode::none;
  policy.allow_net.clear();
  policy.deny_net.clear();
  policy.allow_udp.clear();
  policy.publish.clear();
  policy.host_ports.clear();
  return policy;
}

// Neither a control group nor a janitor: nothing is ever run inside, so nothing is left to clean up.
Result<ViewRoot> ViewRoot::open(const Policy& policy) {
  Draft draft = TRY(begin_prepare(policy));
  const Plan early = TRY(plan::begin(draft.policy, draft.host));
  Launch launch = TRY(Launch::begin(early, {.prepared = true, .pass_root = true}, Group()));
  ViewRoot view;
  Draft existing = draft;
  existing.missing.clear();
  const bool same = draft.missing.empty();
  TRY(gather(existing));
  draft.looks = existing.looks;  // one walk for guards serves both plans, made at once
  const Prepared mounted = TRY(compile(std::move(existing)));
  view.prepared_ = mounted;
  if (!same) view.prepared_ = TRY(finish_prepare(std::move(draft)));
  view.launched_ = TRY(std::move(launch).complete(mounted.plan, nullptr));
  TRY(view.receive_root(mounted.plan));
  return view;
}

Result<void> ViewRoot::receive_root(const Plan& plan) {
  while (!root_.valid()) {
    child::Report report;
    Received received = receive_message(launched_.control.get(), &report, sizeof report);
    if (received.size < 0 && errno == EINTR) continue;
    if (received.size != sizeof report)
      return system_error_of(ECHILD, "start the sandbox", "it ended before it sent its root");
    if (report.event == child::Event::failed) return std::unexpected(setup_error(plan, report));
    if (report.event == child::Event::root) root_ = std::move(received.descriptor);
  }
  return {};
}

bool ViewRoot::is_alive() const { return !is_ready(launched_.pidfd.get()); }

// The mounts hold their inodes, so that a number that is the same now means the same inode.
bool ViewRoot::is_current() const {
  std::map<Path, Path> sources;  // of what is at a place in the end
  for (const Step& step : prepared_.plan.steps) {
    if (const auto* bind = std::get_if<BindMount>(&step.action))
      sources[bind->target] = bind->source;
    else if (const auto* hide = std::get_if<HideMount>(&step.action)) sources.erase(hide->target);
    else if (const auto* tmpfs = std::get_if<TmpfsMount>(&step.action))
      sources.erase(tmpfs->target);
  }
  return std::ranges::all_of(sources, [&](const auto& mount) {
    const Result<UniqueFd> inside = open_in_root(root_.get(), mount.first, O_PATH | O_NOFOLLOW);
    struct stat mounted{};
    struct stat now{};
    return inside && ::fstat(inside->get(), &mounted) == 0 &&
           ::lstat(mount.second.c_str(), &now) == 0 && mounted.st_dev == now.st_dev &&
           mounted.st_ino == now.st_ino;
  });
}

ViewRoot::~ViewRoot() {
  // A child that the program forked has a copy of this, and the sandbox stays the parent's.
  if (!launched_.pidfd.valid() || owner_ != ::getpid()) return;
  kill_at_once(launched_.pidfd.get());
  collect(launched_.pidfd.get());
}

}  // namespace coop::run
