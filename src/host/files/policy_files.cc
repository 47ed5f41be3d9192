#include "host/files/policy_files.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/path.h"
#include "base/sha256.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::host {

namespace {

Result<void> check_owner(const struct stat& status, const Path& path, RequiredOwner owner) {
  if (owner == RequiredOwner::anyone) return {};
  const bool own = owner == RequiredOwner::self && status.st_uid == ::geteuid();
  if (status.st_uid != 0 && !own)
    return invalid("", in_quotes(path) + " belongs to user " + std::to_string(status.st_uid),
                   owner == RequiredOwner::root
                       ? "it must belong to root: chown root " + printable(path)
                       : "it must belong to you or to root");
  if ((status.st_mode & 022) != 0)
    return invalid("", in_quotes(path) + " can be changed by others",
                   "chmod go-w " + printable(path));
  return {};
}

// A user who can write the directory can replace the file, or the symlink that leads to it.
Result<void> check_directory(const Path& path, RequiredOwner owner) {
  const Path directory = parent_of(path);
  struct stat status{};
  if (::stat(directory.c_str(), &status) < 0) return system_error("stat", directory);
  return check_owner(status, directory, owner);
}

Result<void> check_directories(const UniqueFd& file, const Path& path, RequiredOwner owner) {
  if (owner == RequiredOwner::anyone) return {};
  TRY(check_directory(path, owner));
  const Path real = TRY(read_link("/proc/self/fd/" + std::to_string(file.get())));
  return check_directory(real, owner);
}

Result<std::string> read_opened(const UniqueFd& file, const Path& path, RequiredOwner owner) {
  struct stat status{};
  if (::fstat(file.get(), &status) < 0) return system_error("fstat", path);
  if (!S_ISREG(status.st_mode)) return invalid("", in_quotes(path) + " is not a plain file");
  TRY(check_owner(status, path, owner));
  if (std::cmp_greater(status.st_size, kLargestPolicyFile))
    return invalid("", in_quotes(path) + " is larger than 1 MiB");
  return read_all(file.get(), path, kLargestPolicyFile);
}

bool is_absence(const Error& error) {
  return error.errno_value == ENOENT || error.errno_value == ENOTDIR;
}

// One for each project path: a new approval replaces the old one.
Path approval_of(const PolicyPlaces& places) {
  return join(places.approvals, sha256_hex(places.project));
}

std::string approval_line(std::string_view text) { return "sha256 " + sha256_hex(text) + "\n"; }

Result<void> make_directories(const Path& path, mode_t mode) {
  for (const Path& ancestor : ancestors_below(join(path, "x"), "/"))
    if (::mkdir(ancestor.c_str(), mode) < 0 && errno != EEXIST && errno != EROFS)
      return system_error("mkdir", ancestor);
  return {};
}

Result<void> write_new(const Path& path, std::string_view text, mode_t mode) {
  UniqueFd file = TRY(open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  Result<void> written = write_all(file.get(), text, path);
  if (written && ::fsync(file.get()) < 0) written = system_error("fsync", path);
  if (!written) ::unlink(path.c_str());
  return written;
}

// Atomic: no reader ever sees half of a policy.
Result<void> replace(const Path& path, std::string_view text, mode_t mode) {
  const Path fresh = path + ".new-" + std::to_string(::getpid());
  ::unlink(fresh.c_str());
  TRY(write_new(fresh, text, mode));
  if (::rename(fresh.c_str(), path.c_str()) == 0) return {};
  Result<void> failure = system_error("rename", path);
  ::unlink(fresh.c_str());
  return failure;
}

}  // namespace

Path configuration_directory(const HostFacts& facts) {
  const auto set = facts.environment.find("XDG_CONFIG_HOME");
  const bool elsewhere = set != facts.environment.end() && set->second.starts_with('/');
  return join(elsewhere ? normalize(set->second) : join(facts.home, ".config"), "coop");
}

PolicyPlaces policy_places(const HostFacts& facts, const Path& workspace) {
  PolicyPlaces places{.organisation = "/etc/coop/policy.toml",
                      .user = join(configuration_directory(facts), "policy.toml"),
                      .approvals = join(facts.state_directory, "approvals")};
  if (!workspace.empty()) places.project = join(workspace, ".coop/policy.toml");
  return places;
}

Result<std::optional<std::string>> read_policy_file(const Path& path, RequiredOwner owner) {
  // O_NONBLOCK: a FIFO in its place must not block us.
  Result<UniqueFd> file = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file && is_absence(file.error())) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) < 0) return std::optional<std::string>{};
    return invalid("", in_quotes(path) + " is a dangling symlink",
                   "correct the symlink, or remove it");
  }
  if (!file) return std::unexpected(std::move(file).error());
  TRY(check_directories(*file, path, owner));
  return TRY(read_opened(*file, path, owner));
}

Result<std::optional<std::string>> read_project_policy(const Path& workspace) {
  Result<UniqueFd> root = open_file(workspace, O_PATH | O_DIRECTORY);
  // The planner reports a workspace that is not there. Without descriptors, say, a file that is there would count as none.
  if (!root && (is_absence(root.error()) || root.error().errno_value == EACCES))
    return std::optional<std::string>{};
  if (!root) return std::unexpected(std::move(root).error());
  const Path path = join(workspace, ".coop/policy.toml");
  // Component by component and not with openat2, which fails with ENOSYS inside a coop sandbox.
  Result<UniqueFd> folder = open_at(root->get(), ".coop", O_PATH | O_DIRECTORY | O_NOFOLLOW);
  Result<UniqueFd> file =
      folder ? open_at(folder->get(), "policy.toml", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
             : std::move(folder);
  if (!file && is_absence(file.error())) {
    struct stat status{};
    if (::fstatat(root->get(), ".coop", &status, AT_SYMLINK_NOFOLLOW) < 0 ||
        S_ISDIR(status.st_mode))
      return std::optional<std::string>{};
    return invalid("", in_quotes(join(workspace, ".coop")) + " is not a directory",
                   "a symlink in its place is not followed");
  }
  if (!file) return system_error_of(file.error().errno_value, "open", path);
  return TRY(read_opened(*file, path, RequiredOwner::anyone));
}

Result<bool> is_approved(const PolicyPlaces& places, std::string_view text) {
  const std::optional<std::string> stored =
      TRY(read_policy_file(approval_of(places), RequiredOwner::self));
  return stored && stored->starts_with(approval_line(text));
}

Result<void> approve(const PolicyPlaces& places, std::string_view text, std::string_view when) {
  TRY(make_directories(places.approvals, 0700));
  return replace(
      approval_of(places),
      approval_line(text) + "of " + places.project + "\napproved " + std::string(when) + "\n",
      0600);
}

Result<bool> revoke(const PolicyPlaces& places) {
  const Path path = approval_of(places);
  if (::unlink(path.c_str()) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return system_error("unlink", path);
}

Result<void> replace_policy_file(const Path& path, std::string_view text) {
  TRY(make_directories(parent_of(path), 0755));
  const Result<std::string> old = read_file(path);
  if (old) TRY(replace(path + ".previous", *old, 0644));
  else if (!is_absence(old.error())) return std::unexpected(old.error());
  return replace(path, text, 0644);
}

}  // namespace coop::host
