#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"
#include "sys/tree/move_tree.h"

namespace coop {

namespace {

constexpr std::size_t kBlock = 1 << 16;

Result<void> copy_symlink(const EntryName& from, const EntryName& to) {
  std::array<char, PATH_MAX> text;
  const ssize_t length =
      ::readlinkat(from.directory, from.name.c_str(), text.data(), text.size() - 1);
  if (length < 0) return system_error("readlink", from.name);
  text[static_cast<std::size_t>(length)] = '\0';
  if (::symlinkat(text.data(), to.directory, to.name.c_str()) < 0)
    return system_error("symlink", from.name);
  return {};
}

// The bytes of a file of ours with mode 000 must be kept too.
Result<UniqueFd> open_unlocked_file(const EntryName& from, const struct stat& status) {
  UniqueFd fd(
      ::openat(from.directory, from.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.valid()) return fd;
  if (errno != EACCES) return system_error("open", from.name);
  UniqueFd handle = TRY(open_at(from.directory, from.name, O_PATH | O_NOFOLLOW));
  const std::string self = "/proc/self/fd/" + std::to_string(handle.get());
  const mode_t mode = status.st_mode & kPermissions;
  if (::chmod(self.c_str(), mode | S_IRUSR) < 0) return system_error("chmod", from.name);
  fd.reset(::open(self.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const int error = errno;
  ::chmod(self.c_str(), mode);
  if (!fd.valid()) return system_error_of(error, "open", from.name);
  return fd;
}

Result<void> copy_range(int from, int to, off_t start, off_t end, const std::string& name) {
  const auto block = std::make_unique<std::array<char, kBlock>>();
  for (off_t position = start; position < end;) {
    const ssize_t count = ::pread(from, block->data(), block->size(), position);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", name);
    if (count == 0) return {};
    if (::lseek(to, position, SEEK_SET) < 0) return system_error("lseek", name);
    const auto size = static_cast<std::size_t>(count);
    TRY(write_all(to, std::string_view(block->data(), size), name));
    position += count;
  }
  return {};
}

// Preserve holes: a sparse file of eight exabytes costs the sandbox nothing, and must not fill the
// disk of the quarantine.
Result<void> copy_data(int from, int to, off_t size, const std::string& name) {
  // Between two mounts of one file system rename(2) answers EXDEV too: share the blocks, if it can.
  if (::ioctl(to, FICLONE, from) == 0) return {};
  off_t position = 0;
  while (position < size) {
    const off_t data = ::lseek(from, position, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // only a hole is left
    if (data < 0) return copy_range(from, to, position, size, name);
    off_t hole = ::lseek(from, data, SEEK_HOLE);
    if (hole < 0) hole = size;
    TRY(copy_range(from, to, data, hole, name));
    position = hole;
  }
  if (::ftruncate(to, size) < 0) return system_error("ftruncate", name);
  return {};
}

Result<void> copy_file(const EntryName& from, const struct stat& status, const EntryName& to) {
  UniqueFd source = TRY(open_unlocked_file(from, status));
  UniqueFd target =
      TRY(open_at(to.directory, to.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  TRY(copy_data(source.get(), target.get(), status.st_size, from.name));
  if (::fchmod(target.get(), status.st_mode & kPermissions) < 0)
    return system_error("chmod", from.name);
  const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
  (void)::futimens(target.get(), times.data());  // best effort; the data is complete
  return {};
}

// `status` is the entry's own. Symlinks are copied as symlinks; FIFOs, sockets and devices are
// created anew and never opened.
Result<void> copy_entry(const EntryName& from, const struct stat& status, const EntryName& to,
                        HardLinks& links) {
  if (S_ISREG(status.st_mode)) {
    if (links.link(status, to)) return {};
    TRY(copy_file(from, status, to));
    links.remember(status, to);
    return {};
  }
  if (S_ISLNK(status.st_mode)) return copy_symlink(from, to);
  if (::mknodat(to.directory, to.name.c_str(), status.st_mode, status.st_rdev) < 0)
    return system_error("mknod", from.name);
  return {};
}

Result<struct stat> status_of(const EntryName& entry) {
  struct stat status{};
  if (::fstatat(entry.directory, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
    return system_error("stat", entry.name);
  return status;
}

// The remaining names of one directory on the path down.
struct Level {
  std::vector<std::string> names{};
  std::string own_name{};
};

Result<Level> list(const DirectoryStack& directory, EntryBuffer& buffer, std::string own_name) {
  Level level{.own_name = std::move(own_name)};
  TRY(for_each_entry(directory.fd(), buffer, [&](std::string_view name, unsigned char) {
    level.names.emplace_back(name);
    return Next::go_on;
  }));
  return level;
}

class Copier {
 public:
  Copier(DirectoryStack source, DirectoryStack target, HardLinks& links)
      : source_(std::move(source)), target_(std::move(target)), links_(links) {}

  Result<void> run() {
    Level top = TRY(list(source_, *buffer_, {}));
    levels_.push_back(std::move(top));
    while (!levels_.empty()) {
      if (levels_.back().names.empty()) {
        TRY(finish_directory());
        continue;
      }
      const std::string name = std::move(levels_.back().names.back());
      levels_.back().names.pop_back();
      TRY(copy(name));
    }
    return {};
  }

 private:
  Result<void> copy(const std::string& name) {
    const struct stat status = TRY(status_of(EntryName{source_.fd(), name}));
    if (!S_ISDIR(status.st_mode))
      return copy_entry(EntryName{source_.fd(), name}, status, EntryName{target_.fd(), name},
                        links_);
    if (::mkdirat(target_.fd(), name.c_str(), 0700) < 0) return system_error("mkdir", name);
    TRY(source_.enter(name));
    TRY(target_.enter(name));
    Level below = TRY(list(source_, *buffer_, name));
    levels_.push_back(std::move(below));
    return {};
  }

  Result<void> finish_directory() {
    const mode_t mode = source_.status().st_mode & kPermissions;
    const UniqueFd finished(::fcntl(target_.fd(), F_DUPFD_CLOEXEC, 0));
    levels_.pop_back();
    if (!levels_.empty()) {
      TRY(source_.leave());
      TRY(target_.leave());  // its own mode must still let us through ".."
    }
    if (finished.valid()) ::fchmod(finished.get(), mode);
    return {};
  }

  DirectoryStack source_;
  DirectoryStack target_;
  HardLinks& links_;
  std::vector<Level> levels_{};
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
};

class Remover {
 public:
  explicit Remover(DirectoryStack directory) : directory_(std::move(directory)) {}

  // Empties the directory.
  Result<void> run() {
    enter_level({});
    while (!levels_.empty()) {
      if (levels_.back().names.empty()) {
        TRY(leave_level());
        continue;
      }
      const std::string name = std::move(levels_.back().names.back());
      levels_.back().names.pop_back();
      remove(name);
    }
    return std::move(first_error_);
  }

 private:
  void enter_level(const std::string& name) {
    directory_.make_writable();
    Result<Level> level = list(directory_, *buffer_, name);
    if (!level) keep(level.error());
    levels_.push_back(level ? std::move(*level) : Level{.own_name = name});
  }

  Result<void> leave_level() {
    const std::string name = std::move(levels_.back().own_name);
    levels_.pop_back();
    if (levels_.empty()) return {};
    TRY(directory_.leave());
    if (::unlinkat(directory_.fd(), name.c_str(), AT_REMOVEDIR) < 0)
      keep(system_error("rmdir", name).error());
    return {};
  }

  void remove(const std::string& name) {
    const Result<struct stat> status = status_of(EntryName{directory_.fd(), name});
    if (!status) return keep(status.error());
    if (!S_ISDIR(status->st_mode)) {
      if (::unlinkat(directory_.fd(), name.c_str(), 0) < 0)
        keep(system_error("unlink", name).error());
      return;
    }
    if (const Result<void> entered = directory_.enter(name); !entered) return keep(entered.error());
    enter_level(name);
  }

  void keep(const Error& error) {
    if (first_error_) first_error_ = std::unexpected(error);
  }

  DirectoryStack directory_;
  std::vector<Level> levels_{};
  Result<void> first_error_{};
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
};

Result<void> copy_directory(const EntryName& from, const EntryName& to, HardLinks& links) {
  if (::mkdirat(to.directory, to.name.c_str(), 0700) < 0) return system_error("mkdir", to.name);
  DirectoryStack source = TRY(DirectoryStack::open(from.directory, from.name));
  DirectoryStack target = TRY(DirectoryStack::open(to.directory, to.name));
  return Copier(std::move(source), std::move(target), links).run();
}

}  // namespace

Result<void> copy_tree(const EntryName& from, const EntryName& to, HardLinks& links) {
  const struct stat status = TRY(status_of(from));
  links.begin(to.directory);
  if (S_ISDIR(status.st_mode)) {
    TRY(copy_directory(from, to, links));
  } else {
    TRY(copy_entry(from, status, to, links));
  }
  // A full disk may be reported only now, and the original is removed next.
  if (::syncfs(to.directory) < 0) return system_error("syncfs", to.name);
  return {};
}

Result<void> remove_tree(const EntryName& entry) {
  const struct stat status = TRY(status_of(entry));
  if (!S_ISDIR(status.st_mode)) {
    if (::unlinkat(entry.directory, entry.name.c_str(), 0) < 0)
      return system_error("unlink", entry.name);
    return {};
  }
  DirectoryStack directory = TRY(DirectoryStack::open(entry.directory, entry.name));
  Result<void> emptied = Remover(std::move(directory)).run();
  if (emptied && ::unlinkat(entry.directory, entry.name.c_str(), AT_REMOVEDIR) < 0)
    return system_error("rmdir", entry.name);
  return emptied;
}

}  // namespace coop
