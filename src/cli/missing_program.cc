#include "cli/missing_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/path.h"
#include "plan/show/explain.h"
#include "report/text.h"
#include "run/prepare.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::cli {

namespace {

bool is_program(const Path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool exists(const Path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

// Where a name is looked for: itself if it has a slash.
std::vector<Path> candidates(const std::string& program, const Path& directory,
                             std::string_view search) {
  if (program.contains('/')) return {normalize(program, directory)};
  std::vector<Path> paths;
  while (!search.empty()) {
    const std::string_view place = search.substr(0, search.find(':'));
    search.remove_prefix(std::min(search.size(), place.size() + 1));
    if (place.starts_with('/')) paths.push_back(join(normalize(place), program));
  }
  return paths;
}

// "/opt/x/python" of a file that begins with "#!/opt/x/python -u".
Path interpreter_of(const Path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  std::array<char, 256> text{};
  if (!fd.valid() || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode)) return {};
  const ssize_t size = ::read(fd.get(), text.data(), text.size());
  std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (!line.starts_with("#!")) return {};
  line.remove_prefix(std::min(line.find_first_not_of(" \t", 2), line.size()));
  return Path(line.substr(0, line.find_first_of(" \t\n")));
}

class Search {
 public:
  Search(const run::Prepared& prepared, const Policy& policy, std::string program)
      : prepared_(prepared), policy_(policy), program_(std::move(program)) {}

  std::string answer() const {
    const auto search = prepared_.plan.environment.find("PATH");
    const std::string inside = search == prepared_.plan.environment.end() ? "" : search->second;
    for (const Path& path : candidates(program_, prepared_.plan.directory, inside))
      if (const std::optional<Path> host = host_path(path)) return broken(*host);
    const char* variable = ::getenv("PATH");
    const Path here = real_path(".").value_or("/");
    for (const Path& path : candidates(program_, here, variable == nullptr ? "" : variable))
      if (is_program(path))
        return name() + " is not in the sandbox; outside it is " + printable(path) +
               how_to_show(real_path(path).value_or(path));
    return name() + " was not found inside the sandbox" +
           (program_.contains('/') ? "" : ", and is not on the PATH outside");
  }

 private:
  std::string name() const { return in_quotes(program_); }

  // Of a path inside that shows a file of the host.
  std::optional<Path> host_path(const Path& inside) const {
    const plan::Explanation found = plan::explain_inside(prepared_.plan, prepared_.policy, inside);
    if (!is_shown(found) || found.path.empty() || !exists(found.path)) return std::nullopt;
    return found.path;
  }

  // It is there; something that it needs is not.
  std::string broken(const Path& host) const {
    const Path real = real_path(host).value_or("");
    if (real.empty()) return name() + " is a symlink that leads nowhere";
    if (!is_shown(plan::explain(prepared_.plan, prepared_.policy, real)))
      return name() + " is a symlink to " + printable(real) + ", which is not in the sandbox" +
             how_to_show(real);
    const Path interpreter = interpreter_of(real);
    if (interpreter.empty())
      return name() + " is in the sandbox, but the program that loads it is not";
    std::string text = name() + " needs " + printable(interpreter) +
                       " (its first line), which is not in the sandbox";
    if (!interpreter.starts_with('/')) return text;
    const std::optional<Path> shown = host_path(interpreter);
    const Path outside = real_path(shown.value_or(interpreter)).value_or("");
    return text + (outside.empty() ? ", nor outside" : how_to_show(outside));
  }

  // The program's own directory, or the prefix of bin and lib that it belongs to.
  static Path tree_of(const Path& path, const Path& home) {
    const Path directory = parent_of(path);
    if (is_within(home, directory)) return path;
    const Path prefix = parent_of(directory);
    const bool whole = name_of(directory) == "bin" && !is_within(home, prefix) && prefix != "/" &&
                       name_of(prefix) != ".local";
    return whole ? prefix : directory;
  }

  bool is_in_host_view(const Path& path) const {
    Policy other = policy_;
    other.view = View::host;
    const Result<run::Prepared> prepared = run::prepare(std::move(other));
    return prepared && is_shown(plan::explain(prepared->plan, prepared->policy, path));
  }

  std::string how_to_show(const Path& path) const {
    const plan::Explanation found = plan::explain(prepared_.plan, prepared_.policy, path);
    if (is_shown(found) || !found.grant) return "";
    const char* home = ::getenv("HOME");
    const Path tree = tree_of(path, home == nullptr ? Path() : Path(home));
    std::string text = "; to show it: " + report::to_text(Grant{"--ro", tree});
    if (policy_.view == View::minimal) {
      // The PATH inside has the system's directories only.
      if (!program_.contains('/')) text += " -- " + printable(path);
      if (is_in_host_view(path)) text += ", or --view host";
    } else if (found.origin.part == Part::home) {
      text += ", or --show-home";
    }
    return text;
  }

  const run::Prepared& prepared_;
  const Policy& policy_;
  std::string program_;
};

}  // namespace

std::string explain_missing(const Policy& policy, const std::string& program) {
  const Result<run::Prepared> prepared = run::prepare(policy);
  if (!prepared) return in_quotes(program) + " was not found inside the sandbox";
  return Search(*prepared, policy, program).answer();
}

}  // namespace coop::cli
