#include "host/files/settings_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/path.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::host {

namespace {

Result<void> make_parents(const Path& directory, mode_t mode) {
  if (::mkdir(directory.c_str(), mode) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT || directory == "/") return system_error("mkdir", directory);
  TRY(make_parents(parent_of(directory), mode));
  if (::mkdir(directory.c_str(), mode) < 0 && errno != EEXIST)
    return system_error("mkdir", directory);
  return {};
}

// As root with the HOME of another user, a link that this user has made could lead to any file of the machine.
Result<void> check_owner(const struct stat& status, const Path& path) {
  if (status.st_uid == ::geteuid()) return {};
  return invalid(printable(path), "belongs to another user", "run coop as the user whose it is");
}

// Of the home's owner, that is; nor through a directory of another user, who could exchange what is in it.
Result<void> check_way(const Path& path) {
  const std::vector<Path> names = TRY(names_on_the_way(path));
  for (const Path& name : names) {
    struct stat status{};
    if (::lstat(name.c_str(), &status) < 0) return system_error("lstat", name);
    if (status.st_uid != 0) TRY(check_owner(status, name));
  }
  return {};
}

Result<void> check_plain(const struct stat& status, const Path& path) {
  if (!S_ISREG(status.st_mode)) return invalid(printable(path), "is not a plain file");
  TRY(check_owner(status, path));
  if ((status.st_mode & S_IWUSR) == 0)
    return invalid(printable(path), "is read-only",
                   "if it is yours to change: chmod u+w " + printable(path));
  return {};
}

// Where a file that is missing would be made.
Result<SettingsFile> missing_file(const Path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0)
    return invalid(printable(path), "is a symlink that leads nowhere");
  Path above = parent_of(path);
  while (::stat(above.c_str(), &status) < 0) {
    if (errno != ENOENT || above == "/") return system_error("stat", above);
    if (::lstat(above.c_str(), &status) == 0)
      return invalid(printable(above), "is a symlink that leads nowhere");
    above = parent_of(above);
  }
  TRY(check_owner(status, above));
  TRY(check_way(above));
  const Path real = TRY(real_path(above));
  return SettingsFile{.path = path, .target = join(real, relative_to(path, above))};
}

// The file beside `target` that takes its place.
Result<void> write_beside(const Path& target, const Path& fresh, std::string_view text,
                          mode_t mode) {
  const UniqueFd made(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made.valid()) return system_error("create", fresh);
  TRY(write_all(made.get(), text, fresh));
  struct stat old{};
  // A group that the caller is not in cannot be kept; then its members lose what they had, and gain nothing.
  if (::stat(target.c_str(), &old) == 0 &&
      ::fchown(made.get(), static_cast<uid_t>(-1), old.st_gid) < 0)
    mode &= static_cast<mode_t>(~S_IRWXG);
  if (::fchmod(made.get(), mode & 07777) < 0) return system_error("chmod", fresh);
  if (::fsync(made.get()) < 0) return system_error("fsync", fresh);
  return {};
}

Result<void> put(const Path& target, std::string_view text, mode_t mode) {
  const Path fresh = target + ".coop-" + std::to_string(::getpid());
  Result<void> done = write_beside(target, fresh, text, mode);
  if (done && ::rename(fresh.c_str(), target.c_str()) < 0) done = system_error("rename", target);
  // Only what this process has made: O_EXCL would have failed on a file of another.
  if (!done && done.error().errno_value != EEXIST) ::unlink(fresh.c_str());
  return done;
}

}  // namespace

Result<SettingsFile> read_settings_file(const Path& path) {
  const Result<Path> target = real_path(path);
  if (!target && target.error().errno_value == ENOENT) return missing_file(path);
  if (!target) return std::unexpected(target.error());
  // O_NONBLOCK: a FIFO must not make us wait.
  const UniqueFd fd = TRY(open_file(*target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return system_error("stat", *target);
  TRY(check_plain(status, *target));
  TRY(check_way(path));
  std::string text = TRY(read_all(fd.get(), *target, kLargestSettingsFile));
  return SettingsFile{
      .path = path, .target = *target, .text = std::move(text), .mode = status.st_mode & 07777};
}

Result<void> replace_settings_file(const SettingsFile& file,
                                   const std::optional<std::string>& text) {
  const SettingsFile now = TRY(read_settings_file(file.path));
  if (now != file)
    return invalid(printable(file.path), "has changed meanwhile: it was left as it is now",
                   "look at it, and start again");
  if (!text) {
    if (file.text && ::unlink(file.target.c_str()) < 0) return system_error("remove", file.target);
    return {};
  }
  TRY(make_parents(parent_of(file.target), 0700));
  return put(file.target, *text, file.mode);
}

Result<void> write_private_file(const Path& path, std::string_view text) {
  TRY(make_parents(parent_of(path), 0700));
  return put(path, text, 0600);
}

}  // namespace coop::host
