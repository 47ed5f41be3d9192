#include "guards/records/made_inside.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/path.h"
#include "base/sha256.h"
#include "base/text.h"
#include "guards/git/directory.h"
#include "guards/git/outside.h"
#include "guards/walk.h"
#include "policy/builtin.h"
#include "sys/fd.h"

namespace coop::guards {

namespace {

constexpr std::size_t kMostRecorded = 1000;  // the oldest are forgotten, and then guarded
constexpr std::size_t kMostOfOneRun = 100;
constexpr std::size_t kLargestRecord = std::size_t{1} << 20;

using Lines = std::vector<std::pair<std::string, std::string>>;  // the oldest first

std::string identity_of(const GitDirectory& git) {
  return std::to_string(git.device) + ":" + std::to_string(git.inode) + ":" +
         std::to_string(git.born);
}

// The git directory that a path belongs to; empty when it is in none.
Path git_around(Path path, const std::set<Path>& directories) {
  for (; path.size() > 1; path = parent_of(path))
    if (directories.contains(path)) return path;
  return {};
}

std::set<Path> paths_of(const std::vector<GitDirectory>& git) {
  std::set<Path> paths;
  for (const GitDirectory& one : git) paths.insert(one.path);
  return paths;
}

// Git rewrites and removes these while it works; they are judged by what they contained before.
bool is_judged_by_contents(const GuardedPath& found) {
  return policy::guard_kind(found.guard) == policy::GuardKind::contents;
}

// Differs once a guarded name in it was made, written, replaced or removed: a program cannot choose the ctime.
std::string settings_of(const Path& git, const std::vector<GuardedPath>& guarded,
                        const std::set<Path>& directories) {
  std::string text;
  for (const GuardedPath& found : guarded) {
    if (is_judged_by_contents(found) || !found.through.empty()) continue;
    if (!is_within(found.path, git) || git_around(found.path, directories) != git) continue;
    const std::string name(relative_to(found.path, git));
    text += std::to_string(name.size()) + ":" + name + ":" + std::to_string(found.inode) + ":" +
            std::to_string(found.changed) + ";";
  }
  return sha256_hex(text);
}

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off while it was written
    const std::string_view line = text.substr(0, end);
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      lines.emplace_back(line.substr(0, blank), line.substr(blank + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

Result<void> make_private(const Path& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT || directory.size() <= 1) return system_error("mkdir", directory);
  TRY(make_private(parent_of(directory)));
  if (::mkdir(directory.c_str(), 0700) < 0 && errno != EEXIST)
    return system_error("mkdir", directory);
  return {};
}

// Locked until it is closed.
Result<UniqueFd> open_record(const Path& file, int flags, int lock) {
  UniqueFd fd = TRY(open_file(file, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return system_error("fstat", file);
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 022) != 0)
    return system_error_of(EPERM, "open", file);
  TRY(lock_file(fd.get(), lock, file));
  return fd;
}

bool leads_into(const GuardedPath& file, const std::set<Path>& directories) {
  const std::optional<std::string> text = read_small(AT_FDCWD, file.path);
  const std::optional<std::string> target = text ? parse_gitfile(*text) : std::nullopt;
  const std::optional<Path> leads =
      target ? resolve_plainly(*target, parent_of(file.path)) : std::nullopt;
  return leads && directories.contains(*leads);
}

// What is guarded in a git directory now.
std::vector<GuardedPath> look_in(const GitDirectory& git, const GuardNames& names) {
  GuardWalk walk(names, WalkLimits{}, {});
  if (!walk.subtree(git.path, Place::dot_git, Reach::git_structure) || !walk.complete()) return {};
  return walk.take_guarded();
}

// Those that the sandbox of this run can have made. One that replaced another at the same path was made by the host:
// what was there could not be moved from inside.
std::vector<GitDirectory> made_in(const std::vector<WorkspaceFacts>& before,
                                  const std::vector<GitDirectory>& now,
                                  std::span<const Path> roots) {
  std::set<std::string> apart;
  std::set<std::string> known;
  std::set<Path> taken;
  std::int64_t started = 0;
  for (const WorkspaceFacts& facts : before) {
    for (const GitDirectory& git : facts.made_inside) apart.insert(identity_of(git));
    for (const GitDirectory& git : facts.git)
      known.insert(identity_of(git)), taken.insert(git.path);
    started = std::max(started, facts.started);
  }
  for (const Path& root : roots) taken.insert(join(root, ".git"));
  std::set<std::string> listed;
  std::vector<GitDirectory> made;
  for (const GitDirectory& git : now) {
    const std::string identity = identity_of(git);
    const bool is_new = git.born >= started && git.born > 0 && !known.contains(identity);
    if ((!is_new && !apart.contains(identity)) || taken.contains(git.path)) continue;
    if (made.size() < kMostOfOneRun && listed.insert(identity).second) made.push_back(git);
  }
  return made;
}

}  // namespace

MadeInside MadeInside::read(const Path& file) {
  MadeInside record;
  const Result<UniqueFd> fd = open_record(file, O_RDONLY, LOCK_SH);
  const Result<std::string> text =
      fd ? read_all(fd->get(), file, kLargestRecord) : Result<std::string>();
  if (!text) return record;
  for (auto& [directory, settings] : lines_of(*text))
    record.known_.insert_or_assign(std::move(directory), std::move(settings));
  return record;
}

void MadeInside::set_apart(WorkspaceFacts& look, const Path& root) const {
  if (known_.empty()) return;
  const std::set<Path> directories = paths_of(look.git);
  const Path own = join(root, ".git");
  std::set<Path> made;
  for (const GitDirectory& git : look.git) {
    const auto known = known_.find(identity_of(git));
    if (known == known_.end() || git.born == 0 || git.path == own || git.path == root ||
        contains(look.outside_git, git.path))
      continue;
    if (known->second == settings_of(git.path, look.guarded, directories)) made.insert(git.path);
  }
  // One with worktrees or modules of the user's is the user's: `git worktree prune` would remove these.
  for (bool changed = true; changed;) {
    changed = false;
    for (const GitDirectory& git : look.git)
      if (!made.contains(git.path))
        changed =
            std::erase_if(made, [&](const Path& path) { return is_within(git.path, path); }) > 0 ||
            changed;
  }
  if (made.empty()) return;
  std::erase_if(look.git, [&](const GitDirectory& git) {
    if (!made.contains(git.path)) return false;
    look.made_inside.push_back(git);
    return true;
  });
  std::erase_if(look.guarded, [&](const GuardedPath& found) {
    if (is_judged_by_contents(found)) return false;
    if (made.contains(git_around(found.path, directories))) return true;
    return found.harmless && found.path != own && name_of(found.path) == ".git" &&
           leads_into(found, made);
  });
}

Result<void> remember_made(const Path& file, std::span<const std::string> guards,
                           const std::vector<WorkspaceFacts>& before,
                           const std::vector<GitDirectory>& now, std::span<const Path> roots) {
  const std::vector<GitDirectory> made = made_in(before, now, roots);
  if (made.empty() || before.empty()) return {};
  const GuardNames names(guards, before.front().named);
  const std::set<Path> directories = paths_of(now);
  TRY(make_private(parent_of(file)));
  const UniqueFd fd = TRY(open_record(file, O_RDWR | O_CREAT, LOCK_EX));
  Lines lines = lines_of(TRY(read_all(fd.get(), file, kLargestRecord)));
  for (const GitDirectory& git : made) {
    const std::string identity = identity_of(git);
    std::erase_if(lines, [&](const auto& line) { return line.first == identity; });
    lines.emplace_back(identity, settings_of(git.path, look_in(git, names), directories));
  }
  std::string text;
  const std::size_t first = lines.size() - std::min(lines.size(), kMostRecorded);
  for (const auto& [directory, settings] : std::span(lines).subspan(first))
    text += directory + " " + settings + "\n";
  if (::ftruncate(fd.get(), 0) < 0 || ::lseek(fd.get(), 0, SEEK_SET) < 0)
    return system_error("ftruncate", file);
  return write_all(fd.get(), text, file);
}

}  // namespace coop::guards
