#include "request/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <ranges>

#include "base/path.h"
#include "sys/real_path.h"

namespace coop::request {

namespace {

bool is_executable(const Path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::vector<Path> candidates_for(const std::string& command, const HostFacts& facts) {
  if (command.contains('/')) return {normalize(command, facts.working_directory)};
  const auto path = facts.environment.find("PATH");
  if (path == facts.environment.end()) return {};
  std::vector<Path> candidates;
  // Also an empty place after the last ":".
  for (std::string_view rest = path->second;;) {
    const std::string_view place = rest.substr(0, rest.find(':'));
    // An empty or relative place is the directory of the moment: often the workspace.
    candidates.push_back(
        join(normalize(place.empty() ? "." : place, facts.working_directory), command));
    if (place.size() == rest.size()) return candidates;
    rest.remove_prefix(place.size() + 1);
  }
}

std::optional<std::string> why_not_in(const Path& name, const WritableTrees& writable,
                                      const HostFacts& facts) {
  const auto lies_in = [&](const Path& tree) { return !tree.empty() && is_within(name, tree); };
  if (lies_in(writable.workspace)) return printable(name) + " lies in the workspace";
  if (lies_in(writable.repository))
    return printable(name) + " lies in the repository of the workspace";
  for (const Path& tree : writable.others)
    if (lies_in(tree))
      return printable(name) + " lies in " + printable(tree) + ", which can be written inside";
  if (lies_in(facts.state_directory) || lies_in(resolved_path(facts.state_directory)))
    return printable(name) + " lies in a home of a sandbox";
  return std::nullopt;
}

// Another user could put another program there. A sticky bit keeps others from replacing what is in a directory; a name that does
// not exist yet is not protected by it, nor is a file with the bit.
std::optional<std::string> why_not_owner(const Path& name) {
  struct stat status{};
  if (::lstat(name.c_str(), &status) < 0) return printable(name) + " cannot be looked at";
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return printable(name) + " belongs to another user";
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if (!S_ISLNK(status.st_mode) && (status.st_mode & S_IWOTH) != 0 && !sticky)
    return printable(name) + " can be written by every user";
  return std::nullopt;
}

bool is_present(const Path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

Path repository_around(const Path& workspace, const Path& home) {
  Path outermost;
  for (Path path = parent_of(workspace); path.size() > 1 && !is_within(home, path);
       path = parent_of(path))
    if (is_present(join(path, ".git"))) outermost = path;
  return outermost;
}

std::optional<Program> find_program(const std::string& command, const HostFacts& facts) {
  for (const Path& candidate : candidates_for(command, facts))
    if (is_executable(candidate))
      if (const Result<Path> real = real_path(candidate)) return Program{candidate, *real};
  return std::nullopt;
}

std::optional<std::string> why_not_trusted(const Program& program, const WritableTrees& writable,
                                           const HostFacts& facts) {
  const Result<std::vector<Path>> names = names_on_the_way(program.found);
  if (!names || names->back() != program.real)
    return printable(program.found) + " changes while it is looked at";
  // The program itself first: its name says most.
  for (const Path& name : std::views::reverse(*names))
    if (std::optional<std::string> reason = why_not_in(name, writable, facts)) return reason;
  for (const Path& name : *names)
    if (std::optional<std::string> reason = why_not_owner(name)) return reason;
  return std::nullopt;
}

}  // namespace coop::request
