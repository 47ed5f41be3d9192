#include "plan/compile.h"

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "base/wildcard.h"
#include "plan/environment.h"
#include "plan/landlock/rights.h"
#include "plan/limits/limits.h"
#include "plan/network/network.h"
#include "plan/seccomp/profile.h"
#include "plan/view/layout.h"
#include "policy/builtin.h"
#include "policy/variables.h"

namespace coop::plan {

namespace {

Result<void> check_environment(const Policy& policy) {
  for (const auto& [name, value] : policy.set_environment)
    TRY(policy::check_variable(name, "set_environment", policy.unsafe_environment));
  for (const std::string& name : policy.pass_environment) {
    if (has_wildcard(name))
      return invalid("pass_environment", in_quotes(name) + " is not the name of a variable",
                     "--pass-env takes wildcards; policies and policy files name each variable");
    TRY(policy::check_variable(name, "pass_environment", policy.unsafe_environment));
  }
  return {};
}

// Taken literally, a pattern would name a missing file, and restrict nothing.
Result<void> check_patterns(const Policy& policy) {
  for (const PathRule& rule : policy.rules)
    if (rule.pattern)
      return std::unexpected(Error{
          .kind = Error::Kind::internal,
          .subject = "the pattern " + in_quotes(rule.path) + " was not matched before planning",
          .origin = rule.origin});
  return {};
}

std::unexpected<Error> lacks_namespace(const HostFacts& host, const char* name, const char* word) {
  const auto found = host.namespaces.find(name);
  const Feature feature = found == host.namespaces.end() ? Feature{} : found->second;
  const std::string reason = feature.reason.empty() ? std::string() : ": " + feature.reason;
  return unsupported("plan", std::string(word) + " namespaces are not available" + reason,
                     feature.fix.empty() ? "see `coop status`" : feature.fix);
}

Result<void> check_host(const Policy& policy, const HostFacts& host) {
  if (host.kernel < KernelVersion{5, 13})
    return unsupported("plan", "kernel " + host.kernel_release + " is older than 5.13",
                       "coop needs mount_setattr (5.12) and Landlock's kernel (5.13)");
  for (const char* name : {"user", "mount", "pid", "ipc", "uts"})
    if (!host.namespace_available(name)) return lacks_namespace(host, name, name);
  if (policy.network != NetworkMode::host && !host.namespace_available("net"))
    return lacks_namespace(host, "net", "network");
  if (!policy.hostname.empty() && !host.hostname.available)
    return unsupported(origin_of(policy, "hostname", "--hostname"),
                       "the host name cannot be set: " + host.hostname.reason, host.hostname.fix);
  if (policy.time_offset && !host.namespace_available("time"))
    return unsupported("plan --time-offset", "time namespaces are not available",
                       "they came with Linux 5.6 and need CONFIG_TIME_NS");
  return {};
}

void add_namespaces(Plan& plan, const Policy& policy, const HostFacts& host) {
  plan.namespaces = {"user", "mount", "pid", "ipc", "uts"};
  if (policy.network != NetworkMode::host) plan.namespaces.emplace_back("net");
  if (host.namespace_available("cgroup")) plan.namespaces.emplace_back("cgroup");
  if (policy.time_offset) plan.namespaces.emplace_back("time");
  const bool root = policy.identity == Identity::root;
  plan.add(MapIds{host.uid, host.gid, root ? 0 : host.uid, root ? 0 : host.gid},
           Origin::of_flag(root ? "--as-root" : "--as-self"),
           "only this id is mapped, and it gains no privileges");
  if (policy.time_offset)
    plan.add(OffsetClocks{*policy.time_offset}, origin_of(policy, "time_offset", "--time-offset"),
             "asked for");
  if (policy.network != NetworkMode::host)
    plan.add(RaiseLoopback{}, origin_of(policy, "network", "--network", to_text(policy.network)),
             "programs may use localhost");
  add_shared_limits(plan, policy, host);
  add_network(plan, policy, host);
  if (host.hostname.available)
    plan.add(
        SetHostname{hostname_of(policy, host)},
        policy.hostname.empty() ? Origin::of_coop() : origin_of(policy, "hostname", "--hostname"),
        "shows in prompts and logs that this is a sandbox");
  else
    plan.notes.push_back("the host name inside is " + in_quotes(host.node_name) +
                         ", as outside: " + host.hostname.reason);
  if (policy.network == NetworkMode::host)
    plan.notes.push_back(
        "unsafe.host_network: the sandbox shares the host's network, its localhost services "
        "included" +
        std::string(host.landlock_abi >= 6 ? "" : ", and its abstract sockets"));
}

// The .git file of a submodule has a relative path, and the workspace is at another path in this
// view.
void note_submodule(Plan& plan, const Policy& policy, const HostFacts& host) {
  const bool submodule = std::ranges::any_of(host.workspace.outside_git, [](const Path& git) {
    return git.find("/modules/") != Path::npos;
  });
  if (submodule && policy.view == View::minimal)
    plan.notes.emplace_back(
        "the workspace is a submodule: git finds its repository only with --view host");
}

Result<void> add_mounts(Plan& plan, const Policy& policy, const HostFacts& host) {
  std::vector<Entry> entries;
  add_base(entries, policy, host);
  add_name_files(entries, policy, host, plan.notes);
  if (policy.view == View::host && policy.home_view == HomeView::listed)
    add_host_accounts(entries, policy, host);
  add_devices(entries, host);
  TRY(add_proc(entries, policy, host, plan.notes));
  TRY(add_workspace(entries, policy, host));
  note_submodule(plan, policy, host);
  TRY(check_home(policy, host));
  add_home(entries, policy, host, plan.notes);
  TRY(add_caches(entries, policy, host));
  TRY(add_rules(entries, policy, host, plan.notes));
  TRY(add_socket_grants(entries, policy, host));
  TRY(add_protected(entries, policy, host, plan.notes));
  plan.guards = TRY(add_guards(entries, policy, host, plan.notes));
  add_sockets(entries, policy, host);
  add_pins(entries);
  std::vector<Step> steps = TRY(lay_out(entries, policy.view, host));
  for (Step& step : steps) plan.steps.push_back(std::move(step));
  plan.add(EnterRoot{}, Origin::of_coop(Part::namespaces),
           "the host's tree is detached and cannot be reached again");
  return {};
}

Result<void> add_landlock(Plan& plan, const Policy& policy, const HostFacts& host) {
  if (host.landlock_abi >= landlock::kOldestUsefulAbi) {
    plan.add(landlock::rules_for(host.landlock_abi, plan.steps), Origin::of_coop(),
             "the same file rules again, enforced by another mechanism");
    return {};
  }
  const std::string reason =
      host.landlock_abi == 0
          ? "the kernel has no Landlock (or it is not in the lsm= list)"
          : "the kernel's Landlock ABI 1 forbids every rename between directories";
  if (policy.need(Mechanism::landlock) == Need::required)
    return unsupported("plan landlock", reason,
                       "boot with lsm=landlock,… or use a kernel from 5.19");
  plan.notes.push_back("landlock: not applied, " + reason + " (policy: best_effort)");
  return {};
}

std::string profile_of(const Policy& policy) {
  const bool debug = policy.debugging == Debugging::allowed;
  if (policy.mptcp == Mptcp::allowed) return debug ? "mptcp" : "mptcp-no-debug";
  return debug ? "default" : "no-debug";
}

Result<void> add_confinement(Plan& plan, const Policy& policy, const HostFacts& host) {
  TRY(add_limits(plan, policy, host));
  plan.add(DropCapabilities{}, Origin::of_coop(),
           "bounding, ambient and all other sets; securebits locked");
  plan.add(NoNewPrivileges{}, Origin::of_coop(),
           "setuid programs and file capabilities give nothing");
  plan.add(Verify{Verify::What::sealed_root}, Origin::of_coop(),
           "looks whether / refuses a new entry");
  TRY(add_landlock(plan, policy, host));
  const bool as_root = policy.identity == Identity::root;
  plan.add(RefuseForeignIds{as_root ? 0 : host.uid, as_root ? 0 : host.gid}, Origin::of_coop(),
           "fakeroot and tar expect it; the kernel says EINVAL for ids that are not mapped");
  plan.add(InstallSeccomp{profile_of(policy)},
           Origin::of_flag(policy.debugging == Debugging::allowed ? "--debug" : "--no-debug"),
           "an allow-list of system calls");
  plan.add(Verify{Verify::What::no_capabilities}, Origin::of_coop(),
           "looks whether every set is empty");
  plan.add(Verify{Verify::What::no_new_privs}, Origin::of_coop(), "looks whether the bit is set");
  plan.add(Verify{Verify::What::seccomp_filter}, Origin::of_coop(),
           "looks whether a filter is in force");
  return {};
}

}  // namespace

std::string hostname_of(const Policy& policy, const HostFacts& host) {
  if (!host.hostname.available) return host.node_name;
  return policy.hostname.empty() ? "coop-" + policy.id : policy.hostname;
}

Result<Plan> begin(const Policy& policy, const HostFacts& host) {
  TRY(check_host(policy, host));
  TRY(check_environment(policy));
  TRY(check_network(policy, host));
  TRY(check_patterns(policy));
  Plan plan;
  plan.notes = policy.notes;
  plan.id = policy.id;
  add_namespaces(plan, policy, host);
  return plan;
}

Result<Plan> compile(const Policy& policy, const HostFacts& host) {
  Plan plan = TRY(begin(policy, host));
  plan.view = policy.view;
  plan.limits = policy.limits;
  plan.workspace = workspace_target(policy);
  plan.directory = policy.directory.value_or(plan.workspace);
  plan.environment = environment_for(policy, host);
  add_proxy_variables(plan.environment, policy);
  TRY(add_mounts(plan, policy, host));
  TRY(add_confinement(plan, policy, host));
  return plan;
}

std::vector<Path> wanted_paths(const Policy& policy, const HostFacts& host) {
  std::vector<Path> paths = base_paths(policy.view, host);
  paths.push_back(policy.workspace);
  if (policy.home.kind == HomeKind::kept) paths.push_back(kept_home(host, policy.home.name));
  for (Path& path : home_paths(policy, host)) paths.push_back(std::move(path));
  for (const char* path : {"/etc/coop", "/etc/passwd", "/etc/group"}) paths.emplace_back(path);
  for (const Path& path : own_directories(host)) paths.push_back(path);
  for (const PathRule& rule : policy.rules) paths.push_back(rule.path);
  for (const SocketRule& socket : policy.sockets) paths.push_back(socket.path);
  for (const char* path : kNameFiles) paths.emplace_back(path);
  for (const auto* trees : {&policy.bounds.workspaces, &policy.bounds.readable,
                            &policy.bounds.writable, &policy.bounds.tmpfs})
    if (*trees) paths.insert(paths.end(), (*trees)->begin(), (*trees)->end());
  return paths;
}

std::vector<Path> wanted_aliases(const Policy& policy, const HostFacts& host) {
  std::vector<Path> paths = home_aliases(policy, host);
  for (Path& path : kept_home_parts(policy, host)) paths.push_back(std::move(path));
  for (const PathRule& rule : policy.rules)
    if ((rule.kind == RuleKind::hide || rule.kind == RuleKind::protect) && host.has(rule.path))
      for (auto& more : {mount_aliases(host.fact(rule.path).canonical, host.mounts),
                         mounted_parts(host.fact(rule.path).canonical, host.mounts)})
        paths.insert(paths.end(), more.begin(), more.end());
  for (const Path& socket : host.sockets)
    for (Path& alias : mount_aliases(socket, host.mounts)) paths.push_back(std::move(alias));
  return paths;
}

}  // namespace coop::plan
