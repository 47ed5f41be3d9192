#include "policy/merge/apply.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "policy/builtin.h"
#include "policy/merge/apply_network.h"
#include "policy/merge/compare.h"
#include "policy/merge/excess.h"
#include "policy/merge/policy_fields.h"
#include "policy/policy.h"
#include "policy/variables.h"
#include "report/words/words.h"

namespace coop::policy {

namespace {

struct ScopeReason {
  Scope scope;
  std::string_view reason;
};

constexpr std::array kScopes{
    ScopeReason{Scope::built_in, "built-in"},
    ScopeReason{Scope::preset, "the agent's preset"},
    ScopeReason{Scope::organisation, "the organisation's policy"},
    ScopeReason{Scope::user, "your policy"},
    ScopeReason{Scope::project, "the project's policy"},
    ScopeReason{Scope::config, "coop.toml"},
    ScopeReason{Scope::override, "an override in coop.toml"},
    ScopeReason{Scope::program, "asked for by the program"},
    ScopeReason{Scope::command_line, "asked for on the command line"},
};

class Application {
 public:
  Application(const Effective& effective, const Surroundings& surroundings)
      : effective_(effective), surroundings_(surroundings) {}

  Result<Policy> run() {
    TRY(check_supported());
    set_fields(policy_, effective_.settings);
    for (const auto& [key, setting] : effective_.settings)
      if (!is_list(key)) policy_.origins.of.emplace(info(key).name, setting.origin);
    policy_.workspace = word_of(effective_.settings, Key::workspace);
    TRY(apply_network(effective_.settings, policy_));
    for (const Item& item : items(Key::allow_guarded)) policy_.allow_guarded.push_back(item.text);
    TRY(apply_environment());
    for (const ScopeReason& scope : kScopes) TRY(add_rules(scope));
    bound_calls();
    TRY(apply_bounds());
    add_notes();
    return std::move(policy_);
  }

 private:
  const Setting* find(Key key) const { return policy::find(effective_.settings, key); }

  const std::vector<Item>& items(Key key) const { return items_of(effective_.settings, key); }

  bool is_on(Key key) const { return find(key) != nullptr && find(key)->value == Scalar(true); }

  // `memory = "2g"`
  std::string written(Key key) const {
    return std::string(info(key).name) + " = " + printable(value_text(key, *find(key)));
  }

  Result<void> check_supported() const {
    for (const Key key : {Key::containers, Key::vm})
      if (is_on(key))
        return unsupported(find(key)->origin, written(key) + ": not in this version",
                           "remove the line");
    const std::string_view backend = word_of(effective_.settings, Key::backend);
    if (!backend.empty() && backend != "auto" && backend != "kernel")
      return unsupported(
          find(Key::backend)->origin,
          written(Key::backend) + ": this version runs commands with the kernel backend only",
          "write backend = \"auto\" or \"kernel\"");
    return {};
  }

  // The planner checks this again, without knowing where a variable was written.
  Result<void> check_environment(Key key) const {
    for (const Item& item : items(key)) {
      const bool in_file = item.origin.flag.empty();
      Result<void> checked =
          check_variable(item.text, in_file ? info(key).name : "", policy_.unsafe_environment);
      if (!checked && in_file)
        checked.error().hint =
            "if you intend this, write env.unsafe = [\"" + printable(item.text) + "\"]";
      TRY(with_context(item.origin, std::move(checked)));
    }
    return {};
  }

  Result<void> apply_environment() {
    for (const Item& item : items(Key::env_pass)) policy_.pass_environment.push_back(item.text);
    for (const Item& item : items(Key::env_set)) policy_.set_environment[item.text] = item.value;
    for (const Item& item : items(Key::env_unsafe)) policy_.unsafe_environment.push_back(item.text);
    TRY(check_environment(Key::env_set));
    return check_environment(Key::env_pass);
  }

  Result<void> add_rules(const ScopeReason& scope) {
    for (const PathList& list : kPathLists) {
      // The last of the grants.
      if (list.kind == RuleKind::hide)
        for (const Key key : {Key::cache_volumes, Key::share_caches})
          for (const Item& item : items(key))
            if (item.origin.scope == scope.scope) TRY(add_cache(key, item));
      add_paths(scope, list);
    }
    return {};
  }

  void add_paths(const ScopeReason& scope, const PathList& list) {
    for (const Item& item : items(list.key)) {
      if (item.origin.scope != scope.scope || scope.scope == Scope::command_line) continue;
      PathRule rule{.kind = list.kind,
                    .path = item.path,
                    .if_missing = item.if_missing.value_or(list.if_missing),
                    .origin = item.origin,
                    .reason = std::string(scope.reason),
                    .pattern = item.pattern,
                    .precedence = scope.scope == Scope::organisation && is_restricting(list.key)
                                      ? Precedence::final
                                      : Precedence::by_order};
      if (const Item* protection = protection_of(list.key, item)) {
        rule.kind = RuleKind::read_only;
        rule.reason += ", protected by " + report::in_words(protection->origin);
      }
      policy_.rules.push_back(std::move(rule));
    }
  }

  // To the planner a grant inside a protected path is a contradiction. Here the order is known: a later
  // layer that protects what an earlier one made writable means it to be read-only.
  const Item* protection_of(Key key, const Item& item) const {
    if (key != Key::writable_paths) return nullptr;
    for (const Item& protection : items(Key::protected_paths))
      if (path_covers(protection, item) &&
          (protection.origin.scope > item.origin.scope ||
           rank_of(Key::protected_paths, protection) > rank_of(key, item)))
        return &protection;
    return nullptr;
  }

  Result<std::vector<PathRule>> cache_of(Key key, const Item& item) const {
    Result<std::vector<PathRule>> rules =
        cache_rules(item.text, surroundings_.home, surroundings_.environment,
                    key == Key::share_caches ? Sharing::with_host : Sharing::private_copy);
    // A file's line and key; a flag is its own origin.
    if (!rules) rules.error().operation = item.origin.flag.empty() ? info(key).name : "";
    return with_context(item.origin, std::move(rules));
  }

  Result<void> add_cache(Key key, const Item& item) {
    std::vector<PathRule> rules = TRY(cache_of(key, item));
    for (PathRule& rule : rules) {
      rule.origin = item.origin;
      rule.origin.name = item.text;
      rule.origin.part = Part::cache;
      policy_.rules.push_back(std::move(rule));
    }
    return {};
  }

  static void set_fields(Policy& policy, const Settings& settings) {
    for (const PolicyField& field : policy_fields())
      if (const auto found = settings.find(field.key); found != settings.end())
        field.set(policy, found->second.value);
  }

  // A call can give a timeout and variables of its own, after the policy was made.
  void bound_calls() {
    Bounds& bounds = policy_.bounds;
    Policy most;
    set_fields(most, effective_.ceiling);
    bounds.timeout = most.limits.timeout;
    if (const Setting* set = policy::find(effective_.ceiling, Key::env_set)) {
      name_bound(*set);
      bounds.environment.emplace();
      for (const Item& item : set->items) bounds.environment->emplace(item.text, item.value);
    }
    if (const Setting* names = policy::find(effective_.ceiling, Key::env_names)) {
      name_bound(*names);
      bounds.variables.emplace();
      for (const Item& item : names->items) bounds.variables->push_back(item.text);
    }
  }

  // Several keys bound, and each has a line: only the file is named.
  void name_bound(const Setting& setting) {
    policy_.bounds.origin = setting.origin;
    policy_.bounds.origin.at = {};
  }

  Result<void> apply_bounds() {
    if (const Setting* places = policy::find(effective_.ceiling, Key::workspaces)) {
      name_bound(*places);
      TRY(add_trees(policy_.bounds.workspaces.emplace(), Key::workspaces));
    }
    if (const Setting* places = policy::find(effective_.ceiling, Key::tmpfs_paths)) {
      name_bound(*places);
      TRY(add_trees(policy_.bounds.tmpfs.emplace(), Key::tmpfs_paths));
    }
    const Setting* reads = policy::find(effective_.ceiling, Key::readable_paths);
    const Setting* writes = policy::find(effective_.ceiling, Key::writable_paths);
    if (reads == nullptr && writes == nullptr) return {};
    name_bound(reads != nullptr ? *reads : *writes);
    std::vector<Path> trees;
    TRY(add_trees(trees, Key::writable_paths));
    TRY(add_cache_trees(trees, Key::share_caches));
    if (writes != nullptr) policy_.bounds.writable = trees;
    if (reads == nullptr) return {};
    TRY(add_trees(trees, Key::readable_paths));
    if (writes == nullptr) policy_.bounds.writable = trees;
    // An overlay shows the files, but writes stay in the sandbox. So does a cache.
    TRY(add_trees(trees, Key::overlay_paths));
    TRY(add_cache_trees(trees, Key::cache_volumes));
    policy_.bounds.readable = std::move(trees);
    return {};
  }

  Result<void> add_cache_trees(std::vector<Path>& trees, Key key) const {
    for (const Item& item : items_of(effective_.ceiling, key)) {
      const std::vector<PathRule> cache = TRY(cache_of(key, item));
      for (const PathRule& rule : cache)
        if (key == Key::cache_volumes || rule.kind == RuleKind::read_write)
          trees.push_back(rule.path);
    }
    return {};
  }

  // A bound is a tree that canonical paths are compared with. A pattern is not accepted: it may
  // match a symlink to anywhere.
  Result<void> add_trees(std::vector<Path>& trees, Key key) const {
    for (const Item& item : items_of(effective_.ceiling, key)) {
      if (item.pattern)
        return invalid(item.origin,
                       std::string(info(key).name) + ": \"" + printable(item.text) +
                           "\" has wildcards, which cannot bound what others ask for",
                       "name the directories in the organisation's policy");
      trees.push_back(item.path);
    }
    return {};
  }

  void add_notes() {
    constexpr std::size_t kMost = 20;  // a project's file must not flood the notes
    if (!word_of(effective_.settings, Key::base_image).empty())
      add_note(Key::base_image,
               "is for backends with images; the kernel backend shows this machine's own programs");
    if (is_on(Key::auto_commit))
      add_note(Key::auto_commit,
               "is for backends with images; nothing is kept of this machine's programs");
    for (const Refusal& refusal : effective_.refused) {
      if (policy_.notes.size() >= kMost) {
        policy_.notes.emplace_back("more was refused: see `coop policy show`");
        break;
      }
      const bool approvable = refusal.why == Refusal::Why::not_approved;
      policy_.notes.push_back(to_text(refusal) + (approvable ? " (coop policy approve)" : ""));
    }
  }

  void add_note(Key key, std::string_view text) {
    policy_.notes.push_back(report::in_words(find(key)->origin) + ": " +
                            std::string(info(key).name) + " " + std::string(text));
  }

  const Effective& effective_;
  const Surroundings& surroundings_;
  Policy policy_{};
};

}  // namespace

Result<Policy> policy_from(const Effective& effective, const Surroundings& surroundings) {
  return Application(effective, surroundings).run();
}

}  // namespace coop::policy
