#include "host/files/kept_homes.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/path.h"
#include "sys/tree/entries.h"
#include "sys/tree/move_tree.h"

namespace coop::host {

namespace {

constexpr const char* kHome = "home";
constexpr const char* kLock = "lock";
constexpr const char* kAbout = "about";
constexpr const char* kEnded = ".removed";  // a name that no home can have: it begins with a dot

Path homes_of(const Path& state_directory) { return join(state_directory, "homes"); }

Result<void> make_directory(const Path& path) {
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) return system_error("mkdir", path);
  return {};
}

Result<void> make_with_parents(const Path& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT || path == "/") return system_error("mkdir", path);
  TRY(make_with_parents(parent_of(path)));
  return make_directory(path);
}

// A home of another user, or one that another user can change, may lead anywhere: `directory` must be ours alone.
Result<void> check_owner(int directory, const Path& path) {
  struct stat status{};
  if (::fstat(directory, &status) < 0) return system_error("fstat", path);
  if (status.st_uid != ::geteuid())
    return invalid("kept homes", "\"" + printable(path) + "\" belongs to another user",
                   "set HOME or XDG_STATE_HOME to a directory of yours, or say --home ephemeral");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return invalid("kept homes", "\"" + printable(path) + "\" can be written by other users",
                   "chmod go-w " + printable(path));
  return {};
}

// Made when it is missing. A symlink is an error: it could lead anywhere.
Result<UniqueFd> enter_own(int above, const Path& path) {
  const std::string name(name_of(path));
  if (::mkdirat(above, name.c_str(), 0700) < 0 && errno != EEXIST)
    return system_error("mkdir", path);
  Result<UniqueFd> directory = open_at(above, name, O_PATH | O_NOFOLLOW);
  if (!directory) return directory;
  struct stat status{};
  if (::fstat(directory->get(), &status) < 0) return system_error("fstat", path);
  if (!S_ISDIR(status.st_mode))
    return invalid("kept homes", "\"" + printable(path) + "\" is no directory",
                   "remove it, or take another home with --home NAME");
  TRY(check_owner(directory->get(), path));
  return directory;
}

// STATE/homes/NAME
Result<UniqueFd> enter_place(const Path& state_directory, const std::string& name) {
  TRY(make_with_parents(state_directory));
  const UniqueFd state = TRY(open_file(state_directory, O_PATH | O_DIRECTORY));
  TRY(check_owner(state.get(), state_directory));
  const Path homes = homes_of(state_directory);
  const UniqueFd all = TRY(enter_own(state.get(), homes));
  return enter_own(all.get(), join(homes, name));
}

Result<void> make_home(int place, const Path& path) {
  const UniqueFd home = TRY(enter_own(place, path));
  struct stat status{};
  if (::fstat(home.get(), &status) < 0) return system_error("fstat", path);
  if ((status.st_mode & S_IRWXU) == S_IRWXU) return {};
  // What a sandbox has done to the mode of its home must not keep the next one out.
  return ::fchmodat(place, kHome, 0700, 0) < 0 ? system_error("chmod", path) : Result<void>{};
}

bool is_at(const UniqueFd& file, const Path& path) {
  struct stat here{};
  struct stat there{};
  return ::fstat(file.get(), &here) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

Result<UniqueFd> open_lock(int place) {
  return open_at(place, kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
}

bool is_busy() { return errno == EWOULDBLOCK || errno == EAGAIN; }

std::unexpected<Error> in_use(const std::string& name) {
  return invalid("home " + printable(name), "a sandbox uses it", "try again when that has ended");
}

// Of the sandbox that made it; later ones may have another workspace.
Result<void> write_about(int place, const Path& directory, const Path& workspace) {
  const Result<UniqueFd> file =
      open_at(place, kAbout, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file && file.error().errno_value == EEXIST) return {};
  if (!file) return std::unexpected(file.error());
  return write_all(file->get(), workspace + "\n", join(directory, kAbout));
}

KeptHome read_home(const Path& homes, const std::string& name) {
  const Path directory = join(homes, name);
  KeptHome home{.name = name, .path = join(directory, kHome)};
  const Result<UniqueFd> about =
      open_file(join(directory, kAbout), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (about) home.workspace = read_all(about->get(), directory, std::size_t{1} << 16).value_or("");
  if (home.workspace.ends_with('\n')) home.workspace.pop_back();
  const Result<UniqueFd> lock =
      open_file(join(directory, kLock), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!lock) return home;
  struct stat status{};
  if (::fstat(lock->get(), &status) == 0) home.used = status.st_mtim.tv_sec;
  home.in_use = ::flock(lock->get(), LOCK_EX | LOCK_NB) < 0 && is_busy();
  return home;
}

// Of a removal that was ended half-way.
void remove_leftovers(int homes) {
  std::vector<std::string> names;
  const auto buffer = make_entry_buffer();
  (void)for_each_entry(homes, *buffer, [&](std::string_view name, unsigned char) {
    if (name.starts_with(kEnded)) names.emplace_back(name);
    return Next::go_on;
  });
  for (const std::string& name : names) (void)remove_tree(EntryName{homes, name});
}

}  // namespace

Result<UniqueFd> hold_home(const Path& state_directory, const std::string& name,
                           const Path& workspace) {
  const Path directory = join(homes_of(state_directory), name);
  constexpr int kAttempts = 10;  // each other one that fails has removed the home meanwhile
  std::optional<Error> missing;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Result<UniqueFd> place = enter_place(state_directory, name);
    if (!place) {
      if (place.error().errno_value != ENOENT) return std::unexpected(place.error());
      missing = place.error();
      continue;
    }
    Result<UniqueFd> lock = open_lock(place->get());
    if (!lock && lock.error().errno_value == ENOENT) continue;
    if (!lock) return lock;
    // Waits: `coop home ls` has the lock for a moment, remove_home() until it has renamed.
    TRY(lock_file(lock->get(), LOCK_SH, directory));
    if (!is_at(*lock, join(directory, kLock))) continue;
    TRY(make_home(place->get(), join(directory, kHome)));
    TRY(write_about(place->get(), directory, workspace));
    ::futimens(lock->get(), nullptr);  // only for lists
    return lock;
  }
  if (!missing) return in_use(name);
  missing->hint = "XDG_STATE_HOME can name another directory for coop's state";
  return std::unexpected(*std::move(missing));
}

Path kept_home(const Path& state_directory, std::string_view name) {
  return join(join(homes_of(state_directory), name), kHome);
}

Result<void> put_in_home(const Path& state_directory, const std::string& name,
                         const std::string& file, std::string_view contents) {
  const Path home = kept_home(state_directory, name);
  UniqueFd directory = TRY(open_file(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  std::string_view rest = file;
  while (rest.contains('/')) {
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(part.size() + 1);
    if (::mkdirat(directory.get(), part.c_str(), 0700) < 0 && errno != EEXIST)
      return system_error("mkdir", join(home, file));
    directory = TRY(open_beneath(directory.get(), part, O_RDONLY | O_DIRECTORY));
  }
  const std::string last(rest);
  const std::string fresh = last + ".coop-" + std::to_string(::getpid());
  {
    const UniqueFd made(::openat(directory.get(), fresh.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!made.valid()) return system_error("open", join(home, file));
    TRY(write_all(made.get(), contents, join(home, file)));
  }
  if (::renameat(directory.get(), fresh.c_str(), directory.get(), last.c_str()) == 0) return {};
  Error error = system_error("rename", join(home, file)).error();
  ::unlinkat(directory.get(), fresh.c_str(), 0);
  return std::unexpected(std::move(error));
}

Result<std::vector<KeptHome>> kept_homes(const Path& state_directory) {
  std::vector<KeptHome> homes;
  const Path all = homes_of(state_directory);
  const Result<UniqueFd> directory = open_file(all, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!directory && directory.error().errno_value == ENOENT) return homes;
  if (!directory) return std::unexpected(directory.error());
  const auto buffer = make_entry_buffer();
  TRY(for_each_entry(directory->get(), *buffer, [&](std::string_view name, unsigned char) {
    if (!name.starts_with('.')) homes.push_back(read_home(all, std::string(name)));
    return Next::go_on;
  }));
  std::ranges::sort(homes, {}, &KeptHome::name);
  return homes;
}

Result<void> remove_home(const Path& state_directory, const std::string& name) {
  const Path all = homes_of(state_directory);
  const Path directory = join(all, name);
  const Result<UniqueFd> homes = open_file(all, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  struct stat status{};
  if (!homes || ::fstatat(homes->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
    return invalid("home " + printable(name), "there is no such home", "`coop home ls` lists them");
  const UniqueFd place = TRY(open_at(homes->get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  const UniqueFd lock = TRY(open_lock(place.get()));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) < 0) {
    if (is_busy()) return in_use(name);
    return system_error("flock", directory);
  }
  remove_leftovers(homes->get());
  // Under another name first: a sandbox that starts now makes a new one, and sees no half of the old one.
  const std::string ended = kEnded + std::to_string(::getpid());
  if (::renameat(homes->get(), name.c_str(), homes->get(), ended.c_str()) < 0)
    return system_error("rename", directory);
  return remove_tree(EntryName{homes->get(), ended});
}

}  // namespace coop::host
