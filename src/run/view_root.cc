#include "run/view_root.h"

#include <sys/stat.h>

#include <cerrno>

#include "plan/compile.h"
#include "plan/view/layout.h"
#include "run/look_again.h"
#include "run/start/home_order.h"
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

namespace {

bool is_home_missing(const Draft& draft) {
  const Path home = plan::kept_home(draft.host, draft.policy.home.name);
  struct stat status{};
  return ::lstat(home.c_str(), &status) < 0 && errno == ENOENT;
}

}  // namespace

// Neither a control group nor a janitor: nothing is ever run inside, so nothing is left to clean up.
Result<ViewRoot> ViewRoot::open(const Policy& policy) {
  Draft draft = TRY(begin_prepare(policy));
  // Nothing is made for a look, and nothing is in a home that was never used.
  if (draft.policy.home.kind == HomeKind::kept && is_home_missing(draft)) {
    Policy without = policy;
    without.home = {};
    draft = TRY(begin_prepare(without));
  }
  const Plan early = TRY(plan::begin(draft.policy, draft.host));
  Group none;
  Launch launch = TRY(Launch::begin(early,
                                    {.prepared = true,
                                     .pass_root = true,
                                     .hold_trees = true,
                                     .serves_files = may_serve(draft),
                                     .shared_tmp = policy.shared_tmp.get()},
                                    none));
  ViewRoot view;
  Draft existing = draft;
  existing.missing.clear();
  const bool same = draft.missing.empty();
  TRY(gather(existing));
  draft.looks = existing.looks;  // one walk for guards serves both plans, made at once
  const Prepared mounted = TRY(compile(std::move(existing)));
  view.prepared_ = mounted;
  if (!same) view.prepared_ = TRY(finish_prepare(std::move(draft)));
  view.files_ = TRY(FileService::start(mounted.plan, mounted.before, launch.take_files()));
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
    if (report.event == child::Event::tree) directories_.push_back(std::move(received.descriptor));
    if (report.event == child::Event::root) root_ = std::move(received.descriptor);
  }
  if (!has_kept_home(plan)) return {};
  const std::vector<Path> places = trees_below_homes(plan);
  if (places.size() != directories_.size())
    return invalid("start the sandbox", "it has not sent all directories of its home");
  for (std::size_t index = 0; index < places.size(); ++index)
    trees_.push_back({places[index], directories_[index].get()});
  return {};
}

bool ViewRoot::is_alive() const { return !is_ready(launched_.pidfd.get()); }

bool ViewRoot::is_current() const { return mounts_are_current(view(), prepared_.plan); }

ViewRoot::~ViewRoot() {
  // A child that the program forked has a copy of this, and the sandbox stays the parent's.
  if (!launched_.pidfd.valid() || owner_ != ::getpid()) return;
  kill_at_once(launched_.pidfd.get());
  collect(launched_.pidfd.get());
}

}  // namespace coop::run
