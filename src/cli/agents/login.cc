#include "cli/agents/login.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

#include "base/path.h"
#include "base/text.h"
#include "host/files/kept_homes.h"
#include "host/probe.h"
#include "policy/policy.h"
#include "request/preset.h"
#include "sys/fd.h"

namespace coop::cli {

namespace {

using policy::LoginKind;
using policy::Preset;

constexpr std::size_t kLargest = std::size_t{1} << 20;

struct Place {
  Path state{};
  Path host_home{};
  std::string name{};  // of the kept home
};

// Without symlinks: a sandbox that could write there may have pointed one at another secret.
Result<UniqueFd> open_login(const Path& home, const std::string& file) {
  const UniqueFd directory = TRY(open_file(home, O_PATH | O_DIRECTORY));
  UniqueFd opened = TRY(open_beneath(directory.get(), file, O_RDONLY | O_NONBLOCK));
  struct stat status{};
  if (::fstat(opened.get(), &status) < 0) return system_error("fstat", join(home, file));
  if (!S_ISREG(status.st_mode))
    return invalid("login", "\"" + printable(join(home, file)) + "\" is no regular file");
  return opened;
}

// The preset's files that the user has.
std::vector<std::string> present(const Preset& preset, const Path& home) {
  std::vector<std::string> files;
  for (const std::string& file : preset.login.files)
    if (open_login(home, file)) files.push_back(file);
  return files;
}

std::string shown(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back("~/" + printable(file));
  return joined(names, ", ");
}

Result<void> copy(const Place& place, const std::vector<std::string>& files, const Path& workspace,
                  RunLog& log) {
  const UniqueFd held = TRY(host::hold_home(place.state, place.name, workspace));
  for (const std::string& file : files) {
    const UniqueFd source = TRY(open_login(place.host_home, file));
    const std::string contents = TRY(read_all(source.get(), join(place.host_home, file), kLargest));
    TRY(with_context("copying the login",
                     host::put_in_home(place.state, place.name, file, contents)));
  }
  log.say("copied " + shown(files) + " into the home " + place.name);
  return {};
}

// Once for each home: a "no" is remembered.
bool asked_before(const Place& place) {
  const Path mark = join(parent_of(host::kept_home(place.state, place.name)), "asked");
  const Result<UniqueFd> file = open_file(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  return !file && file.error().errno_value == EEXIST;
}

bool is_at_terminal(const Options& options) {
  return !options.json && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool agreed(const Preset& preset, const std::vector<std::string>& files) {
  std::cerr << "coop: " << preset.title << " has no login in this sandbox's home yet. Copy yours ("
            << shown(files) << ") there? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// A key in the environment makes a login needless.
bool has_key(const Preset& preset, const Policy& policy) {
  for (const std::string& name : policy.pass_environment)
    if ((name.ends_with("_KEY") || name.ends_with("_TOKEN")) && ::getenv(name.c_str()) != nullptr)
      return true;
  return preset.login.files.empty();
}

Result<void> import_login(const Preset& preset, const Place& place, const Path& workspace,
                          RunLog& log) {
  const std::vector<std::string> files = present(preset, place.host_home);
  if (preset.login.kind == LoginKind::fresh)
    return invalid("--import-login", preset.title + ": " + preset.login.why,
                   "log in inside: it is needed once for each home (--home NAME shares one)");
  if (files.empty())
    return invalid("--import-login",
                   "there is no login of " + preset.title + " to copy: " +
                       (preset.login.files.empty() ? "its preset lists no file"
                                                   : shown(preset.login.files) + " is not there"),
                   "log in outside first, or log in inside");
  return copy(place, files, workspace, log);
}

}  // namespace

Result<void> provide_login(const Request& request, RunLog& log) {
  const Options& options = request.options;
  const bool kept = request.policy.home.kind == HomeKind::kept;
  if (!request.preset || !kept) {
    if (!options.import_login) return {};
    return invalid("--import-login",
                   request.preset ? "this sandbox has no home that is kept"
                                  : "the command is no agent that coop knows",
                   request.preset ? "leave --home out, or give it a name"
                                  : "`coop presets` lists them; --preset NAME chooses one");
  }
  const HostFacts host = TRY(host::probe(host::Depth::quick));
  const Preset& preset = request.preset->preset;
  const Place place{host.state_directory, host.home, request.policy.home.name};
  const Path workspace = request::real_workspace(host, request.policy.workspace);
  if (options.import_login) return import_login(preset, place, workspace, log);
  if (!is_at_terminal(options) || has_key(preset, request.policy) ||
      request::has_login(preset, host::kept_home(place.state, place.name)))
    return {};
  const std::vector<std::string> files = present(preset, place.host_home);
  if (preset.login.kind == LoginKind::copy && !files.empty()) {
    const UniqueFd held = TRY(host::hold_home(place.state, place.name, workspace));
    if (asked_before(place) || !agreed(preset, files)) return {};
    return copy(place, files, workspace, log);
  }
  if (preset.login.kind == LoginKind::fresh)
    log.say(preset.title + " logs in inside, once for this project's home: " + preset.login.why);
  return {};
}

}  // namespace coop::cli
