#include "run/prepare.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/path.h"
#include "guards/git/outside.h"
#include "guards/git_identity.h"
#include "guards/records/made_inside.h"
#include "guards/workspace.h"
#include "host/machine/tools.h"
#include "host/probe.h"
#include "plan/compile.h"
#include "plan/view/layout.h"
#include "policy/builtin.h"
#include "request/sources.h"
#include "run/built_in_secrets.h"
#include "run/workspace_secrets.h"
#include "sys/real_path.h"

namespace coop::run {

namespace {

// Absolute, and without "..": after a symlink ".." is not textual, so the kernel resolves
// everything up to the last one. A missing path keeps its text.
Path without_dots(const Path& written, const Path& base) {
  const Path whole = written.starts_with('/') ? written : join(base, written);
  const std::size_t last = (whole + "/").rfind("/../");
  if (last == std::string::npos) return normalize(whole);
  const Result<Path> front = real_path(whole.substr(0, last + 3));
  return front ? normalize((whole + "/").substr(last + 4), *front) : normalize(whole);
}

// The canonical path. Checked before the walk through it, which would fail with a less clear error.
Result<Path> open_workspace(const Path& written) {
  Result<Path> path = real_path(written);
  struct stat status{};
  if (!path && path.error().errno_value == ENOENT)
    return invalid("--workspace", "\"" + printable(written) + "\" does not exist",
                   "name an existing directory");
  if (path && ::stat(path->c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    return invalid("--workspace", "\"" + printable(*path) + "\" is not a directory",
                   "name a directory: " + printable(parent_of(*path)) + " is the one it is in");
  return with_context("opening the workspace", std::move(path));
}

// The user's rules come after the built-in ones, so that they win for the same path.
Result<void> complete(Policy& policy, const HostFacts& host) {
  if (policy.id.empty()) policy.id = new_id();
  const bool unnamed = policy.workspace.empty();
  policy.workspace = normalize(unnamed ? "." : policy.workspace, host.working_directory);
  policy.workspace = TRY(open_workspace(policy.workspace));
  if (unnamed) TRY(request::check_unnamed_workspace(host, policy.workspace));
  const auto absolute = [&](Path& path) {
    path = without_dots(policy::expand_home(path, host.home), host.working_directory);
  };
  for (PathRule& rule : policy.rules)
    if (!rule.pattern) absolute(rule.path);
  for (SocketRule& socket : policy.sockets) absolute(socket.path);
  // Check against the organisation's file here, which every start passes: a policy that a program
  // made, or changed after load_policy(), is bounded like one from the command line.
  policy = TRY(request::within_ceiling(std::move(policy), host));
  std::vector<PathRule> rules = TRY(built_in_secrets(host));
  if (policy.workspace_secrets == WorkspaceSecrets::hidden) {
    const std::vector<PathRule> own = TRY(workspace_secret_rules(policy.workspace));
    rules.insert(rules.end(), own.begin(), own.end());
  }
  rules.push_back(PathRule{.kind = RuleKind::hide,
                           .path = host.state_directory,
                           .if_missing = Missing::skip,
                           .origin = Origin::of_coop(Part::own_files),
                           .reason = "coop's own state"});
  for (PathRule& rule : policy.rules) {
    if (rule.pattern) {
      TRY(add_matches(rules, rule));
      continue;
    }
    rules.push_back(std::move(rule));
  }
  policy.rules = std::move(rules);
  return {};
}

// The trees of the host that will be visible and may contain listening sockets: not /usr.
std::vector<Path> shown_trees(const Policy& policy, const HostFacts& host) {
  if (policy.view == View::host) return {"/"};
  std::vector<Path> trees{policy.workspace};
  for (const PathRule& rule : policy.rules)
    if (rule.kind != RuleKind::hide && rule.kind != RuleKind::protect && host.has(rule.path))
      trees.push_back(host.fact(rule.path).canonical);
  // A server may have bound its socket under another name of such a tree, or of what is mounted in it.
  std::vector<Path> roots = trees;
  for (const MountFact& mount : host.mounts)
    if (std::ranges::any_of(trees, [&](const Path& tree) { return is_within(mount.target, tree); }))
      roots.push_back(mount.target);
  for (const Path& root : roots)
    for (const auto& more :
         {plan::mount_aliases(root, host.mounts), plan::mounted_parts(root, host.mounts)})
      trees.insert(trees.end(), more.begin(), more.end());
  return trees;
}

// Guarded files that a bind mount of the host shows under another name in the tree. The walk goes by names.
void add_aliases(WorkspaceFacts& look, const Path& root, const std::vector<MountFact>& mounts) {
  const auto lies_below = [&](const MountFact& mount) {
    return mount.target != root && is_within(mount.target, root);
  };
  if (std::ranges::none_of(mounts, lies_below)) return;
  std::vector<GuardedPath> aliases;
  for (const GuardedPath& guarded : look.guarded)
    for (const Path& name : plan::mount_aliases(guarded.path, mounts)) {
      struct stat status{};
      if (!is_within(name, root) || ::lstat(name.c_str(), &status) < 0 ||
          status.st_dev != guarded.device || status.st_ino != guarded.inode)
        continue;
      aliases.push_back(guarded);
      aliases.back().path = name;
    }
  look.guarded.insert(look.guarded.end(), aliases.begin(), aliases.end());
  std::ranges::sort(look.guarded, {}, &GuardedPath::path);
  const auto rest = std::ranges::unique(look.guarded, {}, &GuardedPath::path);
  look.guarded.erase(rest.begin(), rest.end());
}

Path index_directory(const HostFacts& host) { return join(host.state_directory, "trees"); }

Path made_inside_record(const HostFacts& host) { return join(host.state_directory, "made_inside"); }

// Walks every tree that will be writable: the workspace, and --rw trees.
Result<std::vector<WorkspaceFacts>> look_through(const Policy& policy, const HostFacts& host,
                                                 const Draft& draft) {
  const std::vector<std::string> names = TRY(policy::guard_names(policy.allow_guarded));
  const guards::GitUser user = guards::git_user(host);
  const std::vector<Path> trees = plan::guarded_trees(policy, host);
  const guards::MadeInside made = guards::MadeInside::read(made_inside_record(host));
  using Writing = guards::TreeMemory::Writing;
  const guards::TreeMemory memory{
      .directory = index_directory(host),
      .writing = draft.indexes == Indexes::written ? Writing::yes : Writing::no,
      .watch = draft.watch,
      .learning = draft.learning};
  std::vector<WorkspaceFacts> looks;
  for (const Path& root : trees) {
    WorkspaceFacts look =
        TRY(with_context("looking through " + printable(root),
                         guards::inspect_workspace(root, names, trees, user, memory)));
    made.set_apart(look, root);
    add_aliases(look, root, host.mounts);
    looks.push_back(std::move(look));
  }
  return looks;
}

// One set of facts for the planner.
WorkspaceFacts merged(const std::vector<WorkspaceFacts>& looks) {
  WorkspaceFacts all;
  for (const WorkspaceFacts& look : looks) {
    all.git.insert(all.git.end(), look.git.begin(), look.git.end());
    all.named.insert(all.named.end(), look.named.begin(), look.named.end());
    all.guarded.insert(all.guarded.end(), look.guarded.begin(), look.guarded.end());
    all.complete = all.complete && look.complete;
    for (const std::string& note : look.notes)
      if (std::ranges::find(all.notes, note) == all.notes.end()) all.notes.push_back(note);
  }
  if (!looks.empty()) all.outside_git = looks.front().outside_git;
  std::ranges::sort(all.git);
  const auto repeated = std::ranges::unique(all.git);
  all.git.erase(repeated.begin(), repeated.end());
  return all;
}

void look_at(Draft& draft, const std::vector<Path>& paths) {
  host::inspect(draft.host, paths);
  assume_directories(draft.host, paths, draft.missing);
}

// The repository that a workspace lies in without being its top.
std::optional<Path> repository_around(const Path& workspace) {
  struct stat status{};
  if (::lstat(join(workspace, ".git").c_str(), &status) == 0) return std::nullopt;
  for (Path above = parent_of(workspace); above.size() > 1; above = parent_of(above))
    if (::lstat(join(above, ".git").c_str(), &status) == 0) return above;
  return std::nullopt;
}

// The quick probe assumes that a fresh /proc can be mounted.
void look_at_proc(const Policy& policy, HostFacts& host) {
  if (host.proc != ProcMount::full) return;
  if (policy.need(Mechanism::proc) == Need::required && !host::covers_proc(host.mounts)) return;
  host::try_proc(host);
}

}  // namespace

std::string new_id() {
  constexpr std::string_view kLetters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::array<unsigned char, 8> random{};
  // A failure leaves zeros, and the id is "aaaaaaaa".
  [[maybe_unused]] const ssize_t got = ::getrandom(random.data(), random.size(), 0);
  std::string id;
  for (const unsigned char byte : random) id += kLetters[byte % kLetters.size()];
  return id;
}

Result<Draft> begin_prepare(Policy policy) {
  HostFacts host = TRY(host::probe(host::Depth::quick));
  const bool unnamed = policy.workspace.empty();
  TRY(complete(policy, host));
  if (policy.network == NetworkMode::full) host::find_network_tools(host);
  if (policy.network == NetworkMode::full || policy.network == NetworkMode::veth)
    TRY(with_context("finding this machine's networks", host::inspect_networks(host)));
  MissingDirectories missing = missing_own_directories(policy, host);
  return Draft{.policy = std::move(policy),
               .host = std::move(host),
               .missing = std::move(missing),
               .unnamed = unnamed};
}

bool wants_group(const Draft& draft) {
  const Limits& limits = draft.policy.limits;
  return limits.memory || limits.milli_cpus || (limits.pids && draft.host.uid == 0) ||
         (limits.pids && limits.pids != Limits{}.pids);
}

bool writes(const Draft& draft) {
  return draft.policy.workspace_access == Access::read_write ||
         std::ranges::any_of(draft.policy.rules, [](const PathRule& rule) {
           return rule.kind == RuleKind::read_write;
         });
}

bool may_serve(const Draft& draft) { return draft.host.fuse.available && writes(draft); }

Result<Prepared> prepare(Policy policy) {
  Draft draft = TRY(begin_prepare(std::move(policy)));
  return finish_prepare(std::move(draft));
}

Result<Prepared> finish_prepare(Draft draft) {
  TRY(gather(draft));
  return compile(std::move(draft));
}

Result<void> gather(Draft& draft) {
  const Policy& policy = draft.policy;
  HostFacts& host = draft.host;
  TRY(host::inspect_mounts(host));
  look_at(draft, plan::wanted_paths(policy, host));
  if (policy.view == View::minimal) host::inspect(host, plan::etc_paths(host::names_in("/etc")));
  host::inspect_sockets(host, shown_trees(policy, host));
  look_at(draft, plan::wanted_aliases(policy, host));
  look_at_proc(policy, host);
  if (policy.view == View::minimal || policy.home_view == HomeView::listed)
    host.git_identity = guards::git_identity(host);
  if (wants_group(draft) && host.cgroup.kind == CgroupKind::none) host::inspect_cgroups(host);
  TRY(plan::check_workspace_path(policy, host));
  if (!draft.looks) draft.looks = TRY(look_through(policy, host, draft));
  host.workspace = merged(*draft.looks);
  if (policy.workspace_secrets == WorkspaceSecrets::hidden)
    for (std::string& note : notes_on_tokens(host.workspace))
      host.workspace.notes.push_back(std::move(note));
  if (const std::optional<Path> around =
          draft.unnamed ? repository_around(policy.workspace) : std::nullopt)
    host.workspace.notes.push_back(
        "the workspace is a part of the repository " + printable(*around) +
        ": git finds none inside; to work in all of it: -w " + printable(*around));
  host::inspect(host, host.workspace.outside_git);
  host.worktrees = guards::linked_worktrees(host.workspace.git);
  host.locked_git = guards::locked_away(host.workspace.git);
  std::vector<Path> checkouts;
  for (const LinkedWorktree& worktree : host.worktrees)
    if (worktree.checkout.starts_with('/')) checkouts.push_back(normalize(worktree.checkout));
  host::inspect(host, checkouts);
  host::inspect(host, plan::wanted_natives(host));
  return {};
}

// The workspace and each granted tree were walked separately; an outside repository was walked with the workspace.
std::vector<WorkspaceFacts> looks_of(const Plan& plan, const std::vector<WorkspaceFacts>& looks) {
  std::vector<WorkspaceFacts> of_roots;
  for (std::size_t index = 0; !looks.empty() && index < plan.guards.roots.size(); ++index)
    of_roots.push_back(index < looks.size() ? looks[index] : looks.front());
  return of_roots;
}

Result<Prepared> compile(Draft draft) {
  Prepared prepared;
  prepared.plan = TRY(plan::compile(draft.policy, draft.host));
  prepared.before = looks_of(prepared.plan, *draft.looks);
  prepared.quarantine = join(join(draft.host.state_directory, "quarantine"), draft.policy.id);
  prepared.made_inside = made_inside_record(draft.host);
  prepared.indexes = index_directory(draft.host);
  prepared.git_user = guards::git_user(draft.host);
  prepared.mounts = mounts_below(prepared.plan.guards.roots, draft.host.mounts);
  prepared.policy = std::move(draft.policy);
  prepared.facts = std::make_shared<const HostFacts>(std::move(draft.host));
  return prepared;
}

}  // namespace coop::run
