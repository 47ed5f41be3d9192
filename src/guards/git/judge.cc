#include "guards/git/judge.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>

#include "base/path.h"
#include "base/text.h"
#include "guards/git/checkout.h"
#include "guards/git/directory.h"
#include "guards/git/harmless.h"
#include "guards/git/index.h"
#include "guards/git/outside.h"
#include "guards/trail.h"
#include "sys/fd.h"
#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"
#include "sys/tree/move_tree.h"

namespace coop::guards {

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;
constexpr std::size_t kMostHooks = 1000;

// The directory that contains base/relative.
Result<DirectoryStack> open_parent(const Path& base, std::string_view relative) {
  DirectoryStack directory = TRY(DirectoryStack::open(base));
  TRY(directory.enter_all(relative.substr(0, relative.size() - name_of(relative).size())));
  return directory;
}

// Another sandbox in the same workspace may have received a descriptor of the file, through a socket, and would change
// it after this look. A read lease is refused while a file is open for writing.
bool is_open_for_writing(int fd) {
  // A later writer would have SIGIO sent to us, which kills; SIGURG does nothing.
  if (::fcntl(fd, F_SETSIG, SIGURG) < 0 || ::fcntl(fd, F_SETLEASE, F_RDLCK) < 0) return true;
  return ::fcntl(fd, F_SETLEASE, F_UNLCK) < 0;
}

std::optional<std::string> danger_of_descriptor(int directory, const std::string& name) {
  const UniqueFd fd(
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
    return "it is not a regular file";
  if (status.st_nlink > 1) return "it has other hard links";
  if (is_open_for_writing(fd.get())) return "a program may still have it open for writing";
  return std::nullopt;
}

// The working tree of a submodule: its .git file leads back to the git directory.
bool leads_back(const std::string& value, const Path& git, const std::vector<Path>& trees) {
  const std::optional<Path> top = resolve_plainly(value, git);
  if (!top || tree_of(*top, trees) == nullptr) return false;
  const std::optional<std::string> text = read_small(AT_FDCWD, join(*top, ".git"));
  const std::optional<std::string> target = text ? parse_gitfile(*text) : std::nullopt;
  return target && resolve_plainly(*target, *top) == git;
}

std::optional<std::string> danger_of_config(int directory, const std::string& name,
                                            const Path& path, const std::vector<Path>& trees) {
  if (std::optional<std::string> danger = danger_of_descriptor(directory, name)) return danger;
  const std::optional<std::string> text = read_small(directory, name);
  if (!text) return "it is too large";
  const ConfigFile file = name == "config" ? ConfigFile::repository : ConfigFile::worktree;
  ConfigVerdict verdict = judge_config(*text, file);
  for (const std::string& worktree : verdict.worktrees)
    if (!verdict.danger && !leads_back(worktree, parent_of(path), trees))
      verdict.danger = "core.worktree leads elsewhere";
  return verdict.danger;
}

// Git runs a hook by its exact name, and none of the names ends in ".sample". In the old directories of remotes every file
// names one.
enum class Held { hooks, remotes };
Result<std::vector<std::string>> samples_in(int hooks, Held held,
                                            std::optional<std::string>& danger) {
  constexpr std::string_view kSample = ".sample";
  std::vector<std::string> samples;
  const std::unique_ptr<EntryBuffer> buffer = make_entry_buffer();
  TRY(for_each_entry(hooks, *buffer, [&](std::string_view entry, unsigned char type) {
    struct stat status{};
    if (type == DT_UNKNOWN && ::fstatat(hooks, entry.data(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      type = static_cast<unsigned char>(IFTODT(status.st_mode));
    const bool sample = held == Held::hooks && type == DT_REG && entry.size() > kSample.size() &&
                        entry.ends_with(kSample);
    if (!sample)
      danger = printable(entry) + (held == Held::hooks ? " is a hook, which git runs"
                                                       : " names a repository that git sends to");
    if (samples.size() >= kMostHooks) danger = "it has too many entries";
    samples.emplace_back(entry);
    return danger ? Next::stop : Next::go_on;
  }));
  return samples;
}

// Another sandbox in the same workspace may have received a descriptor of the directory, and could make a hook in it
// after this look. So the samples move to a new one.
Result<void> renew(int parent, const std::string& name, int hooks,
                   const std::vector<std::string>& samples) {
  const std::string fresh = ".coop-" + name;
  if (::mkdirat(parent, fresh.c_str(), 0755) < 0) return system_error("mkdir", fresh);
  const UniqueFd target(
      ::openat(parent, fresh.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  for (const std::string& sample : samples)
    if (::renameat(hooks, sample.c_str(), target.get(), sample.c_str()) < 0)
      return system_error("rename", sample);
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) < 0) return system_error("rmdir", name);
  return rename_entry({parent, fresh}, {parent, name});
}

std::optional<std::string> danger_of_directory(int parent, const std::string& name, Held held) {
  std::optional<std::string> danger;
  Result<DirectoryStack> hooks = DirectoryStack::open(parent, name);
  if (!hooks) return "it cannot be read";
  hooks->make_writable();
  const Result<std::vector<std::string>> samples = samples_in(hooks->fd(), held, danger);
  if (danger) return danger;
  if (!samples || !renew(parent, name, hooks->fd(), *samples)) return "it cannot be made anew";
  return std::nullopt;
}

// Of the repository that a git directory belongs to; a linked worktree's has its settings elsewhere.
struct RepositorySettings {
  std::optional<std::string> text{};
  std::int64_t changed = 0;
};

RepositorySettings settings_for(int git) {
  const std::optional<std::string> pointer = read_small(git, "commondir");
  const std::optional<std::string> common = pointer ? parse_pointer(*pointer) : std::nullopt;
  const std::string config = common ? join(*common, "config") : "config";
  struct stat status{};
  if (::fstatat(git, config.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) return {};
  return {read_small(git, config),
          std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

// The length of its entries depends on a setting, so with another setting it is another index.
bool is_index_as_before(int git, const GuardedPath& found, const GuardedPath* before,
                        std::int64_t started) {
  if (before == nullptr || before->device != found.device || before->inode != found.inode ||
      before->born != found.born || before->changed != found.changed || found.links > 1)
    return false;
  const RepositorySettings settings = settings_for(git);
  return settings.text && settings.changed < started;
}

// Nothing in it can be judged: it stays if it is as it was.
bool is_fixed(std::string_view guard) {
  return guard == ".git/MERGE_RR" || guard == ".git/MERGE_AUTOSTASH" ||
         guard.ends_with("/autostash");
}

bool read_exactly(int fd, std::uint64_t offset, std::span<char> buffer) {
  while (!buffer.empty()) {
    const ssize_t count = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count <= 0) return false;
    offset += static_cast<std::uint64_t>(count);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

std::optional<std::string> danger_of_index_file(int git, const std::string& name) {
  const UniqueFd fd(::openat(git, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
    return "it is not a regular file";
  const RepositorySettings settings = settings_for(git);
  const bool sha256 =
      settings.text && config_value(*settings.text, "extensions", "objectformat") == "sha256";
  return danger_of_index(
      {.size = static_cast<std::uint64_t>(status.st_size),
       .read = [&](std::uint64_t offset,
                   std::span<char> buffer) { return read_exactly(fd.get(), offset, buffer); }},
      sha256 ? ObjectFormat::sha256 : ObjectFormat::sha1);
}

}  // namespace

bool is_index(std::string_view guard) { return guard == ".git/index"; }

std::optional<std::string> danger_at(const Path& base, std::string_view relative,
                                     const GuardedPath& found, const std::vector<Path>& trees) {
  const std::string name(name_of(relative));
  const bool config = (found.guard == ".git/config" && name == "config") ||
                      (found.guard == ".git/config.worktree" && name == "config.worktree");
  const bool hooks = found.guard == ".git/hooks";
  const bool remotes = found.guard == ".git/remotes" || found.guard == ".git/branches";
  // What a symlink leads to belongs to a repository that was there before.
  if ((!config && !hooks && !remotes) || !found.link.empty() || !found.through.empty()) return "";
  Result<DirectoryStack> directory = open_parent(base, relative);
  if (!directory) return "";
  directory->make_writable();
  return config ? danger_of_config(directory->fd(), name, found.path, trees)
                : danger_of_directory(directory->fd(), name, hooks ? Held::hooks : Held::remotes);
}

bool may_still_change(const Path& base, std::string_view relative,
                      std::chrono::milliseconds& patience) {
  constexpr std::chrono::milliseconds kStep{5};
  const Result<DirectoryStack> directory = open_parent(base, relative);
  if (!directory) return true;
  const UniqueFd fd(::openat(directory->fd(), std::string(name_of(relative)).c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode)) return true;
  if (status.st_nlink > 1) return true;
  for (;; patience -= kStep) {
    if (::fcntl(fd.get(), F_SETSIG, SIGURG) == 0 && ::fcntl(fd.get(), F_SETLEASE, F_RDLCK) == 0)
      return ::fcntl(fd.get(), F_SETLEASE, F_UNLCK) < 0;
    // Some file systems have no leases.
    if (errno != EAGAIN && errno != EBUSY) return false;
    if (patience <= std::chrono::milliseconds(0)) return true;
    std::this_thread::sleep_for(kStep);
  }
}

std::optional<std::vector<std::string>> programs_in(int directory, const std::string& name,
                                                    std::string_view guard) {
  if (is_index(guard)) return std::vector<std::string>();  // large: see new_program()
  if (is_checkout_pointer(guard)) {
    std::optional<std::string> checkout = checkout_named_by(directory, name);
    return checkout ? std::optional(std::vector{*std::move(checkout)}) : std::nullopt;
  }
  const auto [content, text, error] = read_regular(directory, name, O_NOFOLLOW, kLargest);
  if (content != Content::text) return std::nullopt;
  if (guard.ends_with("/git-rebase-todo")) return programs_in_todo(text);
  if (guard.ends_with("/strategy")) return programs_in_strategy(text);
  if (guard.ends_with("/apply-opt")) return programs_in_apply_options(text);
  if (guard == ".git/sequencer/opts") return programs_in_options(text);
  if (is_fixed(guard)) return text.empty() ? std::vector<std::string>() : std::vector{text};
  return programs_in_number(text);
}

std::optional<std::string> new_program(const Path& base, std::string_view relative,
                                       const GuardedPath& found, const GuardedPath* before,
                                       std::int64_t started, const std::vector<Path>& trees) {
  const Result<DirectoryStack> directory = open_parent(base, relative);
  const std::string name(name_of(relative));
  if (directory && is_index(found.guard)) {
    if (is_index_as_before(directory->fd(), found, before, started)) return std::nullopt;
    return danger_of_index_file(directory->fd(), name);
  }
  if (directory && is_checkout_pointer(found.guard))
    return danger_of_checkout(directory->fd(), name,
                              before != nullptr ? &before->programs : nullptr, trees);
  const std::optional<std::vector<std::string>> programs =
      directory ? programs_in(directory->fd(), name, found.guard) : std::nullopt;
  if (!programs) return "its contents cannot be judged";
  for (const std::string& program : *programs)
    if (before == nullptr || !contains(before->programs, program))
      return "\"" + printable(program.substr(0, 100)) + "\" could " +
             (found.guard.ends_with("/apply-opt") || is_fixed(found.guard) ? "change other files"
                                                                           : "run a program");
  return std::nullopt;
}

}  // namespace coop::guards
