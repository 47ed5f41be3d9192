#include "run/mount_watch.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "child/agent/mount_agent.h"
#include "run/sandbox_state.h"
#include "run/start/home_order.h"
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

// A directory on the way belongs to another user, who keeps all others out.
bool is_behind_another_user(const Path& source) {
  for (Path path = source; path.size() > 1;) {
    path = parent_of(path);
    struct stat status{};
    if (::lstat(path.c_str(), &status) == 0 && status.st_uid != ::geteuid() &&
        (status.st_mode & S_IXOTH) == 0)
      return true;
  }
  return false;
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
  TRY(watch->find_trees());
  // What is no mount of its own now lies below one that is read-only.
  // Any other without a mount has lost it already.
  std::erase_if(watch->guards_, [&](Guard& guard) {
    const std::optional<std::uint64_t> mount = watch->mount_of(guard);
    guard.mount = mount.value_or(0);
    return mount == 0 && watch->is_read_only(guard);
  });
  TRY(loop.watch(watch->table_.get(), EPOLLPRI,
                 [raw = watch.get()](std::uint32_t) { raw->look(); }));
  watch->look();
  watch->give_up_unreachable();
  watch->look_regularly();
  return watch;
}

MountWatch::~MountWatch() {
  if (table_.valid()) loop_.forget(table_.get());
  if (timer_) loop_.cancel(*timer_);
  if (regular_) loop_.cancel(*regular_);
}

Result<void> MountWatch::find_trees() {
  for (const guards::InsideTree& tree : inside_trees(state_)) {
    struct statx status{};
    if (::statx(tree.directory, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
      return system_error("statx", tree.place);
    trees_.push_back({tree, status.stx_mnt_id});
  }
  trees_.push_back({{.place = "/", .directory = state_.root.get()}});
  return {};
}

std::set<std::uint64_t> MountWatch::mounts() const {
  std::set<std::uint64_t> numbers;
  if (::lseek(table_.get(), 0, SEEK_SET) < 0) return numbers;
  const Result<std::string> text = read_all(table_.get(), "mountinfo");
  if (!text) return numbers;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::uint64_t number = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), number).ec == std::errc())
      numbers.insert(number);
  }
  return numbers;
}

const MountWatch::Tree& MountWatch::tree_of(const Guard& guard) const {
  return *std::ranges::find_if(
      trees_, [&](const Tree& tree) { return is_within(guard.target, tree.at.place); });
}

std::optional<std::uint64_t> MountWatch::mount_of(const Guard& guard) const {
  const Tree& tree = tree_of(guard);
  const Path below(relative_to(guard.target, tree.at.place));
  const Result<UniqueFd> place = open_beneath(tree.at.directory, below, O_PATH | O_NOFOLLOW);
  if (!place) {
    // The sandbox may have closed a directory on the way to us.
    if (place.error().errno_value == EACCES) return std::nullopt;
    return 0;
  }
  struct statx status{};
  if (::statx(place->get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) < 0)
    return std::nullopt;
  const bool is_root = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  return is_root ? status.stx_mnt_id : 0;
}

bool MountWatch::is_read_only(const Guard& guard) const {
  const Tree& tree = tree_of(guard);
  const Path below(relative_to(guard.target, tree.at.place));
  const Result<UniqueFd> place = open_beneath(tree.at.directory, below, O_PATH | O_NOFOLLOW);
  struct statvfs status{};
  return place && ::fstatvfs(place->get(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

// The host has replaced the file: its mount is gone. Or has renamed it: then the mount is still there, and not at the target.
bool MountWatch::is_lost(const Guard& guard, const std::set<std::uint64_t>& present) const {
  return (guard.mount != 0 && !present.contains(guard.mount)) || mount_of(guard) == 0;
}

void MountWatch::look() {
  const std::set<std::uint64_t> present = mounts();
  // The sandbox is ending: it has no mounts any more.
  if (present.empty()) return;
  if (std::ranges::any_of(guards_, [&](const Guard& guard) {
        const Tree& tree = tree_of(guard);
        return tree.mount != 0 && !present.contains(tree.mount);
      }))
    return end_sandbox();
  std::vector<Guard*> lost;
  for (Guard& guard : guards_) {
    if (!is_lost(guard, present)) continue;
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

// Another sandbox with the same home has removed the directory on which a tree was mounted. Programs that still work in the tree
// have it, and nothing can be mounted there any more.
void MountWatch::end_sandbox() {
  for (const Guard& guard : guards_)
    if (!guard.source.empty() && tree_of(guard).mount != 0 && !contains(state_.gaps, guard.source))
      state_.gaps.push_back(guard.source);
  (void)renew_charge(state_);
  std::string places;
  for (const Tree& tree : trees_)
    if (tree.mount != 0) places += (places.empty() ? "" : ", ") + printable(tree.at.place);
  state_.prepared.plan.notes.push_back(
      "the sandbox was ended: another one with the same home removed directories on the way to " +
      places + ", and what is guarded there could be guarded no more");
  kill_at_once(state_.launched.pidfd.get());
  loop_.forget(std::exchange(table_, {}).get());
}

void MountWatch::make_again(std::span<Guard* const> lost) {
  std::vector<Path> below(lost.size());
  std::vector<child::AgentMount> list;
  list.reserve(lost.size());
  for (std::size_t index = 0; index < lost.size(); ++index) {
    const Guard& guard = *lost[index];
    const char* const source = guard.source.empty() ? nullptr : guard.source.c_str();
    const guards::InsideTree& tree = tree_of(guard).at;
    below[index] = relative_to(guard.target, tree.place);
    list.push_back({source, below[index].c_str(), tree.directory});
  }
  const std::vector<bool> made = mount_inside(state_.mounts.get(), list);
  for (std::size_t index = 0; index < lost.size(); ++index) {
    if (!made[index]) continue;
    lost[index]->lost = false;
    lost[index]->mount = mount_of(*lost[index]).value_or(0);
  }
}

// Below a directory of another user the child could mount nothing either, and the sandbox does not get there.
void MountWatch::give_up_unreachable() {
  std::erase_if(guards_, [this](const Guard& guard) {
    // Any other may have been replaced once more while it was mounted: it stays lost, and is tried again.
    const bool unreachable = guard.lost && guard.mount == 0 && is_behind_another_user(guard.source);
    if (unreachable) std::erase(state_.gaps, guard.source);
    return unreachable;
  });
}

// A mount follows a file that the host renames (`mv .env .env~`, as editors do), and no event tells that its name is free.
void MountWatch::look_regularly() {
  constexpr std::chrono::milliseconds kInterval{250};
  constexpr int kShare = 50;  // at most this part of the time
  const auto start = std::chrono::steady_clock::now();
  if (regular_) look();
  const auto end = std::chrono::steady_clock::now();
  const auto pause =
      std::max<std::chrono::steady_clock::duration>(kInterval, kShare * (end - start));
  regular_ = loop_.at(end + pause, [this] { look_regularly(); });
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
