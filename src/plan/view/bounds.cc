// The organisation's bounds on all grants.
#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "plan/view/layout.h"
#include "report/words/words.h"

namespace coop::plan {

namespace {

constexpr std::string_view kOrganisation = "only the organisation can change that";

Result<void> check_hidden(const Policy& policy, const HostFacts& host, const Origin& origin,
                          const Path& written, const Path& canonical) {
  for (const PathRule& rule : policy.rules) {
    if (rule.kind != RuleKind::hide || rule.precedence != Precedence::final) continue;
    const PathFact& hidden = host.fact(rule.path);
    if (hidden.canonical.empty() || !lies_in(canonical, hidden.canonical, host)) continue;
    return invalid(origin, in_quotes(written) + " is hidden by " + report::in_words(rule.origin),
                   kOrganisation);
  }
  return {};
}

// Compare canonical paths: a grant must not leave a bound through a symlink, nor a bound be missed.
// A missing path is compared textually.
bool is_inside(const Path& path, const std::vector<Path>& bounds, const HostFacts& host) {
  return std::ranges::any_of(bounds, [&](const Path& bound) {
    const Path& canonical = host.fact(bound).canonical;
    return is_within(path, canonical.empty() ? bound : canonical);
  });
}

bool comes_with_the_workspace(const PathRule& rule, const PathFact& fact, const Policy& policy) {
  return is_within(fact.canonical, policy.workspace) &&
         (rule.kind != RuleKind::read_write || policy.workspace_access == Access::read_write);
}

Result<void> check_workspace(const Policy& policy, const HostFacts& host) {
  const auto& trees = policy.bounds.workspaces;
  if (!trees || is_inside(policy.workspace, *trees, host)) return {};
  return invalid(Origin::of_flag("--workspace"),
                 in_quotes(policy.workspace) + " is not where " +
                     report::in_words(policy.bounds.origin) + " allows a workspace",
                 trees->empty() ? std::string(kOrganisation)
                                : "a workspace may be in: " + printable(joined(*trees, ", ")));
}

}  // namespace

Result<void> check_final(const Policy& policy, const HostFacts& host) {
  TRY(check_workspace(policy, host));
  const bool any = std::ranges::any_of(policy.rules, [](const PathRule& rule) {
    return rule.precedence == Precedence::final && rule.kind == RuleKind::hide;
  });
  if (!any) return {};
  const Origin workspace = Origin::of_flag("--workspace", {}, Part::workspace);
  TRY(check_hidden(policy, host, workspace, policy.workspace, policy.workspace));
  for (const Path& git : host.workspace.outside_git)
    TRY(with_context("the repository of the workspace",
                     check_hidden(policy, host, workspace, git, git)));
  for (const PathRule& rule : policy.rules) {
    if (rule.kind == RuleKind::hide || rule.kind == RuleKind::protect) continue;
    const PathFact& fact = host.fact(rule.path);
    if (fact.canonical.empty()) continue;
    TRY(check_hidden(policy, host, rule.origin, rule.path, fact.canonical));
  }
  return {};
}

Result<void> check_bounds(const PathRule& rule, const PathFact& fact, const Policy& policy,
                          const HostFacts& host) {
  const bool writes = rule.kind == RuleKind::read_write;
  const bool shows = rule.kind == RuleKind::read_only || rule.kind == RuleKind::overlay;
  const bool empties = rule.kind == RuleKind::tmpfs;
  if (!writes && !shows && !empties) return {};
  if (rule.origin.scope == Scope::built_in ||
      (!empties && comes_with_the_workspace(rule, fact, policy)))
    return {};
  const Bounds& bounds = policy.bounds;
  const auto& trees = empties                     ? bounds.tmpfs
                      : writes && bounds.writable ? bounds.writable
                                                  : bounds.readable;
  if (!trees || is_inside(fact.canonical, *trees, host)) return {};
  const std::string_view word = empties ? "a tmpfs" : writes ? "written" : "read";
  return invalid(
      rule.origin,
      in_quotes(rule.path) + " is outside what " + report::in_words(bounds.origin) + " allows",
      trees->empty() ? "nothing outside the workspace may be " + std::string(word)
                     : "what may be " + std::string(word) + ": " + printable(joined(*trees, ", ")));
}

}  // namespace coop::plan
