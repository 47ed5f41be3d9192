#include "sys/tree/tree_index.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/path.h"
#include "base/sha256.h"
#include "sys/fd.h"
#include "sys/tree/entries.h"
#include "sys/tree/row_path.h"

namespace coop {

namespace {

constexpr std::string_view kMagic = "coopidx2";
constexpr std::uint32_t kMostRows = 4'000'000;
constexpr std::size_t kMostNames = std::size_t{256} << 20;
constexpr std::size_t kMostIndexes = 100;
// From so many directories on, a second thread takes less time than it costs.
constexpr std::ptrdiff_t kWorthAThread = 1000;

struct Header {
  std::array<char, 8> magic{};
  std::array<char, 64> key{};
  std::uint64_t device = 0;
  std::uint32_t rows = 0;
  std::uint32_t names = 0;
};
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<IndexRow>);

std::int64_t nanoseconds(const statx_timestamp& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

constexpr unsigned kWanted = STATX_TYPE | STATX_INO | STATX_CTIME | STATX_BTIME;

DirectoryState state_of(const struct statx& status) {
  return {.device = makedev(status.stx_dev_major, status.stx_dev_minor),
          .inode = status.stx_ino,
          .born = (status.stx_mask & STATX_BTIME) != 0 ? nanoseconds(status.stx_btime) : 0,
          .changed = nanoseconds(status.stx_ctime)};
}

std::string key_of(const IndexPlace& place) { return sha256_hex(place.tree + '\0' + place.key); }

Path file_of(const IndexPlace& place) {
  return join(place.directory, key_of(place).substr(0, 32) + ".index");
}

// Another user could say of a directory that nothing is in it.
bool is_ours_alone(int file) {
  struct stat status{};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool read_whole(int file, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t count = ::read(file, at, size);
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_whole(int file, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::write(file, at, size);
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// The oldest, when there are many.
void remove_some(int directory) {
  std::vector<std::pair<std::int64_t, std::string>> files;
  const std::unique_ptr<EntryBuffer> buffer = make_entry_buffer();
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(directory, *buffer, [&](std::string_view name, unsigned char) {
        struct stat status{};
        if (::fstatat(directory, name.data(), &status, AT_SYMLINK_NOFOLLOW) == 0)
          files.emplace_back(status.st_mtim.tv_sec, name);
        return Next::go_on;
      });
  if (files.size() <= kMostIndexes) return;
  std::ranges::sort(files);
  for (std::size_t index = 0; index < files.size() - kMostIndexes; ++index)
    ::unlinkat(directory, files[index].second.c_str(), 0);
}

}  // namespace

std::optional<DirectoryState> directory_state(int directory) {
  struct statx status{};
  if (::statx(directory, "", AT_EMPTY_PATH, kWanted, &status) < 0) return std::nullopt;
  return state_of(status);
}

bool has_good_ctime(int directory) {
  constexpr long kXfs = 0x58465342;
  struct statfs status{};
  if (::fstatfs(directory, &status) < 0) return false;
  return status.f_type == EXT4_SUPER_MAGIC || status.f_type == kXfs ||
         status.f_type == BTRFS_SUPER_MAGIC || status.f_type == TMPFS_MAGIC ||
         status.f_type == F2FS_SUPER_MAGIC;
}

TreeIndex TreeIndex::read(const IndexPlace& place, int root) {
  if (place.directory.empty() || !has_good_ctime(root)) return {};
  const Result<UniqueFd> file = open_file(file_of(place), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const std::optional<DirectoryState> now = directory_state(root);
  Header header;
  if (!file || !now || !is_ours_alone(file->get()) ||
      !read_whole(file->get(), &header, sizeof header))
    return {};
  if (std::string_view(header.magic.data(), header.magic.size()) != kMagic ||
      std::string_view(header.key.data(), header.key.size()) != key_of(place) ||
      header.device != now->device || header.rows > kMostRows || header.names > kMostNames)
    return {};
  auto rows = std::make_shared<IndexRows>();
  rows->rows.resize(header.rows);
  rows->names.resize(header.names);
  if (!read_whole(file->get(), rows->rows.data(), header.rows * sizeof(IndexRow)) ||
      !read_whole(file->get(), rows->names.data(), header.names))
    return {};
  TreeIndex index;
  index.rows_ = std::move(rows);
  if (!index.is_sound()) return {};
  index.compare(root, header.device);
  return index;
}

// After a crash of the machine a file may have holes.
bool TreeIndex::is_sound() const {
  const std::string& names = rows_->names;
  if (size() == 0 || names.empty() || names.back() != '\0' || names.contains('/')) return false;
  if (row(0).parent != 0 || row(0).end != size() || row(0).name != 0) return false;
  for (std::uint32_t number = 1; number < size(); ++number) {
    const IndexRow& one = row(number);
    if (one.parent >= number || one.end <= number || one.end > row(one.parent).end) return false;
    if (one.name <= row(number - 1).name || one.name >= names.size()) return false;
    const std::string_view text = name(number);
    if (text.empty() || text == "." || text == ".." || one.plain > 1) return false;
  }
  return true;
}

// By path, below the root: what is found is at that place, whatever was moved above it.
TreeIndex::Seen TreeIndex::look_at(int root, std::uint64_t device, const std::string& path,
                                   std::uint32_t number) const {
  constexpr int kFlags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  struct statx status{};
  if (::statx(root, path.c_str(), kFlags, kWanted, &status) < 0 || !S_ISDIR(status.stx_mode))
    return Seen::nothing;
  const IndexRow& one = row(number);
  const DirectoryState now = state_of(status);
  if (now.device != device || now.inode != one.inode || now.born != one.born) return Seen::nothing;
  return now.changed == one.changed && one.plain != 0 ? Seen::unchanged : Seen::in_place;
}

void TreeIndex::compare_rows(int root, std::uint64_t device, const std::vector<std::uint8_t>& clean,
                             std::vector<Seen>& seen, std::atomic<std::uint32_t>& next) const {
  constexpr std::uint32_t kAtOnce = 64;
  RowPath path(*this);
  for (std::uint32_t first = 0; (first = next.fetch_add(kAtOnce)) < size();) {
    const std::uint32_t last = std::min(first + kAtOnce, size());
    for (std::uint32_t number = first; number < last; ++number) {
      // Without events only plain directories are compared: the others are listed anyway.
      if (clean.empty() ? row(number).plain == 0 : clean[number] != 0) continue;
      seen[number] = look_at(root, device, path.to(number), number);
    }
  }
}

void TreeIndex::compare(int root, std::uint64_t device, const std::vector<std::uint8_t>& clean) {
  std::vector<Seen> seen(size(), Seen::nothing);
  // Each takes the next few: the other processor may be busy with the sandbox.
  std::atomic<std::uint32_t> next = 1;
  std::thread second;
  if (size() - std::ranges::count(clean, 1) > kWorthAThread) {
    try {
      second = std::thread([&] { compare_rows(root, device, clean, seen, next); });
    } catch (const std::system_error&) {
      next = 1;  // none can be had: this one does it all
    }
  }
  compare_rows(root, device, clean, seen, next);
  if (second.joinable()) second.join();
  // A directory that was not moved itself is in its place only if the one above it is: moving that one makes no event in
  // what is below it.
  if (!clean.empty()) {
    seen[0] = Seen::in_place;
    RowPath path(*this);
    for (std::uint32_t number = 1; number < size(); ++number)
      if (clean[number] != 0)
        seen[number] = seen[row(number).parent] != Seen::nothing
                           ? Seen::unchanged
                           : look_at(root, device, path.to(number), number);
  }
  unchanged_.assign(size(), 0);
  for (std::uint32_t number = 1; number < size(); ++number)
    unchanged_[number] = seen[number] == Seen::unchanged ? 1 : 0;
  settled_ = unchanged_;
  for (std::uint32_t number = size() - 1; number > 0; --number)
    if (settled_[number] == 0) settled_[row(number).parent] = 0;
}

std::uint32_t IndexBuilder::open(std::string_view name, const DirectoryState& state,
                                 std::uint16_t kind) {
  const auto number = static_cast<std::uint32_t>(made_.rows.size());
  made_.rows.push_back({.inode = state.inode,
                        .born = state.born,
                        .changed = state.changed,
                        .parent = open_.empty() ? 0 : open_.back(),
                        .name = static_cast<std::uint32_t>(made_.names.size()),
                        .kind = kind});
  made_.names.append(name) += '\0';
  open_.push_back(number);
  devices_.push_back(state.device);
  return number;
}

void IndexBuilder::close() {
  made_.rows[open_.back()].end = static_cast<std::uint32_t>(made_.rows.size());
  open_.pop_back();
  devices_.pop_back();
}

void IndexBuilder::plain(std::uint32_t row) {
  // On another device it would be taken for one of the tree's. That of the top is the tree's.
  if (made_.rows[row].changed > began_ - rules_.too_young.count() ||
      devices_.back() != devices_.front())
    return;
  made_.rows[row].plain = 1;
  ++learned_;
}

void IndexBuilder::copy(std::uint32_t known_row) {
  const IndexRow& top = known_->rows_->rows[known_row];
  const auto shift = static_cast<std::uint32_t>(made_.rows.size()) - known_row;
  const auto names_shift = static_cast<std::uint32_t>(made_.names.size()) - top.name;
  const std::size_t names_end =
      top.end < known_->size() ? known_->rows_->rows[top.end].name : known_->rows_->names.size();
  made_.names.append(known_->rows_->names, top.name, names_end - top.name);
  for (std::uint32_t number = known_row; number < top.end; ++number) {
    IndexRow row = known_->rows_->rows[number];
    row.parent = number == known_row ? open_.back() : row.parent + shift;
    row.end += shift;
    row.name += names_shift;
    made_.rows.push_back(row);
  }
}

void IndexBuilder::save(const IndexPlace& place, int root) const {
  if (place.directory.empty() || !open_.empty() || made_.rows.size() < rules_.fewest_rows ||
      made_.rows.size() > kMostRows || made_.names.size() > kMostNames ||
      learned_ <= made_.rows.size() / rules_.worth_writing || !has_good_ctime(root))
    return;
  const std::optional<DirectoryState> now = directory_state(root);
  if (!now) return;
  ::mkdir(place.directory.c_str(), 0700);
  const Result<UniqueFd> directory =
      open_file(place.directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!directory) return;
  remove_some(directory->get());
  const Path whole = file_of(place);
  const std::string name(name_of(whole));
  const std::string draft = name + "." + std::to_string(::gettid());
  ::unlinkat(directory->get(), draft.c_str(), 0);
  const UniqueFd file(::openat(directory->get(), draft.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return;
  Header header{.device = now->device,
                .rows = static_cast<std::uint32_t>(made_.rows.size()),
                .names = static_cast<std::uint32_t>(made_.names.size())};
  std::ranges::copy(kMagic, header.magic.begin());
  std::ranges::copy(key_of(place), header.key.begin());
  const bool written =
      write_whole(file.get(), &header, sizeof header) &&
      write_whole(file.get(), made_.rows.data(), made_.rows.size() * sizeof(IndexRow)) &&
      write_whole(file.get(), made_.names.data(), made_.names.size());
  if (!written || ::renameat(directory->get(), draft.c_str(), directory->get(), name.c_str()) < 0)
    ::unlinkat(directory->get(), draft.c_str(), 0);
}

}  // namespace coop
