#include "request/acting_as.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "host/files/policy_files.h"
#include "request/sources.h"
#include "sys/fd.h"

namespace coop::request {

namespace {

Result<void> check_role(const Role& role) {
  const int named =
      (role.user.empty() ? 0 : 1) + (role.sender.empty() ? 0 : 1) + (role.cron.empty() ? 0 : 1);
  if (named > 1) return invalid("--as, --channel, --cron", "more than one of them is given");
  if (role.conversation == Conversation::group && role.sender.empty() && role.user.empty())
    return invalid("--group", "has no effect without --channel or --as");
  return {};
}

Result<void> choose(ActingAs& acting_as, const Role& role) {
  acting_as.someone = true;
  if (!role.sender.empty()) {
    acting_as.principal =
        principal_of_sender(*acting_as.config, role.sender, role.conversation, acting_as.agent);
    return {};
  }
  std::string name = role.user;
  if (!role.cron.empty()) {
    acting_as.cron = TRY(find_cron(*acting_as.config, role.cron));
    name = acting_as.cron->user;
    if (name.empty()) {
      acting_as.principal.reason = "the job names no user: public";
      return {};
    }
  }
  if (name.empty()) {
    acting_as.someone = false;
    return {};
  }
  acting_as.principal = TRY(principal_of_user(*acting_as.config, name, role.conversation));
  return {};
}

}  // namespace

Result<Path> find_config(const HostFacts& facts, const std::string& given) {
  if (given == "-") return Path("-");
  if (!given.empty()) return given.starts_with('/') ? given : join(facts.working_directory, given);
  // Never the one of the current directory: it may be a stranger's repository, and the file says who is trusted.
  const Path usual = join(parent_of(host::policy_places(facts, {}).user), "coop.toml");
  struct stat status{};
  if (::lstat(usual.c_str(), &status) == 0) return usual;
  const bool here = ::access(join(facts.working_directory, "coop.toml").c_str(), F_OK) == 0;
  return invalid(
      "coop.toml", "there is none at " + printable(usual),
      here ? "the one of this directory is taken only if it is named: --config ./coop.toml"
           : "name one with --config FILE");
}

Result<std::string> read_config_text(const Path& path, host::RequiredOwner owner) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input", host::kLargestPolicyFile);
  const std::optional<std::string> text = TRY(host::read_policy_file(path, owner));
  if (text) return *text;
  return system_error_of(ENOENT, "open", path);
}

Result<policy::Config> load_config(const HostFacts& facts, const Path& path,
                                   policy::Findings& findings) {
  const std::string text = TRY(with_context("reading the configuration", read_config_text(path)));
  const Path base = path == "-" ? facts.working_directory : parent_of(path);
  return policy::read_config(text, path == "-" ? "standard input" : path,
                             surroundings_of(facts, base), findings);
}

std::vector<policy::Layer> ActingAs::layers() const {
  return layers_of(*config, agent, principal.user, cron);
}

Path ActingAs::workspace() const {
  if (agent != nullptr && !agent->workspace.empty()) return agent->workspace;
  return Path(word_of(config->sandbox, policy::Key::workspace));
}

Result<std::unique_ptr<ActingAs>> act_as(const HostFacts& facts, const Role& role,
                                         std::shared_ptr<const policy::Config> loaded) {
  TRY(check_role(role));
  auto acting_as = std::make_unique<ActingAs>();
  if (!loaded) {
    const Path path = TRY(find_config(facts, role.config));
    policy::Findings findings;
    policy::Config config = TRY(load_config(facts, path, findings));
    if (policy::has_errors(findings)) return std::unexpected(to_error(findings));
    loaded = std::make_shared<const policy::Config>(std::move(config));
  }
  acting_as->config = std::move(loaded);
  acting_as->agent = TRY(find_agent(*acting_as->config, role.agent));
  TRY(choose(*acting_as, role));
  return acting_as;
}

}  // namespace coop::request
