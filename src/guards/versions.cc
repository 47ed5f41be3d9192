#include "guards/versions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>

#include "base/path.h"
#include "guards/trail.h"
#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"

namespace coop::guards {

namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // in all, and so of one path
constexpr std::size_t kMostEntries = 2000;                // in all
constexpr std::size_t kMostLevels = 12;

std::int64_t changed_at(const struct stat& status) {
  return std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
}

class Reader {
 public:
  std::optional<Version> read(int directory, const std::string& name, const Path& path) {
    entries_.clear();
    changed_ = 0;
    if (!read(directory, name, std::string(), kMostLevels)) return std::nullopt;
    std::ranges::sort(entries_, {}, &VersionEntry::path);
    return Version{.path = path, .entries = std::move(entries_), .changed = changed_};
  }
  bool exhausted() const { return bytes_ == 0 || count_ == 0; }

 private:
  bool read(int directory, const std::string& name, const std::string& path, std::size_t levels) {
    struct stat status{};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return false;
    if (count_ == 0 || levels == 0) return false;
    --count_;
    changed_ = std::max(changed_, changed_at(status));
    VersionEntry entry{
        .path = path, .mode = status.st_mode, .owner = status.st_uid, .group = status.st_gid};
    const std::size_t index = entries_.size();
    entries_.push_back(std::move(entry));
    if (S_ISDIR(status.st_mode)) return read_below(directory, name, path, levels);
    if (S_ISLNK(status.st_mode)) entries_[index].content = read_link(directory, name);
    else if (S_ISREG(status.st_mode)) return read_bytes(directory, name, entries_[index].content);
    return S_ISLNK(status.st_mode);
  }

  bool read_bytes(int directory, const std::string& name, std::string& content) {
    const Result<UniqueFd> file = open_at(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat status{};
    // Again: it may have been replaced since, by a device or a FIFO.
    if (!file || ::fstat(file->get(), &status) < 0 || !S_ISREG(status.st_mode)) return false;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > bytes_) return false;
    content.resize(size);
    std::size_t got = 0;
    while (got < size) {
      const ssize_t count = ::read(file->get(), content.data() + got, size - got);
      if (count <= 0) return false;
      got += static_cast<std::size_t>(count);
    }
    bytes_ -= size;
    struct stat after{};
    return ::fstat(file->get(), &after) == 0 && changed_at(after) == changed_at(status);
  }

  bool read_below(int directory, const std::string& name, const std::string& path,
                  std::size_t levels) {
    const Result<DirectoryStack> below = DirectoryStack::open(directory, name);
    if (!below) return false;
    std::vector<std::string> names;
    const auto buffer = make_entry_buffer();
    const Result<void> listed =
        for_each_entry(below->fd(), *buffer, [&](std::string_view entry, unsigned char) {
          names.emplace_back(entry);
          return names.size() > count_ ? Next::stop : Next::go_on;
        });
    if (!listed || names.size() > count_) return false;
    return std::ranges::all_of(names, [&](const std::string& entry) {
      return read(below->fd(), entry, path.empty() ? entry : join(path, entry), levels - 1);
    });
  }

  std::size_t bytes_ = kMostBytes;
  std::size_t count_ = kMostEntries;
  std::vector<VersionEntry> entries_{};
  std::int64_t changed_ = 0;
};

// The owner is kept if possible: as root coop puts back files of others.
Result<void> finish(int fd, const VersionEntry& entry, const std::string& name) {
  [[maybe_unused]] const int may_fail = ::fchown(fd, entry.owner, entry.group);
  if (::fchmod(fd, entry.mode & kPermissions) < 0) return system_error("chmod", name);
  return {};
}

Result<void> make_entry(const VersionEntry& entry, int directory, const std::string& name) {
  if (S_ISLNK(entry.mode)) {
    if (::symlinkat(entry.content.c_str(), directory, name.c_str()) < 0)
      return system_error("symlink", name);
    return {};
  }
  if (S_ISDIR(entry.mode)) {
    if (::mkdirat(directory, name.c_str(), 0700) < 0) return system_error("mkdir", name);
    const UniqueFd made = TRY(open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    // Writable until its entries are made; its own mode comes last.
    VersionEntry open = entry;
    open.mode |= S_IRWXU;
    return finish(made.get(), open, name);
  }
  const UniqueFd file =
      TRY(open_at(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  TRY(write_all(file.get(), entry.content, name));
  return finish(file.get(), entry, name);
}

}  // namespace

Versions keep_versions(const std::vector<Path>& mounted) {
  Versions versions;
  Reader reader;
  for (const Path& path : mounted) {
    if (reader.exhausted()) break;
    const Result<DirectoryStack> parent = DirectoryStack::open(parent_of(path));
    if (!parent) continue;
    std::optional<Version> version = reader.read(parent->fd(), std::string(name_of(path)), path);
    if (version) versions.push_back(*std::move(version));
  }
  std::ranges::sort(versions, {}, &Version::path);
  return versions;
}

bool has_other_names(const Path& path) {
  std::vector<std::pair<Path, std::size_t>> left{{path, kMostLevels}};
  for (std::size_t looked_at = 0; !left.empty(); ++looked_at) {
    const Path at = left.back().first;
    const std::size_t levels = left.back().second;
    left.pop_back();
    struct stat status{};
    if (::lstat(at.c_str(), &status) < 0) continue;
    if (looked_at == kMostEntries || levels == 0) return true;  // not known
    if (S_ISREG(status.st_mode) && status.st_nlink > 1) return true;
    const Result<DirectoryStack> below = S_ISDIR(status.st_mode)
                                             ? DirectoryStack::open(at)
                                             : Result<DirectoryStack>(invalid("", ""));
    if (!below) continue;
    const auto buffer = make_entry_buffer();
    [[maybe_unused]] const Result<void> unreadable_is_empty =
        for_each_entry(below->fd(), *buffer, [&](std::string_view name, unsigned char) {
          left.emplace_back(join(at, name), levels - 1);
          return left.size() > kMostEntries ? Next::stop : Next::go_on;
        });
  }
  return false;
}

std::optional<std::vector<BornFile>> files_below(const Path& directory, std::size_t most) {
  std::vector<BornFile> files;
  std::vector<Path> left{directory};
  const auto buffer = make_entry_buffer();
  while (!left.empty()) {
    const Path at = std::move(left.back());
    left.pop_back();
    const Result<DirectoryStack> opened = DirectoryStack::open(at);
    if (!opened) return std::nullopt;
    const Result<void> listed =
        for_each_entry(opened->fd(), *buffer, [&](std::string_view name, unsigned char) {
          struct statx status{};
          if (::statx(opened->fd(), name.data(), AT_SYMLINK_NOFOLLOW,
                      STATX_BASIC_STATS | STATX_BTIME, &status) < 0)
            return Next::go_on;
          const bool born = (status.stx_mask & STATX_BTIME) != 0;
          files.emplace_back(
              makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
              born ? status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec : 0);
          if (S_ISDIR(status.stx_mode)) left.push_back(join(at, name));
          return files.size() > most ? Next::stop : Next::go_on;
        });
    if (!listed || files.size() > most) return std::nullopt;
  }
  return files;
}

std::optional<Version> read_version(int directory, const std::string& name, const Path& path) {
  return Reader().read(directory, name, path);
}

Result<void> put_back(const Version& version, int directory, const std::string& name) {
  for (const VersionEntry& entry : version.entries) {
    if (entry.path.empty()) {
      TRY(make_entry(entry, directory, name));
      continue;
    }
    DirectoryStack below = TRY(DirectoryStack::open(directory, name));
    TRY(below.enter_all(entry.path.contains('/') ? parent_of(entry.path) : Path()));
    TRY(make_entry(entry, below.fd(), std::string(name_of(entry.path))));
  }
  for (const VersionEntry& entry : version.entries) {
    if (!S_ISDIR(entry.mode) || (entry.mode & S_IRWXU) == S_IRWXU) continue;
    DirectoryStack below = TRY(DirectoryStack::open(directory, name));
    TRY(below.enter_all(entry.path));
    TRY(finish(below.fd(), entry, name));
  }
  return {};
}

const Version* find_version(const Versions& versions, const Path& path) {
  const auto found = std::ranges::lower_bound(versions, path, {}, &Version::path);
  return found != versions.end() && found->path == path ? &*found : nullptr;
}

}  // namespace coop::guards
