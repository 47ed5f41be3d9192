#include "run/prepare.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>

#include <array>

#include "base/path.h"
#include "host/probe.h"
#include "host/workspace.h"
#include "plan/compile.h"
#include "policy/builtin.h"

namespace coop::run {

namespace {

Result<Path> canonical(const Path& path) {
  std::array<char, PATH_MAX> buffer;
  if (::realpath(path.c_str(), buffer.data()) == nullptr) return system_error("realpath", path);
  return Path(buffer.data());
}

// The user's rules come after the built-in ones, so that for the same path they win.
Result<void> complete(Policy& policy, const HostFacts& host) {
  if (policy.session.empty()) policy.session = new_session();
  policy.workspace = normalize(policy.workspace.empty() ? "." : policy.workspace, host.working_directory);
  policy.workspace = TRY(with_context("opening the workspace", canonical(policy.workspace)));
  std::vector<PathRule> rules = policy::secret_rules(host.home);
  rules.push_back(PathRule{.kind = RuleKind::hide,
                           .path = host.state_directory,
                           .if_missing = Missing::skip,
                           .origin = "built-in secrets",
                           .reason = "coop's own state"});
  for (PathRule& rule : policy.rules) {
    rule.path = normalize(policy::expand_home(rule.path, host.home), host.working_directory);
    rules.push_back(std::move(rule));
  }
  policy.rules = std::move(rules);
  return {};
}

bool wants_group(const Policy& policy, const HostFacts& host) {
  const Limits& limits = policy.limits;
  return limits.memory || limits.milli_cpus || (limits.pids && host.uid == 0) ||
         (limits.pids && limits.pids != Limits{}.pids);
}

Result<WorkspaceFacts> look_through(const Policy& policy) {
  if (policy.workspace_access == Access::read_only) return WorkspaceFacts{};
  const std::vector<std::string> names = TRY(policy::guard_names(policy.allow_guarded));
  return with_context("looking through the workspace",
                      host::inspect_workspace(policy.workspace, names));
}

}  // namespace

std::string new_session() {
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::array<unsigned char, 8> random{};
  // A failure leaves zeros: a session called "aaaaaaaa" collides only with its like.
  [[maybe_unused]] const ssize_t got = ::getrandom(random.data(), random.size(), 0);
  std::string session;
  for (const unsigned char byte : random) session += kLetters[byte % kLetters.size()];
  return session;
}

Result<Prepared> prepare(Policy policy) {
  HostFacts host = TRY(host::probe(host::Depth::quick));
  TRY(complete(policy, host));
  TRY(host::inspect_mounts(host));
  host::inspect_sockets(host);
  host::inspect(host, plan::wanted_paths(policy, host));
  host::inspect(host, plan::wanted_aliases(policy, host));
  if (wants_group(policy, host)) host::inspect_cgroups(host);
  host.workspace = TRY(look_through(policy));

  Prepared prepared;
  prepared.plan = TRY(plan::compile(policy, host));
  prepared.before.resize(prepared.plan.guards.roots.size());
  if (!prepared.before.empty()) prepared.before.front() = host.workspace;
  for (std::size_t index = 1; index < prepared.before.size(); ++index)
    prepared.before[index] = host.workspace;
  prepared.quarantine = join(join(host.state_directory, "quarantine"), policy.session);
  return prepared;
}

}  // namespace coop::run
