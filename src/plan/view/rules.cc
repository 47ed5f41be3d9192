// The workspace and the user's rules.
#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "base/path.h"
#include "plan/compile.h"
#include "plan/view/layout.h"
#include "policy/builtin.h"
#include "report/words/words.h"

namespace coop::plan {

namespace {

Origin workspace_origin() { return Origin::of_flag("--workspace", {}, Part::workspace); }

bool is_secret(const PathRule& rule) {
  return rule.origin.part == Part::secrets || rule.origin.part == Part::own_files;
}

// A rule of a file is corrected there, not with a flag.
std::string option_hint(const PathRule& rule) {
  const std::string optional = printable(rule.path) + "?";
  if (!rule.origin.flag.empty())
    return "write " + rule.origin.flag + " '" + optional + "' if it may be missing";
  return "write \"" + optional + "\" there if it may be missing";
}

// Rules inside the workspace move with it to where it is mounted; others keep their path (minimal
// view, unless it contains a symlink like /bin) or use the canonical one.
Path target_of(const std::vector<Entry>& entries, const Policy& policy, const PathRule& rule,
               const PathFact& fact) {
  if (is_within(fact.canonical, policy.workspace))
    return join(workspace_target(policy), relative_to(fact.canonical, policy.workspace));
  const bool through_link = std::ranges::any_of(entries, [&](const Entry& entry) {
    return entry.kind == Entry::Kind::symlink && is_within(rule.path, entry.target);
  });
  return policy.view == View::host || through_link ? fact.canonical : rule.path;
}

// Of a rule that shows something; hide_everywhere() and add_protected() do the others.
Entry entry_for(const std::vector<Entry>& entries, const Policy& policy, const PathRule& rule,
                const PathFact& fact, std::size_t position) {
  Entry entry{.target = target_of(entries, policy, rule, fact),
              .source = fact.canonical,
              .shape = fact.target_kind,
              .size = policy.limits.tmp_size,
              .inodes = inodes_for(policy.limits),
              .rank = Rank::rule,
              .position = position,
              .origin = rule.origin,
              .why = rule.reason};
  if (rule.kind == RuleKind::overlay) entry.kind = Entry::Kind::overlay;
  if (rule.kind == RuleKind::tmpfs) entry.kind = Entry::Kind::tmpfs;
  if (rule.kind != RuleKind::read_only) entry.flags.access = Access::read_write;
  return entry;
}

Result<void> check_shape(const PathRule& rule, const PathFact& fact) {
  const bool directory = fact.target_kind == PathKind::directory;
  if ((rule.kind == RuleKind::overlay || rule.kind == RuleKind::tmpfs) && !directory)
    return invalid(rule.origin, in_quotes(rule.path) + " is not a directory",
                   rule.origin.flag.empty()
                       ? "use writable_paths, readable_paths or hidden_paths for a single file"
                       : "use --rw, --ro or --hide for a single file");
  if (fact.target_kind == PathKind::socket && rule.kind != RuleKind::hide)
    return invalid(
        rule.origin, in_quotes(rule.path) + " is a socket",
        "a socket gives access to a process outside; use --socket, or sockets in a policy file");
  if (fact.target_kind == PathKind::device && rule.kind != RuleKind::hide)
    return invalid(rule.origin, in_quotes(rule.path) + " is a device",
                   "devices are not granted by path rules");
  return {};
}

// The kernel's own file systems are not granted: the host's /proc shows every user's processes. And
// a sandbox must not change its own rules: coop's state and policies are never shown.
Result<void> check_special(const Origin& origin, const Path& path, RuleKind kind,
                           const HostFacts& host) {
  if (kind == RuleKind::hide) return {};
  const bool kernel = is_within(path, "/proc") || is_within(path, "/dev") ||
                      (is_within(path, "/sys") && kind != RuleKind::read_only);
  if (kernel)
    return invalid(origin, in_quotes(path) + " is part of a kernel file system",
                   "the sandbox has a /proc and a /dev of its own; /sys can be shown read-only");
  std::set<Path> directories = own_directories(host);
  directories.insert("/etc/coop");
  const bool own = std::ranges::any_of(directories, [&](const Path& directory) {
    const Path& canonical = host.fact(directory).canonical;
    return is_within(path, directory) || (!canonical.empty() && lies_in(path, canonical, host));
  });
  if (own)
    return invalid(origin, in_quotes(path) + " contains coop's state or policies",
                   "a sandbox never sees them");
  return {};
}

// Paths of the host keep their names inside, and one name is taken by the workspace.
Result<void> check_place(const Origin& origin, const Path& path, const Policy& policy) {
  const Path taken = workspace_target(policy);
  if (policy.view == View::host || !is_within(path, taken) || is_within(path, policy.workspace))
    return {};
  return invalid(
      origin,
      in_quotes(path) + " keeps its path inside, where " + printable(taken) + " is the workspace",
      "use --view host, where the workspace keeps its path too");
}

// A grant inside a hidden tree is shown, and so is one of a mount that shows a part of that tree.
bool is_named(const std::vector<Entry>& entries, const Path& place) {
  return std::ranges::any_of(entries, [&](const Entry& entry) {
    return entry.target == place && (entry.rank == Rank::workspace || entry.rank == Rank::rule) &&
           entry.kind != Entry::Kind::hide;
  });
}

void hide_everywhere(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                     const PathRule& rule, const PathFact& fact, std::size_t position) {
  const bool final = rule.precedence == Precedence::final;
  std::map<Path, PathKind> places;
  for (const Path& name : names_of(fact, host))
    for (const Path& place : places_of(name, entries, policy.view))
      places.emplace(place, fact.target_kind);
  for (const Path& part : parts_of(fact, host))
    for (const Path& place : places_of(part, entries, policy.view))
      if (final || !is_named(entries, place)) places.emplace(place, host.fact(part).target_kind);
  // The view itself must not show part of what the organisation hides.
  for (const Entry& entry : entries)
    if (final && entry.kind == Entry::Kind::bind && !entry.flags.devices &&
        lies_in(entry.source, fact.canonical, host))
      places.emplace(entry.target, fact.target_kind);
  for (const auto& [place, shape] : places)
    entries.push_back(Entry{.kind = Entry::Kind::hide,
                            .target = place,
                            .shape = shape,
                            .rank = final ? Rank::final_rule : Rank::rule,
                            .position = position,
                            .origin = rule.origin,
                            .why = rule.reason});
}

// Without the check the sandbox starts, and finds no directory to work in.
Result<void> check_hidden_workspace(const PathRule& rule, std::size_t position,
                                    const Policy& policy, const HostFacts& host) {
  if (!is_secret(rule))
    return invalid(rule.origin, in_quotes(rule.path) + " is the workspace itself",
                   "hide something in it, or choose another --workspace");
  const auto shows = [&](const PathRule& later) {
    return later.kind != RuleKind::hide && later.kind != RuleKind::protect &&
           host.fact(later.path).canonical == policy.workspace;
  };
  if (std::ranges::any_of(policy.rules | std::views::drop(position), shows)) return {};
  return invalid(workspace_origin(),
                 in_quotes(policy.workspace) + " is a place of secrets (" + rule.reason +
                     "), which every sandbox hides",
                 "work in another directory; --rw " + printable(policy.workspace) +
                     " shows it, if you intend that");
}

// Naming such a path exactly is taken as meaning it, as with secrets; in a larger tree of the home it is guarded.
void note_obeyed(const PathRule& rule, const PathFact& fact, const Policy& policy,
                 const HostFacts& host, std::vector<std::string>& notes) {
  if (rule.kind != RuleKind::read_write || rule.origin.part == Part::cache || host.home.empty())
    return;
  for (const policy::GuardEntry& guard : policy::guards()) {
    if (guard.kind != policy::GuardKind::home_path ||
        std::ranges::find(policy.allow_guarded, guard.name) != policy.allow_guarded.end() ||
        !is_within(fact.canonical, policy::expand_home(guard.name, host.home)))
      continue;
    notes.push_back(report::in_words(rule.origin) + ": " + in_quotes(rule.path) +
                    " is writable, and programs of the host obey it: " + std::string(guard.reason));
    return;
  }
}

// Naming a secret exactly is taken as meaning it (ADR 6). The plan and each run say so, whichever file has the rule.
void note_secret(const PathRule& rule, const PathFact& fact, const Policy& policy,
                 const HostFacts& host, std::vector<std::string>& notes) {
  if (rule.kind == RuleKind::tmpfs) return;  // shows nothing of it
  const auto hides_again = [&](const PathRule& later) {
    return &later > &rule && later.kind == RuleKind::hide &&
           host.fact(later.path).canonical == fact.canonical;
  };
  if (std::ranges::any_of(policy.rules, hides_again)) return;
  const auto holds = [&](const PathRule& secret) {
    return secret.kind == RuleKind::hide && is_secret(secret) && host.has(secret.path) &&
           is_within(fact.canonical, host.fact(secret.path).canonical);
  };
  const auto secret = std::ranges::find_if(policy.rules, holds);
  if (secret == policy.rules.end()) return note_obeyed(rule, fact, policy, host, notes);
  notes.push_back(report::in_words(rule.origin) + ": " + in_quotes(rule.path) +
                  " is on the list of secrets (" + secret->reason + ") and is shown" +
                  (rule.kind == RuleKind::read_write ? ", writable" : ""));
}

// Guards and rules for one path would not apply to its second name.
Result<void> check_names(const std::vector<Entry>& entries) {
  for (const Entry& outer : entries) {
    if (!is_writable_bind(outer)) continue;
    for (const Entry& inner : entries) {
      if (&inner == &outer || inner.source.empty() || !is_within(inner.source, outer.source))
        continue;
      const Path shown = join(outer.target, relative_to(inner.source, outer.source));
      if (shown == inner.target) continue;
      // Name the one that the user wrote.
      const Entry& asked = outer.origin.part == Part::workspace ? inner : outer;
      return invalid(asked.origin,
                     in_quotes(inner.source) + " would be writable at " + printable(shown) +
                         " and be at " + printable(inner.target) + " as well",
                     "name it once: choose --workspace " + printable(outer.source) +
                         ", or --view host, where everything has one name");
    }
  }
  return {};
}

}  // namespace

std::set<Path> own_directories(const HostFacts& host) {
  std::set<Path> paths{host.state_directory};
  for (const Path& home : std::set<Path>{host.home, host.account_home})
    if (!home.empty())
      for (const char* below : {".config/coop", ".local/state/coop"})
        paths.insert(join(home, below));
  const auto configuration = host.environment.find("XDG_CONFIG_HOME");
  if (configuration != host.environment.end() && configuration->second.starts_with('/'))
    paths.insert(join(normalize(configuration->second), "coop"));
  return paths;
}

std::unexpected<Error> missing_path(const PathRule& rule) {
  return invalid(rule.origin, in_quotes(rule.path) + " does not exist", option_hint(rule));
}

Result<void> check_root(const PathRule& rule, const PathFact& fact) {
  if (fact.canonical != "/") return {};
  return invalid(rule.origin, "\"/\" is the whole machine",
                 rule.kind == RuleKind::read_only ? "use --view host to see it read-only"
                                                  : "name the directories you mean");
}

// A rule must mean the same path in the next run. The command could change a symlink in a writable
// tree, and a grant would then lead the next run out of that tree.
Result<void> check_link(const PathRule& rule, const PathFact& fact, const Policy& policy,
                        const HostFacts& host, std::vector<std::string>& notes) {
  if (fact.canonical == rule.path) return {};
  const std::vector<Path> trees = guarded_trees(policy, host);
  const auto tree = std::ranges::find_if(trees, [&](const Path& candidate) {
    return is_within(rule.path, candidate) && rule.path != candidate;
  });
  if (tree == trees.end()) return {};
  const std::string what = in_quotes(rule.path) + " leads to " + printable(fact.canonical) +
                           " by a symlink that the command could replace";
  const bool restricts = rule.kind == RuleKind::hide || rule.kind == RuleKind::protect;
  const bool leads_out = rule.kind != RuleKind::tmpfs && !is_within(fact.canonical, *tree);
  if (!is_secret(rule) && (restricts || leads_out))
    return invalid(rule.origin, what, "name the place itself: " + printable(fact.canonical));
  if (rule.kind != RuleKind::read_write)
    notes.push_back(report::in_words(rule.origin) + ": " + what +
                    "; the next run would follow the new one");
  return {};
}

Path workspace_target(const Policy& policy) {
  return policy.view == View::minimal ? Path("/work") : policy.workspace;
}

Result<void> check_workspace_path(const Policy& policy, const HostFacts& host) {
  const PathFact& fact = host.fact(policy.workspace);
  if (fact.target_kind != PathKind::directory)
    return invalid(workspace_origin(), in_quotes(policy.workspace) + " is not a directory");
  if (policy.workspace == "/")
    return invalid(workspace_origin(), "\"/\" is the whole machine",
                   "start coop in a project directory, or name one with --workspace");
  return check_special(workspace_origin(), policy.workspace, RuleKind::read_write, host);
}

Result<void> add_workspace(std::vector<Entry>& entries, const Policy& policy,
                           const HostFacts& host) {
  TRY(check_workspace_path(policy, host));
  entries.push_back(Entry{.kind = Entry::Kind::bind,
                          .target = workspace_target(policy),
                          .source = policy.workspace,
                          .flags = {.access = policy.workspace_access},
                          .rank = Rank::workspace,
                          .origin = workspace_origin(),
                          .why = "the directory to work in"});
  if (policy.workspace_access == Access::read_only) return {};
  for (const Path& git : host.workspace.outside_git) {
    TRY(check_place(workspace_origin(), git, policy));
    entries.push_back(Entry{.kind = Entry::Kind::bind,
                            .target = git,
                            .source = git,
                            .flags = {.access = Access::read_write},
                            .rank = Rank::workspace,
                            .origin = workspace_origin(),
                            .why = "the repository this worktree or submodule belongs to"});
  }
  return {};
}

Result<void> add_rules(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                       std::vector<std::string>& notes) {
  TRY(check_final(policy, host));
  // Two passes: a hidden path must be hidden wherever a later grant would show it.
  for (const bool hiding : {false, true}) {
    std::size_t position = 0;
    for (const PathRule& rule : policy.rules) {
      ++position;
      if (rule.kind == RuleKind::protect || (rule.kind == RuleKind::hide) != hiding) continue;
      const PathFact& fact = host.fact(rule.path);
      if (fact.target_kind == PathKind::missing) {
        if (rule.if_missing == Missing::skip) continue;
        return missing_path(rule);
      }
      TRY(check_shape(rule, fact));
      TRY(check_root(rule, fact));
      TRY(check_special(rule.origin, fact.canonical, rule.kind, host));
      TRY(check_link(rule, fact, policy, host, notes));
      if (!hiding) {
        TRY(check_bounds(rule, fact, policy, host));
        TRY(check_place(rule.origin, fact.canonical, policy));
        note_secret(rule, fact, policy, host, notes);
        entries.push_back(entry_for(entries, policy, rule, fact, position));
        // The host's own symlink is missing where the view has an empty home.
        if (policy.view == View::host && rule.path != fact.canonical)
          entries.push_back(Entry{.kind = Entry::Kind::symlink,
                                  .target = rule.path,
                                  .text = fact.canonical,
                                  .origin = rule.origin,
                                  .why = rule.reason});
        continue;
      }
      if (fact.canonical == policy.workspace)
        TRY(check_hidden_workspace(rule, position, policy, host));
      hide_everywhere(entries, policy, host, rule, fact, position);
      // run/workspace_secrets.cc has found the others.
      const bool searched = policy.workspace_secrets == WorkspaceSecrets::hidden &&
                            is_secret(rule) && is_within(fact.canonical, policy.workspace);
      if (fact.links > 1 && fact.target_kind == PathKind::file)
        notes.push_back("hidden file " + printable(rule.path) + " has " +
                        std::to_string(fact.links) + " hard links: its " +
                        (searched ? "names outside the workspace" : "other names") +
                        " are not hidden");
    }
  }
  return check_names(entries);
}

void add_pins(std::vector<Entry>& entries) {
  std::vector<Entry> pins;
  for (const Entry& entry : entries) {
    const bool covers = entry.kind == Entry::Kind::hide || entry.kind == Entry::Kind::overlay ||
                        entry.kind == Entry::Kind::tmpfs || entry.kind == Entry::Kind::bind;
    const Entry* outer = covers ? enclosing_entry(entries, entry.target) : nullptr;
    if (outer == nullptr || !is_writable_bind(*outer) || outer->kept) continue;
    pin_parents(pins, entry.target, outer->target, entry.origin,
                "pinned: moved away, it would take along what a rule covers");
  }
  entries.insert(entries.end(), pins.begin(), pins.end());
}

void add_sockets(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host) {
  std::set<Path> names(host.sockets.begin(), host.sockets.end());
  for (const Path& socket : host.sockets)
    for (const Path& alias : mount_aliases(socket, host.mounts))
      if (host.fact(alias).kind == PathKind::socket) names.insert(alias);
  for (const Path& name : names)
    for (const Path& place : places_of(name, entries, policy.view))
      entries.push_back(
          Entry{.kind = Entry::Kind::hide,
                .target = place,
                .shape = PathKind::socket,
                .if_missing = Missing::skip,  // servers come and go
                .rank = Rank::server_socket,
                .origin = Origin::of_coop(Part::sockets),
                .why = "a server of the host listens on it; read-only does not stop connect()"});
}

}  // namespace coop::plan
