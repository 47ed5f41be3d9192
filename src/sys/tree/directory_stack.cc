#include "sys/tree/directory_stack.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/path.h"

namespace coop {

namespace {

constexpr std::size_t kHeldDirectories = 64;
constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;

Result<void> read_status(OpenDirectory& directory, const std::string& name) {
  if (::fstat(directory.fd.get(), &directory.status) < 0) return system_error("fstat", name);
  return {};
}

// Change the mode through /proc/self/fd: a path could be swapped in between.
Result<OpenDirectory> force_open(int parent, const std::string& name) {
  OpenDirectory directory;
  UniqueFd handle = TRY(open_at(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  if (::fstat(handle.get(), &directory.status) < 0) return system_error("fstat", name);
  if (directory.status.st_uid != ::geteuid()) return system_error_of(EACCES, "open", name);

  const mode_t mode = directory.status.st_mode & kPermissions;
  const std::string self = "/proc/self/fd/" + std::to_string(handle.get());
  if (::chmod(self.c_str(), mode | S_IRWXU) < 0) return system_error("chmod", name);
  directory.locked = mode;
  directory.fd.reset(::open(self.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.fd.valid()) return directory;

  const int error = errno;
  ::chmod(self.c_str(), mode);
  return system_error_of(error, "open", name);
}

// Adds the permissions in `needed` to an open directory of ours. A failure here is ignored: the
// operation that needs the permission fails with EACCES and reports it.
void loosen(OpenDirectory& directory, mode_t needed) {
  const mode_t mode = directory.status.st_mode & kPermissions;
  if (directory.locked || directory.status.st_uid != ::geteuid()) return;
  if ((mode & needed) == needed) return;
  if (::fchmod(directory.fd.get(), mode | S_IRWXU) == 0) directory.locked = mode;
}

}  // namespace

Result<OpenDirectory> open_unlocked(int parent, const std::string& name) {
  OpenDirectory directory;
  directory.fd.reset(::openat(parent, name.c_str(), kOpenFlags | O_CLOEXEC));
  if (!directory.fd.valid() && errno == EACCES) return force_open(parent, name);
  if (!directory.fd.valid()) return system_error("open", name);
  TRY(read_status(directory, name));
  loosen(directory, S_IRUSR | S_IXUSR);
  return directory;
}

DirectoryStack::DirectoryStack(OpenDirectory top) { frames_.push_back(std::move(top)); }

Result<DirectoryStack> DirectoryStack::open(int parent, const std::string& name) {
  OpenDirectory top = TRY(open_unlocked(parent, name));
  return DirectoryStack(std::move(top));
}

Result<DirectoryStack> DirectoryStack::open(const Path& top) { return open(AT_FDCWD, top); }

DirectoryStack::~DirectoryStack() {
  const auto first_locked = std::ranges::find_if(
      frames_, [](const OpenDirectory& directory) { return directory.locked.has_value(); });
  const auto kept = static_cast<std::size_t>(first_locked - frames_.begin());
  while (frames_.size() > std::max<std::size_t>(kept, 1))
    if (!leave()) return;
  if (!frames_.empty() && frames_.front().locked)
    ::fchmod(frames_.front().fd.get(), *frames_.front().locked);
}

void DirectoryStack::push(OpenDirectory directory) {
  frames_.push_back(std::move(directory));
  if (frames_.size() <= kHeldDirectories) return;
  // ".." of the next frame leads back here, unless that was a jump.
  const std::size_t oldest = frames_.size() - 1 - kHeldDirectories;
  if (!frames_[oldest + 1].jumped) frames_[oldest].fd.reset();
}

Result<void> DirectoryStack::enter(const std::string& name) {
  OpenDirectory directory = TRY(open_unlocked(fd(), name));
  push(std::move(directory));
  return {};
}

bool DirectoryStack::jump(const std::string& relative) {
  OpenDirectory directory{.jumped = true};
  Result<UniqueFd> fd = open_beneath(this->fd(), relative, kOpenFlags);
  if (!fd) return false;
  directory.fd = std::move(*fd);
  if (!read_status(directory, relative)) return false;
  loosen(directory, S_IRUSR | S_IXUSR);
  push(std::move(directory));
  return true;
}

Result<void> DirectoryStack::enter_all(std::string_view relative) {
  return enter_all(relative, [](const std::string&) -> Result<void> { return {}; });
}

std::string take_component(std::string_view& relative) {
  const std::size_t slash = std::min(relative.find('/'), relative.size());
  const std::string name(relative.substr(0, slash));
  relative.remove_prefix(std::min(slash + 1, relative.size()));
  return name;
}

std::string take_chunk(std::string_view& relative) {
  constexpr std::size_t kLongest = PATH_MAX - 1;
  if (relative.size() <= kLongest) return std::string(std::exchange(relative, {}));
  const std::size_t slash = relative.rfind('/', kLongest);
  const std::string chunk(relative.substr(0, slash));
  relative.remove_prefix(slash + 1);
  return chunk;
}

Result<void> DirectoryStack::leave() {
  const OpenDirectory done = std::move(frames_.back());
  frames_.pop_back();
  OpenDirectory& up = frames_.back();
  Result<void> result;
  if (!up.fd.valid()) {
    // ".." leads to the directory's present parent. Another process may have moved the directory
    // since, even out of the tree: accept only the directory we came from.
    up.fd.reset(::openat(done.fd.get(), "..", kOpenFlags | O_CLOEXEC));
    struct stat status{};
    if (!up.fd.valid() || ::fstat(up.fd.get(), &status) < 0) {
      result = system_error("open", "..");
    } else if (status.st_dev != up.status.st_dev || status.st_ino != up.status.st_ino) {
      result = system_error_of(ESTALE, "open", "..");
      up.fd.reset();
    }
  }
  if (done.locked && done.fd.valid()) ::fchmod(done.fd.get(), *done.locked);
  return result;
}

void DirectoryStack::make_writable() { loosen(frames_.back(), S_IRWXU); }

}  // namespace coop
