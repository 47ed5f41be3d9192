// Protected paths: read-only wherever they would be writable, whichever rule grants that.
#include <algorithm>
#include <set>

#include "base/path.h"
#include "plan/view/layout.h"
#include "report/words/words.h"

namespace coop::plan {

namespace {

std::string hint_of(const PathRule& rule) {
  return rule.precedence == Precedence::final
             ? "only the organisation can change that"
             : "drop one of the two rules; --overlay gives a private copy to write to";
}

Result<void> check_grants(const PathRule& rule, const PathFact& fact, const Policy& policy,
                          const HostFacts& host) {
  for (const PathRule& grant : policy.rules) {
    if (grant.kind != RuleKind::read_write) continue;
    const Path& granted = host.fact(grant.path).canonical;
    if (!granted.empty() && lies_in(granted, fact.canonical, host))
      return invalid(grant.origin,
                     in_quotes(grant.path) + " is protected by " + report::in_words(rule.origin),
                     hint_of(rule));
  }
  return {};
}

// Writable without a grant, inside a protected path: the workspace and its repository. A read-only
// workspace that was not requested is useless, so that is an error; the repository is only made
// read-only.
Result<void> close_inner(std::vector<Entry>& entries, const PathRule& rule, const PathFact& fact,
                         const Policy& policy, const HostFacts& host) {
  std::vector<Entry> closed;
  for (const Entry& entry : entries) {
    if (!is_writable_bind(entry) || entry.flags.devices) continue;
    if (!lies_in(entry.source, fact.canonical, host)) continue;
    if (deciding_entry(entries, entry.target) != &entry) continue;
    if (entry.source == policy.workspace)
      return invalid(Origin::of_flag("--workspace", {}, Part::workspace),
                     in_quotes(policy.workspace) + " would be writable inside " +
                         in_quotes(rule.path) + ", which is protected by " +
                         report::in_words(rule.origin),
                     "choose another --workspace, or make it read-only with --ro " +
                         printable(policy.workspace));
    closed.push_back(entry);
    closed.back().flags.access = Access::read_only;
    closed.back().origin = rule.origin;
    closed.back().why = rule.reason;
  }
  entries.insert(entries.end(), closed.begin(), closed.end());
  return {};
}

// The writable bind that shows the host's `name` at `place`; null if there is none.
const Entry* writable_at(const std::vector<Entry>& entries, const Path& name, const Path& place) {
  const Entry* entry = deciding_entry(entries, place);
  if (entry == nullptr || !is_writable_bind(*entry) || entry->flags.devices) return nullptr;
  const bool shown = is_within(name, entry->source) &&
                     join(entry->target, relative_to(name, entry->source)) == place;
  return shown ? entry : nullptr;
}

// Read-only by a rule for a parent, in the same writable bind.
bool is_protected(const std::vector<Entry>& entries, const Path& place, const Path& top) {
  return std::ranges::any_of(entries, [&](const Entry& entry) {
    return entry.kind == Entry::Kind::remount && entry.flags.access == Access::read_only &&
           is_within(place, entry.target) && is_within(entry.target, top);
  });
}

void protect_everywhere(std::vector<Entry>& entries, const PathRule& rule, const PathFact& fact,
                        const Policy& policy, const HostFacts& host,
                        std::vector<std::string>& notes) {
  bool writable = false;
  std::set<Path> names = names_of(fact, host);
  const std::vector<Path> parts = parts_of(fact, host);
  names.insert(parts.begin(), parts.end());
  for (const Path& name : names)
    for (const Path& place : places_of(name, entries, policy.view)) {
      const Entry* outer = writable_at(entries, name, place);
      if (outer == nullptr) continue;
      const Path top = outer->target;
      if (is_protected(entries, place, top)) continue;
      writable = true;
      pin_parents(entries, place, top, rule.origin, "pinned: it leads to a protected path");
      make_read_only(entries, place, Rank::protection, rule.origin, rule.reason);
    }
  if (writable && fact.links > 1 && fact.target_kind == PathKind::file)
    notes.push_back("protected file " + printable(rule.path) + " has " +
                    std::to_string(fact.links) +
                    " hard links: it can be changed through its other names");
}

void note_missing(const std::vector<Entry>& entries, const PathRule& rule, View view,
                  std::vector<std::string>& notes) {
  const std::vector<Path> places = places_of(rule.path, entries, view);
  const bool writable = std::ranges::any_of(places, [&](const Path& place) {
    const Entry* outer = writable_at(entries, rule.path, place);
    return outer != nullptr && !is_protected(entries, place, outer->target);
  });
  if (writable)
    notes.push_back("protected path " + printable(rule.path) +
                    " does not exist: it can be created inside");
}

}  // namespace

Result<void> add_protected(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                           std::vector<std::string>& notes) {
  std::vector<const PathRule*> rules;
  for (const PathRule& rule : policy.rules)
    if (rule.kind == RuleKind::protect) rules.push_back(&rule);
  // Parents come first, and cover what is in them.
  std::ranges::stable_sort(
      rules, {}, [&](const PathRule* rule) { return depth_of(host.fact(rule->path).canonical); });
  for (const PathRule* rule : rules) {
    const PathFact& fact = host.fact(rule->path);
    if (fact.target_kind == PathKind::missing) continue;
    TRY(check_root(*rule, fact));
    TRY(check_link(*rule, fact, policy, host, notes));
    TRY(check_grants(*rule, fact, policy, host));
    TRY(close_inner(entries, *rule, fact, policy, host));
    protect_everywhere(entries, *rule, fact, policy, host, notes);
  }
  for (const PathRule* rule : rules) {
    if (host.has(rule->path)) continue;
    if (rule->if_missing == Missing::fail) return missing_path(*rule);
    note_missing(entries, *rule, policy.view, notes);
  }
  return {};
}

}  // namespace coop::plan
