#include "cli/config_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/policy_sources.h"
#include "host/policy_files.h"
#include "sys/fd.h"

namespace coop::cli {

namespace {

Result<std::string> read_config_text(const Path& path) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input");
  const std::optional<std::string> text = TRY(host::read_policy_file(path, host::Keeper::anyone));
  if (text) return *text;
  return system_error_of(ENOENT, "open", path);
}

Result<void> check_role(const Role& role) {
  const int named =
      (role.user.empty() ? 0 : 1) + (role.sender.empty() ? 0 : 1) + (role.cron.empty() ? 0 : 1);
  if (named > 1) return invalid("--as, --channel, --cron", "more than one of them is given");
  if (role.conversation == policy::Conversation::group && role.sender.empty() && role.user.empty())
    return invalid("--group", "says nothing without --channel or --as");
  return {};
}

Result<void> choose(Casting& casting, const Role& role) {
  casting.someone = true;
  if (!role.sender.empty()) {
    casting.principal =
        principal_of_sender(casting.config, role.sender, role.conversation, casting.agent);
    return {};
  }
  std::string name = role.user;
  if (!role.cron.empty()) {
    casting.cron = TRY(find_cron(casting.config, role.cron));
    name = casting.cron->user;
    if (name.empty()) {
      casting.principal.reason = "the job names no user: public";
      return {};
    }
  }
  if (name.empty()) {
    casting.someone = false;
    return {};
  }
  casting.principal = TRY(principal_of_user(casting.config, name, role.conversation));
  return {};
}

}  // namespace

Result<Path> find_config(const HostFacts& facts, const std::string& given) {
  if (given == "-") return Path("-");
  if (!given.empty()) return given.starts_with('/') ? given : join(facts.working_directory, given);
  const Path here = join(facts.working_directory, "coop.toml");
  const Path usual = join(parent_of(host::policy_places(facts, {}).user), "coop.toml");
  for (const Path& path : {here, usual})
    if (::access(path.c_str(), F_OK) == 0) return path;
  return invalid("coop.toml", "there is none here, and none at " + printable(usual),
                 "name one with --config FILE");
}

Result<policy::Config> load_config(const HostFacts& facts, const Path& path,
                                   policy::Findings& findings) {
  const std::string text = TRY(with_context("reading the configuration", read_config_text(path)));
  const Path base = path == "-" ? facts.working_directory : parent_of(path);
  return policy::read_config(text, path == "-" ? "standard input" : path,
                             surroundings_of(facts, base), findings);
}

std::vector<policy::Layer> Casting::layers() const {
  return layers_of(config, agent, principal.user, cron);
}

Path Casting::workspace() const {
  if (agent != nullptr && !agent->workspace.empty()) return agent->workspace;
  const auto found = config.sandbox.find(policy::Key::workspace);
  const std::string* const path =
      found == config.sandbox.end() ? nullptr : std::get_if<std::string>(&found->second.value);
  return path == nullptr ? Path{} : *path;
}

Result<std::unique_ptr<Casting>> cast(const HostFacts& facts, const Role& role) {
  TRY(check_role(role));
  const Path path = TRY(find_config(facts, role.config));
  auto casting = std::make_unique<Casting>();
  policy::Findings findings;
  casting->config = TRY(load_config(facts, path, findings));
  if (policy::has_errors(findings)) return std::unexpected(to_error(findings));
  casting->agent = TRY(find_agent(casting->config, role.agent));
  TRY(choose(*casting, role));
  return casting;
}

}  // namespace coop::cli
