#include "cli/options_policy.h"

#include <algorithm>
#include <optional>

#include "base/path.h"
#include "host/probe.h"
#include "policy/apply.h"
#include "policy/builtin.h"

namespace coop::cli {

namespace {

Result<void> add_caches(Policy& policy, const std::vector<std::string>& names, std::size_t before) {
  if (names.empty()) return {};
  const HostFacts facts = TRY(surroundings());
  std::vector<PathRule> rules;
  for (const std::string& name : names) {
    const std::vector<PathRule> cache =
        TRY(policy::cache_rules(name, facts.home, facts.environment));
    rules.insert(rules.end(), cache.begin(), cache.end());
  }
  // Before the command line's own rules: a --ro or --hide of the same path wins.
  policy.rules.insert(policy.rules.begin() + static_cast<std::ptrdiff_t>(before), rules.begin(),
                      rules.end());
  return {};
}

// Commands are for those who may use bash; the tools of the others are not programs.
Result<void> check_trust(const Casting& casting) {
  const policy::Principal& principal = casting.principal;
  if (!casting.someone || policy::may_use(principal.trust, "bash")) return {};
  return invalid(
      "trust",
      std::string(to_text(principal.trust)) + " may not run commands (" + principal.reason + ")",
      "commands need the trust inner, full or owner; see `coop trust`");
}

// Whoever can write the file says who is trusted. In the workspace that is the command, or whoever wrote the
// repository: then it has to be named.
Result<void> check_place(const Casting& casting, const Role& role, const HostFacts& facts,
                         const Path& workspace) {
  const Path file = real_workspace(facts, casting.config.file);
  if (!role.config.empty() || workspace.empty() || !is_within(file, workspace)) return {};
  return invalid("coop.toml", "\"" + printable(file) + "\" lies in the workspace",
                 "if you trust it, say --config " + printable(file));
}

// The files that rule this sandbox, wherever symlinks keep them, are not the sandbox's to write.
void protect(Policy& policy, const HostFacts& facts, const Path& file) {
  const Path real = real_workspace(facts, file);
  if (!real.empty())
    policy.rules.push_back(PathRule{.kind = RuleKind::protect,
                                    .path = real,
                                    .if_missing = Missing::skip,
                                    .origin = "built-in policy files",
                                    .reason = "it rules this sandbox"});
}

Path workspace_of(const policy::Settings& settings) {
  const auto found = settings.find(policy::Key::workspace);
  const std::string* text =
      found == settings.end() ? nullptr : std::get_if<std::string>(&found->second.value);
  return text == nullptr ? Path() : *text;
}

// The organisation's word on what is mandatory stands above that of the person at the keyboard, so no
// file of theirs is left out, not even by a flag.
Result<Policy> policy_of_files(Request& request, const HostFacts& facts, const Path& workspace,
                               const policy::Settings& added) {
  const PolicySources sources = TRY(read_policy_sources(facts, workspace));
  TRY(check_sources(sources));
  if (!sources.any() && !request.casting && added.empty()) return Policy{};
  std::vector<policy::Layer> layers = sources.layers();
  if (request.casting)
    for (policy::Layer& layer : request.casting->layers()) layers.push_back(std::move(layer));
  if (!added.empty()) layers.push_back({policy::Scope::program, added});
  request.effective = policy::merge(layers, sources.approval);
  if (request.casting) policy::add_gateway_defaults(request.effective);
  Policy policy = TRY(policy::policy_from(request.effective, surroundings_of(facts, workspace)));
  for (const PolicySource& file : sources.files)
    if (file.text && file.scope != policy::Scope::project) protect(policy, facts, file.path);
  if (request.casting) protect(policy, facts, request.casting->config.file);
  return policy;
}

bool is_confirmed(const Request& request, const SocketRule& socket) {
  constexpr std::string_view kWord = "control_sockets";
  const std::vector<std::string>& flags = request.options.unsafe;
  if (std::ranges::find(flags, kWord) != flags.end()) return true;
  if (socket.origin.starts_with("--")) return false;
  const auto words = request.effective.settings.find(policy::Key::unsafe_grants);
  return words != request.effective.settings.end() &&
         std::ranges::find(words->second.items, kWord, &policy::Item::text) !=
             words->second.items.end();
}

// By its own name a socket may look harmless and be a symlink to one that is not.
Result<void> check_real_sockets(const Request& request, const HostFacts& facts) {
  for (const SocketRule& socket : request.policy.sockets) {
    const Path real = real_workspace(facts, policy::expand_home(socket.path, facts.home));
    const std::optional<std::string> reason = policy::control_socket_reason(real);
    if (reason && !is_confirmed(request, socket))
      return invalid(socket.origin,
                     "\"" + printable(socket.path) + "\" is \"" + printable(real) +
                         "\", which controls this machine: " + *reason,
                     socket.origin.starts_with("--")
                         ? "add --unsafe control_sockets if that is meant"
                         : "add unsafe = [\"control_sockets\"] if that is meant");
  }
  return {};
}

// With whole paths of sockets: the organisation's file names no others.
Result<void> check_against_organisation(const Request& request, const HostFacts& facts) {
  Policy policy = request.policy;
  for (SocketRule& socket : policy.sockets)
    socket.path = normalize(policy::expand_home(socket.path, facts.home), facts.working_directory);
  return policy::check_ceiling(policy, request.effective.ceiling);
}

}  // namespace

Result<Request> read_request(Arguments arguments, Purpose purpose, const policy::Settings& added) {
  Request request{.options = TRY(parse(arguments))};
  if (request.options.help) return request;
  const HostFacts facts = TRY(surroundings());
  if (request.options.role.any()) {
    request.casting = TRY(cast(facts, request.options.role));
    if (purpose == Purpose::command) TRY(check_trust(*request.casting));
  }
  Path wanted = request.options.policy.workspace;
  if (wanted.empty() && request.casting) wanted = request.casting->workspace();
  if (wanted.empty()) wanted = workspace_of(added);
  const Path workspace = real_workspace(facts, wanted);
  if (request.casting) TRY(check_place(*request.casting, request.options.role, facts, workspace));
  Policy base = TRY(policy_of_files(request, facts, workspace, added));
  base.workspace = wanted;
  const std::size_t rules = base.rules.size();
  request.options = TRY(parse(arguments, std::move(base)));
  request.policy = request.options.policy;
  TRY(add_caches(request.policy, request.options.caches, rules));
  TRY(check_real_sockets(request, facts));
  TRY(check_against_organisation(request, facts));
  if (request.options.command.empty() && request.casting && request.casting->cron != nullptr &&
      !request.casting->cron->command.empty())
    request.options.command = {"/bin/sh", "-c", request.casting->cron->command};
  return request;
}

}  // namespace coop::cli
