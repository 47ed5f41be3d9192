#include "sys/tree/copy_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string>

#include "sys/fd.h"

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

}  // namespace

Result<void> copy_entry(const EntryName& from, const struct stat& status, const EntryName& to) {
  if (S_ISREG(status.st_mode)) return copy_file(from, status, to);
  if (S_ISLNK(status.st_mode)) return copy_symlink(from, to);
  if (::mknodat(to.directory, to.name.c_str(), status.st_mode, status.st_rdev) < 0)
    return system_error("mknod", from.name);
  return {};
}

}  // namespace coop
