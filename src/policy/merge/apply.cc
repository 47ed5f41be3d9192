#include "policy/merge/apply.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "base/path.h"
#include "policy/builtin.h"
#include "policy/merge/apply_network.h"
#include "policy/merge/compare.h"
#include "policy/merge/excess.h"
#include "policy/policy.h"
#include "report/words/origin.h"

namespace coop::policy {

namespace {

constexpr std::array kScopes{Scope::built_in, Scope::organisation, Scope::user,
                             Scope::project,  Scope::config,       Scope::override,
                             Scope::program,  Scope::command_line};

std::string_view reason_of(Scope scope) {
  switch (scope) {
    case Scope::built_in: return "built-in";
    case Scope::organisation: return "the organisation's policy";
    case Scope::user: return "your policy";
    case Scope::project: return "the project's policy";
    case Scope::config: return "coop.toml";
    case Scope::override: return "an override in coop.toml";
    case Scope::program: return "asked for by the program";
    case Scope::command_line: return "asked for on the command line";
  }
  return "?";
}

class Application {
 public:
  Application(const Effective& effective, const Surroundings& surroundings)
      : effective_(effective), surroundings_(surroundings) {}

  Result<Policy> run() {
    TRY(check_supported());
    apply_words();
    TRY(apply_network(effective_.settings, policy_));
    apply_limits();
    apply_environment();
    for (const Scope scope : kScopes) TRY(add_rules(scope));
    bound_calls();
    TRY(apply_bounds());
    add_notes();
    return std::move(policy_);
  }

 private:
  const Setting* find(Key key) const {
    const auto found = effective_.settings.find(key);
    return found == effective_.settings.end() ? nullptr : &found->second;
  }

  template <typename T>
  const T* value(Key key) const {
    const Setting* setting = find(key);
    return setting == nullptr ? nullptr : std::get_if<T>(&setting->value);
  }

  static const std::vector<Item>& items(const Settings& settings, Key key) {
    static const std::vector<Item> kNone;
    const auto found = settings.find(key);
    return found == settings.end() ? kNone : found->second.items;
  }

  // `memory = "2g"`
  std::string written(Key key) const {
    return std::string(info(key).name) + " = " + printable(value_text(key, *find(key)));
  }

  Result<void> check_supported() const {
    for (const Key key : {Key::containers, Key::vm})
      if (const bool* wanted = value<bool>(key); wanted != nullptr && *wanted)
        return unsupported(find(key)->origin, written(key) + ": not in this version",
                           "remove the line");
    const std::string* backend = value<std::string>(Key::backend);
    if (backend != nullptr && *backend != "auto" && *backend != "kernel")
      return unsupported(
          find(Key::backend)->origin,
          written(Key::backend) + ": this version runs commands with the kernel backend only",
          "write backend = \"auto\" or \"kernel\"");
    return {};
  }

  void apply_words() {
    if (const std::string* view = value<std::string>(Key::view))
      policy_.view = *view == to_text(View::host) ? View::host : View::minimal;
    if (const std::string* workspace = value<std::string>(Key::workspace))
      policy_.workspace = *workspace;
    if (const bool* debug = value<bool>(Key::debug))
      policy_.debugging = *debug ? Debugging::allowed : Debugging::denied;
    apply_need(Key::landlock, Mechanism::landlock);
    apply_need(Key::proc, Mechanism::proc);
    apply_need(Key::limits, Mechanism::limits);
  }

  void apply_need(Key key, Mechanism mechanism) {
    if (const std::string* need = value<std::string>(key))
      policy_.needs[mechanism] = *need == "best_effort" ? Need::best_effort : Need::required;
  }

  void apply_limit(Key key, std::optional<std::uint64_t>& limit) const {
    if (value<Unlimited>(key) != nullptr) limit.reset();
    if (const std::uint64_t* number = value<std::uint64_t>(key)) limit = *number;
  }

  void apply_limits() {
    apply_limit(Key::memory, policy_.limits.memory);
    apply_limit(Key::pids_limit, policy_.limits.pids);
    apply_limit(Key::cpus, policy_.limits.milli_cpus);
    if (const std::uint64_t* size = value<std::uint64_t>(Key::tmp_size))
      policy_.limits.tmp_size = *size;
    if (const std::uint64_t* size = value<std::uint64_t>(Key::output_limit))
      policy_.limits.output_limit = *size;
    policy_.limits.timeout = timeout_in(effective_.settings);
  }

  static std::optional<std::chrono::milliseconds> timeout_in(const Settings& settings) {
    constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto found = settings.find(Key::timeout);
    if (found == settings.end()) return std::nullopt;
    const auto* const count = std::get_if<std::uint64_t>(&found->second.value);
    if (count == nullptr) return std::nullopt;
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*count, kLongest)));
  }

  void apply_environment() {
    for (const Item& item : items(effective_.settings, Key::env_pass))
      policy_.pass_environment.push_back(item.text);
    for (const Item& item : items(effective_.settings, Key::env_set))
      policy_.set_environment[item.text] = item.value;
    for (const Item& item : items(effective_.settings, Key::env_unsafe))
      policy_.unsafe_environment.push_back(item.text);
  }

  // Grants before restrictions: within one scope, and for one path, the restriction wins.
  Result<void> add_rules(Scope scope) {
    add_paths(scope, Key::readable_paths, RuleKind::read_only, Missing::fail);
    add_paths(scope, Key::writable_paths, RuleKind::read_write, Missing::fail);
    add_paths(scope, Key::overlay_paths, RuleKind::overlay, Missing::fail);
    for (const Item& item : items(effective_.settings, Key::cache_volumes))
      if (item.origin.scope == scope) TRY(add_cache(item));
    add_paths(scope, Key::hidden_paths, RuleKind::hide, Missing::skip);
    add_paths(scope, Key::protected_paths, RuleKind::protect, Missing::skip);
    return {};
  }

  void add_paths(Scope scope, Key key, RuleKind kind, Missing if_missing) {
    for (const Item& item : items(effective_.settings, key)) {
      if (item.origin.scope != scope || scope == Scope::command_line) continue;
      PathRule rule{.kind = kind,
                    .path = item.path,
                    .if_missing = item.if_missing.value_or(if_missing),
                    .origin = item.origin,
                    .reason = std::string(reason_of(scope)),
                    .pattern = item.pattern,
                    .precedence = scope == Scope::organisation && is_restricting(key)
                                      ? Precedence::final
                                      : Precedence::by_order};
      if (const Item* protection = protection_of(key, item)) {
        rule.kind = RuleKind::read_only;
        rule.reason += ", protected by " + report::to_text(protection->origin);
      }
      policy_.rules.push_back(std::move(rule));
    }
  }

  // To the planner a grant inside a protected path is a contradiction. Here the order is known: a later
  // layer that protects what an earlier one made writable means it to be read-only.
  const Item* protection_of(Key key, const Item& item) const {
    if (key != Key::writable_paths) return nullptr;
    for (const Item& protection : items(effective_.settings, Key::protected_paths))
      if (path_covers(protection, item) &&
          (protection.origin.scope > item.origin.scope ||
           rank_of(Key::protected_paths, protection) > rank_of(key, item)))
        return &protection;
    return nullptr;
  }

  Result<std::vector<PathRule>> cache_of(const Item& item) const {
    Result<std::vector<PathRule>> rules =
        cache_rules(item.text, surroundings_.home, surroundings_.environment);
    // A file's line comes before the name of the flag; a flag is its own origin.
    if (!rules && !item.origin.flag.empty()) rules.error().operation.clear();
    return with_context(item.origin, std::move(rules));
  }

  Result<void> add_cache(const Item& item) {
    std::vector<PathRule> rules = TRY(cache_of(item));
    for (PathRule& rule : rules) {
      rule.origin = item.origin;
      rule.origin.name = item.text;
      rule.origin.part = Part::cache;
      policy_.rules.push_back(std::move(rule));
    }
    return {};
  }

  // A call can give a timeout and variables of its own, after the policy was made.
  void bound_calls() {
    Bounds& bounds = policy_.bounds;
    bounds.timeout = timeout_in(effective_.ceiling);
    const auto set = effective_.ceiling.find(Key::env_set);
    if (set == effective_.ceiling.end()) return;
    bounds.origin = set->second.origin;
    bounds.origin.at = {};
    bounds.environment.emplace();
    for (const Item& item : set->second.items) bounds.environment->emplace(item.text, item.value);
  }

  Result<void> apply_bounds() {
    const auto readable = effective_.ceiling.find(Key::readable_paths);
    const auto writable = effective_.ceiling.find(Key::writable_paths);
    const bool reads = readable != effective_.ceiling.end();
    const bool writes = writable != effective_.ceiling.end();
    if (!reads && !writes) return {};
    policy_.bounds.origin = reads ? readable->second.origin : writable->second.origin;
    policy_.bounds.origin.at = {};  // both keys bound, and each has a line
    std::vector<Path> trees = TRY(trees_of(Key::writable_paths));
    for (const Item& item : items(effective_.ceiling, Key::cache_volumes)) {
      const std::vector<PathRule> cache = TRY(cache_of(item));
      for (const PathRule& rule : cache) trees.push_back(rule.path);
    }
    if (writes) policy_.bounds.writable = trees;
    if (!reads) return {};
    const std::vector<Path> read = TRY(trees_of(Key::readable_paths));
    trees.insert(trees.end(), read.begin(), read.end());
    if (!writes) policy_.bounds.writable = trees;
    // An overlay shows the files, but writes stay in the sandbox.
    const std::vector<Path> overlaid = TRY(trees_of(Key::overlay_paths));
    trees.insert(trees.end(), overlaid.begin(), overlaid.end());
    policy_.bounds.readable = std::move(trees);
    return {};
  }

  // A bound is a tree that canonical paths are compared with. A pattern is not accepted: it may
  // match a symlink to anywhere.
  Result<std::vector<Path>> trees_of(Key key) const {
    std::vector<Path> trees;
    for (const Item& item : items(effective_.ceiling, key)) {
      if (item.pattern)
        return invalid(item.origin,
                       std::string(info(key).name) + ": \"" + printable(item.text) +
                           "\" has wildcards, which cannot bound what others ask for",
                       "name the directories in the organisation's policy");
      trees.push_back(item.path);
    }
    return trees;
  }

  void add_notes() {
    constexpr std::size_t kMost = 20;  // a project's file must not flood the notes
    const std::string* image = value<std::string>(Key::base_image);
    if (image != nullptr && !image->empty())
      add_note(Key::base_image,
               "is for backends with images; the kernel backend shows this machine's own programs");
    if (const bool* commits = value<bool>(Key::auto_commit); commits != nullptr && *commits)
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
    policy_.notes.push_back(report::to_text(find(key)->origin) + ": " +
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
