#include "sys/tree/tree_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "sys/tree/row_path.h"

namespace coop {

namespace {

// Each takes about a kilobyte of the kernel's memory, and of the number that a user may have.
constexpr std::size_t kMostWatches = 16'384;
constexpr std::uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

std::string tree_key(const IndexPlace& place) { return place.tree + '\0' + place.key; }

}  // namespace

Result<std::unique_ptr<TreeWatch>> TreeWatch::make() {
  UniqueFd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events.valid()) return system_error("inotify_init1");
  UniqueFd mounts = TRY(open_file("/proc/self/mountinfo", O_RDONLY));
  return std::unique_ptr<TreeWatch>(new TreeWatch(std::move(events), std::move(mounts)));
}

void TreeWatch::forget() {
  for (const auto& [number, row] : rows_) ::inotify_rm_watch(events_.get(), number);
  rows_.clear();
  trees_.clear();
}

void TreeWatch::read_events() {
  pollfd mounts{.fd = mounts_.get(), .events = POLLPRI, .revents = 0};
  bool lost = ::poll(&mounts, 1, 0) > 0;
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    // It does not block. NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
    const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    for (ssize_t at = 0; at < size;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) lost = true;
      const auto found = rows_.find(event.wd);
      if (found == rows_.end()) continue;
      const auto [tree, row] = found->second;
      tree->clean[row] = 0;
      if ((event.mask & IN_IGNORED) == 0) continue;
      tree->watches[row] = -1;
      rows_.erase(found);
    }
  }
  if (lost) forget();
}

TreeIndex TreeWatch::recall(const IndexPlace& place, int root) {
  const std::lock_guard lock(mutex_);
  read_events();
  const auto found = trees_.find(tree_key(place));
  const std::optional<DirectoryState> now = directory_state(root);
  if (found == trees_.end() || !now) return {};
  const Tree& tree = found->second;
  if (tree.device != now->device || tree.inode != now->inode) return {};
  TreeIndex index;
  index.rows_ = tree.rows;
  index.compare(root, tree.device, tree.clean);
  return index;
}

// By descriptor: by its path another directory could be watched, which is exchanged with it for a moment.
int TreeWatch::add(int root, const std::string& path, std::uint64_t device, const IndexRow& row) {
  const UniqueFd directory(
      ::openat(root, path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const std::optional<DirectoryState> now =
      directory.valid() ? directory_state(directory.get()) : std::nullopt;
  if (!now || now->device != device || now->inode != row.inode || now->born != row.born) return -1;
  const std::string self = "/proc/self/fd/" + std::to_string(directory.get());
  return ::inotify_add_watch(events_.get(), self.c_str(), kEvents);
}

// `known`: the watch that each row had before, or -1.
void TreeWatch::watch(Tree& tree, int root, const std::vector<int>& known) {
  TreeIndex index;
  index.rows_ = tree.rows;
  RowPath path(index);
  for (std::uint32_t row = 1; row < index.size(); ++row) {
    if (index.row(row).plain == 0) continue;
    int number = known[row];
    if (number < 0) {
      if (rows_.size() >= kMostWatches) break;
      number = add(root, path.to(row), tree.device, index.row(row));
      // Another name of the same directory: an event would be told for one of them only.
      if (number < 0 || rows_.contains(number)) continue;
    }
    tree.watches[row] = number;
    rows_.insert_or_assign(number, std::pair(&tree, row));
  }
  // Once more now that each is watched: it may have changed before.
  index.compare(root, tree.device);
  for (std::uint32_t row = 1; row < index.size(); ++row)
    tree.clean[row] = tree.watches[row] >= 0 && index.is_unchanged(row) ? 1 : 0;
}

void TreeWatch::learn(const IndexPlace& place, int root, IndexRows seen) {
  const std::lock_guard lock(mutex_);
  // Before the comparison: an event that comes later is about a later change.
  read_events();
  const std::optional<DirectoryState> now = directory_state(root);
  if (!now || seen.rows.empty() || !has_good_ctime(root)) return;
  const std::string key = tree_key(place);
  // A directory that was moved is watched by its inode, and may stay so.
  std::unordered_map<std::uint64_t, int> by_inode;
  if (const auto old = trees_.find(key); old != trees_.end()) {
    for (std::uint32_t row = 0; row < old->second.watches.size(); ++row)
      if (old->second.watches[row] >= 0) {
        by_inode.emplace(old->second.rows->rows[row].inode, old->second.watches[row]);
        rows_.erase(old->second.watches[row]);
      }
    trees_.erase(old);
  }
  Tree& tree = trees_[key];
  tree.rows = std::make_shared<const IndexRows>(std::move(seen));
  tree.device = now->device;
  tree.inode = now->inode;
  const std::size_t size = tree.rows->rows.size();
  tree.clean.assign(size, 0);
  tree.watches.assign(size, -1);
  std::vector<int> known(size, -1);
  for (std::uint32_t row = 1; row < size; ++row)
    if (const auto found = by_inode.find(tree.rows->rows[row].inode); found != by_inode.end()) {
      known[row] = found->second;
      by_inode.erase(found);
    }
  for (const auto& [inode, number] : by_inode) ::inotify_rm_watch(events_.get(), number);
  watch(tree, root, known);
}

}  // namespace coop
