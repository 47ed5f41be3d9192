#include "host/files/settings_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

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

// Each name on the way is root's or the caller's, symlinks too: another user could exchange one of theirs at any time.
// `real` is what the path led to before.
Result<void> check_way(const Path& path, const Path& real) {
  const std::vector<Path> names = TRY(names_on_the_way(path));
  for (const Path& name : names) {
    struct stat status{};
    if (::lstat(name.c_str(), &status) < 0) return system_error("lstat", name);
    if (status.st_uid != 0) TRY(check_owner(status, name));
  }
  if (names.back() == real) return {};
  return invalid(printable(path), "leads elsewhere than a moment ago", "try again");
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
  const Path real = TRY(real_path(above));
  TRY(check_way(above, real));
  SettingsFile file{.path = path, .target = join(real, relative_to(path, above))};
  for (Path missing = parent_of(path); missing != above; missing = parent_of(missing))
    file.missing.push_back(missing);
  return file;
}

// What coop has written for itself: its directories and the file are the caller's, and other users cannot write them.
Result<void> check_private(const struct stat& status, const Path& path) {
  TRY(check_owner(status, path));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return invalid(printable(path), "can be written by other users", "chmod go-w " + printable(path));
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
  TRY(check_way(path, *target));
  std::string text = TRY(read_all(fd.get(), *target, kLargestSettingsFile));
  return SettingsFile{
      .path = path, .target = *target, .text = std::move(text), .mode = status.st_mode & 07777};
}

Result<void> replace_settings_file(const SettingsFile& file,
                                   const std::optional<std::string>& text) {
  SettingsFile now = TRY(read_settings_file(file.path));
  now.missing = file.missing;  // the client's other file may have had its directories made
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
  Path above = parent_of(path);
  while (above != "/" && ::access(above.c_str(), F_OK) < 0) above = parent_of(above);
  const Path real = TRY(real_path(above));
  TRY(check_way(above, real));
  TRY(make_parents(parent_of(path), 0700));
  return put(path, text, 0600);
}

Result<std::optional<std::string>> read_private_file(const Path& directory,
                                                     const std::string& name) {
  const Path path = join(directory, name);
  if (const Result<Path> real = real_path(directory)) TRY(check_way(directory, *real));
  else if (real.error().errno_value == ENOENT) return std::nullopt;
  else return std::unexpected(real.error());
  UniqueFd file = TRY(open_file(directory, O_PATH | O_DIRECTORY));
  Path here = directory;
  struct stat status{};
  if (::fstat(file.get(), &status) < 0) return system_error("stat", here);
  TRY(check_private(status, here));
  for (std::string_view rest = name; !rest.empty();) {
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    here = join(here, part);
    // O_NONBLOCK: a FIFO must not make us wait.
    Result<UniqueFd> next = open_at(file.get(), part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!next && next.error().errno_value == ENOENT) return std::nullopt;
    if (!next && next.error().errno_value == ELOOP)
      return invalid(printable(here), "is a symlink, which coop does not make", "remove it");
    if (!next) return std::unexpected(next.error());
    file = std::move(*next);
    if (::fstat(file.get(), &status) < 0) return system_error("stat", here);
    TRY(check_private(status, here));
  }
  if (!S_ISREG(status.st_mode)) return invalid(printable(path), "is not a plain file");
  std::string text = TRY(read_all(file.get(), path, kLargestSettingsFile));
  return text;
}

Result<void> check_home(const Path& home) {
  struct stat status{};
  if (::stat(home.c_str(), &status) < 0) return system_error("stat", home);
  return check_owner(status, home);
}

void remove_empty(std::span<const Path> directories) {
  for (const Path& directory : directories) ::rmdir(directory.c_str());
}

}  // namespace coop::host
