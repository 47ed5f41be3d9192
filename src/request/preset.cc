#include "request/preset.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/sha256.h"
#include "base/text.h"
#include "policy/builtin.h"
#include "request/sources.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::request {

namespace {

using policy::Key;

bool is_there(const Path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

// ".../node_modules/@openai/codex/…", or the same of another manager: ".../site-packages/aider/…".
bool is_in_package(const Path& real, const policy::Preset& preset) {
  return std::ranges::any_of(preset.packages, [&](const std::string& package) {
    return real.contains("/node_modules/" + package + "/") ||
           real.contains("/site-packages/" + package + "/") ||
           real.contains("/tools/" + package + "/") || real.contains("/venvs/" + package + "/");
  });
}

// A virtual environment of the user's, in the home: elsewhere another user may have made it look like one.
bool is_environment(const Path& directory, const Path& home) {
  struct stat status{};
  return is_within(directory, home) && directory != home &&
         ::lstat(join(directory, "pyvenv.cfg").c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid();
}

// The directory that has the packages it may load, or the virtual environment it is of; of another program only the file: what
// lies beside it may be the user's documents.
Path needed_for(const Path& real, const Path& home) {
  constexpr std::string_view kModules = "/node_modules/";
  const std::size_t modules = real.find(kModules);
  if (modules != Path::npos) return real.substr(0, modules + kModules.size() - 1);
  const Path around = parent_of(parent_of(real));
  return is_environment(around, home) ? around : real;
}

bool is_listed(const Path& path, const HostFacts& facts) {
  return std::ranges::any_of(policy::home_list(), [&](const policy::NamedReason& listed) {
    return is_within(path, policy::expand_home(listed.name, facts.home));
  });
}

// Of homes only listed places are there, and these directories are empty inside.
bool needs_grant(const Path& path, const HostFacts& facts) {
  constexpr std::array<std::string_view, 7> kReplaced{"/home", "/root", "/tmp",  "/var/tmp",
                                                      "/run",  "/mnt",  "/media"};
  const Path home = real_path(facts.home).value_or(facts.home);
  const bool replaced =
      is_within(path, facts.home) || is_within(path, home) ||
      std::ranges::any_of(kReplaced, [&](std::string_view tree) { return is_within(path, tree); });
  return replaced && !is_listed(path, facts);
}

void add_readable(policy::Settings& settings, const Path& path, const Origin& origin) {
  policy::Setting& setting = settings[Key::readable_paths];
  setting.origin = origin;
  setting.items.push_back(
      policy::Item{.text = path, .path = path, .if_missing = Missing::skip, .origin = origin});
}

// What the sandbox needs to see so that the program starts; and by which path it is started.
Path show_program(const Program& program, const HostFacts& facts, policy::Preset& preset) {
  const Origin origin{.scope = Scope::preset, .file = preset.name};
  if (needs_grant(program.real, facts))
    add_readable(preset.settings,
                 needed_for(program.real, real_path(facts.home).value_or(facts.home)), origin);
  return needs_grant(program.found, facts) ? program.real : program.found;
}

bool is_free(std::uint16_t port) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return socket.valid() &&
         ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

bool has_login(const policy::Preset& preset, const Path& home) {
  const Result<UniqueFd> directory = open_file(home, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return directory && std::ranges::any_of(preset.login.files, [&](const std::string& file) {
           return open_beneath(directory->get(), file, O_PATH | O_NOFOLLOW).has_value();
         });
}

void publish_login_ports(Applied& applied, const Path& home, std::vector<std::string>& notes) {
  if (has_login(applied.preset, home)) return;
  const Origin origin{.scope = Scope::preset, .file = applied.preset.name, .name = "login"};
  for (const std::uint16_t port : applied.preset.login.ports) {
    if (!is_free(port)) {
      notes.push_back("port " + std::to_string(port) + " is not open for a login of " +
                      applied.preset.title +
                      ": another program has it, and would get what the browser sends there");
      continue;
    }
    policy::Setting& setting = applied.layer.settings[Key::network_publish];
    setting.origin = origin;
    setting.items.push_back(
        policy::Item{.text = "127.0.0.1:" + std::to_string(port) + ":" + std::to_string(port),
                     .published = PublishedPort{.host = port, .sandbox = port, .origin = origin},
                     .origin = origin});
  }
}

std::string preset_home(const policy::Preset& preset, const Path& workspace) {
  constexpr std::size_t kLongest = 24;
  std::string slug;
  for (const char c : name_of(workspace)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (kept) slug += c;
    else if (!slug.empty() && slug.back() != '-') slug += '-';
    if (slug.size() == kLongest) break;
  }
  while (slug.ends_with('-')) slug.pop_back();
  return preset.name + "-" + (slug.empty() ? "" : slug + "-") + sha256_hex(workspace).substr(0, 20);
}

Result<std::optional<Applied>> find_preset(const PresetChoice& choice,
                                           const std::vector<std::string>& command,
                                           const WritableTrees& writable, const HostFacts& facts,
                                           std::vector<std::string>& notes) {
  using How = PresetChoice::How;
  if (choice.how == How::off || (choice.how == How::by_program && command.empty()))
    return std::nullopt;
  const bool by_name = choice.how == How::by_name;
  const policy::ShippedPreset* shipped = by_name
                                             ? policy::find_preset(choice.name)
                                             : policy::preset_for_command(name_of(command.front()));
  if (shipped == nullptr && by_name) return policy::unknown_preset("--preset", choice.name);
  if (shipped == nullptr) return std::nullopt;

  std::optional<Program> program;
  if (!command.empty()) program = find_program(command.front(), facts);
  if (!by_name) {
    if (!program) return std::nullopt;
    if (const std::optional<std::string> reason = why_not_trusted(*program, writable, facts)) {
      notes.push_back("no preset \"" + std::string(shipped->name) + "\": " + *reason);
      return std::nullopt;
    }
  }
  policy::Findings findings;
  Applied applied{.preset = policy::read_preset(
                      *shipped, surroundings_of(facts, facts.working_directory), findings),
                  .command = command};
  if (policy::has_errors(findings)) return std::unexpected(policy::to_error(findings));
  policy::Preset& preset = applied.preset;
  if (!by_name && preset.recognition == policy::Recognition::by_package &&
      !is_in_package(program->real, preset)) {
    notes.push_back("no preset \"" + preset.name + "\": other programs are called " +
                    printable(name_of(command.front())) + " too; if it is " + preset.title +
                    ": --preset " + preset.name);
    return std::nullopt;
  }
  if (program && !why_not_trusted(*program, writable, facts))
    applied.command.front() = show_program(*program, facts, preset);
  const bool is_agent = !command.empty() && contains(preset.commands, name_of(command.front()));
  if (is_agent && policy::mentions(std::span(command).subspan(1), preset.arguments))
    notes.push_back("the arguments choose about " + preset.title +
                    "'s own sandbox: " + preset.own_sandbox);
  else if (is_agent)
    applied.command.insert(applied.command.begin() + 1, preset.arguments.add.begin(),
                           preset.arguments.add.end());
  // Some encrypt what they store with the name of the host.
  preset.settings.try_emplace(
      Key::hostname, policy::Setting{.value = "coop-" + preset.name,
                                     .origin = {.scope = Scope::preset, .file = preset.name}});
  preset.settings.try_emplace(
      Key::home, policy::Setting{.value = preset_home(preset, writable.workspace),
                                 .origin = {.scope = Scope::preset, .file = preset.name}});
  applied.layer = {Scope::preset, preset.settings};
  return applied;
}

}  // namespace coop::request
