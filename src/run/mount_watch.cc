#include "run/mount_watch.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "child/agent/mount_agent.h"
#include "host/probe.h"
#include "run/sandbox_state.h"
#include "sys/process.h"

namespace coop::run {

namespace {

constexpr std::chrono::milliseconds kShortest{5};
constexpr std::chrono::milliseconds kLongest{1000};

bool same_file(int left, const char* path) {
  struct stat one{};
  struct stat other{};
  return ::fstat(left, &one) == 0 && ::stat(path, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// Which of the mounts were made. False for all when there is no agent.
std::vector<bool> mount_inside(int mounts, const std::vector<child::AgentMount>& list) {
  std::vector<bool> made(list.size());
  UniqueFd owner(::ioctl(mounts, NS_GET_USERNS));
  Result<Pipe> report = make_pipe();
  if (!owner.valid() || !report) return made;
  if (same_file(owner.get(), "/proc/self/ns/user")) owner.reset();
  const child::AgentOrder order{.owner = owner.get(),
                                .mounts = mounts,
                                .report = report->write.get(),
                                .list = list.data(),
                                .count = list.size()};
  int pidfd = -1;
  if (child::start_mount_agent(order, pidfd) < 0) return made;
  const UniqueFd agent(pidfd);
  report->write.reset();
  for (std::size_t index = 0; index < list.size(); ++index) {
    int error = 0;
    if (::read(report->read.get(), &error, sizeof error) != sizeof error) break;
    made[index] = error == 0;
  }
  collect(agent.get());
  return made;
}

}  // namespace

std::vector<MountWatch::Guard> MountWatch::guards_of(const Plan& plan) {
  std::vector<Guard> guards;
  for (std::size_t index = 0; index < plan.guards.mounted.size(); ++index)
    if (index < plan.guards.places.size() && !plan.guards.places[index].empty())
      guards.push_back({plan.guards.mounted[index], plan.guards.places[index]});
  for (const Step& step : plan.steps) {
    // A served git directory that was replaced cannot be served again: it is read-only from then on.
    if (const auto* bind = std::get_if<BindMount>(&step.action)) {
      if (bind->through == Through::supervisor) guards.push_back({bind->source, bind->target});
    } else if (const auto* hide = std::get_if<HideMount>(&step.action)) {
      if (!is_within(hide->target, "/proc")) guards.push_back({{}, hide->target});
    }
  }
  return guards;
}

Result<std::unique_ptr<MountWatch>> MountWatch::start(EventLoop& loop, Sandbox::State& state) {
  std::unique_ptr<MountWatch> watch(new MountWatch(loop, state));
  watch->guards_ = guards_of(state.prepared.plan);
  if (watch->guards_.empty() || !state.mounts.valid()) return nullptr;
  const std::string table = "/proc/" + std::to_string(state.launched.pid) + "/mountinfo";
  watch->table_ = TRY(open_file(table, O_RDONLY));
  // What is no mount of its own now lies below one that is read-only.
  const std::set<Path> present = watch->mounted();
  std::erase_if(watch->guards_,
                [&](const Guard& guard) { return !present.contains(guard.target); });
  TRY(loop.watch(watch->table_.get(), EPOLLPRI,
                 [raw = watch.get()](std::uint32_t) { raw->look(); }));
  return watch;
}

MountWatch::~MountWatch() {
  if (table_.valid()) loop_.forget(table_.get());
  if (timer_) loop_.cancel(*timer_);
}

std::set<Path> MountWatch::mounted() const {
  std::set<Path> targets;
  if (::lseek(table_.get(), 0, SEEK_SET) < 0) return targets;
  const Result<std::string> text = read_all(table_.get(), "mountinfo");
  if (!text) return targets;
  for (MountFact& mount : host::parse_mountinfo(*text)) targets.insert(std::move(mount.target));
  return targets;
}

void MountWatch::look() {
  const std::set<Path> present = mounted();
  // The sandbox is ending: it has no mounts any more.
  if (present.empty()) return;
  std::vector<Guard*> lost;
  for (Guard& guard : guards_) {
    if (present.contains(guard.target)) continue;
    const bool hidden = guard.source.empty();
    if (!std::exchange(guard.lost, true)) {
      pause_ = kShortest;
      if (!hidden && !contains(state_.gaps, guard.source)) state_.gaps.push_back(guard.source);
    }
    // While the host has none there is nothing to mount; what the sandbox makes there is looked at in the end.
    struct stat status{};
    const bool there =
        hidden || (::lstat(guard.source.c_str(), &status) == 0 && !S_ISLNK(status.st_mode));
    if (there) lost.push_back(&guard);
  }
  // In case this process is killed.
  if (!lost.empty()) (void)renew_charge(state_);
  for (std::size_t first = 0; first < lost.size(); first += child::kMostAgentMounts)
    make_again(
        std::span(lost).subspan(first, std::min(child::kMostAgentMounts, lost.size() - first)));
  if (std::ranges::any_of(guards_, &Guard::lost)) look_later();
}

void MountWatch::make_again(std::span<Guard* const> lost) {
  std::vector<child::AgentMount> list;
  list.reserve(lost.size());
  for (const Guard* guard : lost)
    list.push_back(
        {guard->source.empty() ? nullptr : guard->source.c_str(), guard->target.c_str()});
  const std::vector<bool> made = mount_inside(state_.mounts.get(), list);
  for (std::size_t index = 0; index < lost.size(); ++index) lost[index]->lost = !made[index];
}

// No event tells when the host has made the file again.
void MountWatch::look_later() {
  if (timer_) loop_.cancel(*timer_);
  timer_ = loop_.after(pause_, [this] {
    timer_.reset();
    look();
  });
  pause_ = std::min(2 * pause_, kLongest);
}

}  // namespace coop::run
