// Invariants of every plan: more restrictions never give more access, and the order is safe.
#include <map>
#include <set>

#include "plan/show/explain.h"
#include "policy/builtin.h"
#include "report/plan.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

const std::vector<Path> kPlaces{"/home/ann",
                                "/home/ann/project",
                                "/home/ann/project/src",
                                "/home/ann/project/.git",
                                "/home/ann/.ssh",
                                "/opt",
                                "/opt/sdk",
                                "/srv/data",
                                "/usr",
                                "/tmp",
                                "/run"};

HostFacts machine() {
  HostFacts host = anns_machine();
  for (const Path& path : kPlaces) add_path(host, path);
  add_link(host, "/opt/link", "/srv/data", "/srv/data");
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/srv", .target = "/opt/srv"}};
  add_path(host, "/opt/srv/data");
  host.workspace.guarded = {
      GuardedPath{.path = "/home/ann/project/.git/hooks", .guard = ".git/hooks"}};
  return host;
}

// What can be changed on the host: the source of each writable bind.
std::set<Path> writable_sources(const Plan& plan) {
  std::set<Path> sources;
  for (const BindMount& bind : all_of<BindMount>(plan))
    if (bind.flags.access == Access::read_write && !bind.flags.devices) sources.insert(bind.source);
  return sources;
}

// Every policy of up to two grants, in both views.
std::vector<Policy> some_policies() {
  std::vector<Policy> policies;
  for (const View view : {View::minimal, View::host}) {
    policies.push_back(policy_for(view));
    for (const Path& first : kPlaces)
      for (const RuleKind kind : {RuleKind::read_write, RuleKind::overlay, RuleKind::read_only}) {
        Policy one = policy_for(view);
        one.rules = {rule(kind, first)};
        policies.push_back(one);
        Policy two = one;
        two.rules.push_back(rule(RuleKind::read_write, "/opt/link"));
        policies.push_back(two);
      }
  }
  return policies;
}

// The access to each path, and to a file in it: larger is more.
std::map<Path, int> reach_of(const Plan& plan, const Policy& policy) {
  std::map<Path, int> reach;
  for (const Path& place : kPlaces)
    for (const Path& path : {place, join(place, "file")}) {
      constexpr int kRanks[] = {0, 0, 1, 2, 3};  // absent, hidden, readable, scratch, writable
      reach[path] = kRanks[static_cast<int>(explain(plan, policy, path).reach)];
    }
  return reach;
}

// `policy` with one more restriction (protected, finally hidden, or a bound), first or last in the
// rules.
std::vector<Policy> restricted(const Policy& policy) {
  std::vector<Policy> stricter;
  for (const Path& place : kPlaces) {
    for (const RuleKind kind : {RuleKind::protect, RuleKind::hide})
      for (const bool last : {false, true}) {
        Policy one = policy;
        PathRule added = rule(kind, place);
        added.precedence = Precedence::final;
        one.rules.insert(last ? one.rules.end() : one.rules.begin(), added);
        stricter.push_back(std::move(one));
      }
    for (const bool writing : {false, true}) {
      Policy one = policy;
      (writing ? one.bounds.writable : one.bounds.readable) = {place};
      stricter.push_back(std::move(one));
    }
  }
  return stricter;
}

TEST(PlanPropertyTest, WhatTheOrganisationRestrictsNeverAddsAnything) {
  const HostFacts host = machine();
  int compared = 0;
  int narrowed = 0;
  for (const Policy& policy : some_policies()) {
    const Result<Plan> before = compile(policy, host);
    if (!before) continue;
    const std::map<Path, int> old = reach_of(*before, policy);
    for (const Policy& stricter : restricted(policy)) {
      const Result<Plan> after = compile(stricter, host);
      if (!after) continue;
      ++compared;
      const std::map<Path, int> reach = reach_of(*after, stricter);
      if (reach != old) ++narrowed;
      for (const auto& [path, much] : reach)
        EXPECT_LE(much, old.at(path)) << path << "\n"
                                      << report::plan_text(*before, report::Detail::steps)
                                      << report::plan_text(*after, report::Detail::steps);
    }
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(narrowed, 200);
}

TEST(PlanPropertyTest, WhatIsProtectedIsNotWritableAndWhatIsHiddenForGoodNotReadable) {
  const HostFacts host = machine();
  int compared = 0;
  for (const Policy& policy : some_policies())
    for (const Path& place : kPlaces)
      for (const RuleKind kind : {RuleKind::protect, RuleKind::hide}) {
        Policy stricter = policy;
        stricter.rules.insert(stricter.rules.begin(), rule(kind, place));
        stricter.rules.front().precedence = Precedence::final;
        const Result<Plan> plan = compile(stricter, host);
        if (!plan) continue;
        ++compared;
        for (const auto& [path, much] : reach_of(*plan, stricter))
          if (is_within(path, place)) {
            EXPECT_LE(much, kind == RuleKind::hide ? 0 : 2)
                << path << "\n"
                << report::plan_text(*plan, report::Detail::steps);
          }
      }
  EXPECT_GT(compared, 500);
}

TEST(PlanPropertyTest, HidingAndReadOnlyNeverAddAWritablePath) {
  const HostFacts host = machine();
  int compared = 0;
  for (const Policy& policy : some_policies()) {
    const Result<Plan> before = compile(policy, host);
    if (!before) continue;
    for (const Path& place : kPlaces)
      for (const RuleKind kind : {RuleKind::hide, RuleKind::read_only})
        for (const bool last : {false, true}) {
          Policy stricter = policy;
          stricter.rules.insert(last ? stricter.rules.end() : stricter.rules.begin(),
                                rule(kind, place));
          const Result<Plan> after = compile(stricter, host);
          if (!after) continue;
          ++compared;
          const std::set<Path> old = writable_sources(*before);
          for (const Path& source : writable_sources(*after))
            EXPECT_TRUE(old.contains(source)) << source << " became writable\n"
                                              << report::plan_text(*after, report::Detail::steps);
        }
  }
  EXPECT_GT(compared, 2000);
}

TEST(PlanPropertyTest, WhatIsHiddenIsNotShownByAnyBindButAnExplicitGrant) {
  const HostFacts host = machine();
  for (Policy policy : some_policies()) {
    policy.rules.push_back(rule(RuleKind::hide, "/srv/data"));
    const Result<Plan> plan = compile(policy, host);
    if (!plan) continue;
    const auto hidden = [&](const Path& place) {
      return std::ranges::any_of(plan->steps, [&](const Step& step) {
        return (std::holds_alternative<HideMount>(step.action) ||
                std::holds_alternative<TmpfsMount>(step.action)) &&
               is_within(place, target_of(step.action));
      });
    };
    if (policy.view == View::host) {
      EXPECT_TRUE(hidden("/srv/data")) << report::plan_text(*plan, report::Detail::steps);
      EXPECT_TRUE(hidden("/opt/srv/data")) << report::plan_text(*plan, report::Detail::steps);
    }
    for (const BindMount& bind : all_of<BindMount>(*plan)) {
      if (!is_within("/srv/data", bind.source)) continue;
      EXPECT_TRUE(hidden(join(bind.target, relative_to("/srv/data", bind.source))))
          << report::plan_text(*plan, report::Detail::steps);
    }
  }
}

TEST(PlanPropertyTest, MountsComeShallowFirstAndConfinementLast) {
  const HostFacts host = machine();
  for (const Policy& policy : some_policies()) {
    const Result<Plan> plan = compile(policy, host);
    if (!plan) continue;
    std::size_t depth = 0;
    bool entered = false;
    for (const Step& step : plan->steps) {
      if (std::holds_alternative<EnterRoot>(step.action)) entered = true;
      const bool mount = std::holds_alternative<BindMount>(step.action) ||
                         std::holds_alternative<HideMount>(step.action) ||
                         std::holds_alternative<OverlayMount>(step.action) ||
                         std::holds_alternative<TmpfsMount>(step.action) ||
                         std::holds_alternative<Remount>(step.action);
      if (!mount) continue;
      EXPECT_FALSE(entered) << "a mount after the host's tree is gone";
      EXPECT_GE(depth_of(target_of(step.action)), depth);
      depth = depth_of(target_of(step.action));
    }
    ASSERT_GE(plan->steps.size(), 4u);
    EXPECT_TRUE(entered);
    EXPECT_EQ(plan->steps[plan->steps.size() - 4].action,
              Action{InstallSeccomp{"default"}});  // then only looks
  }
}

TEST(PlanPropertyTest, TheSamePolicyGivesTheSamePlan) {
  const HostFacts host = machine();
  for (const Policy& policy : some_policies())
    EXPECT_TRUE(compile(policy, host) == compile(policy, host));
}

TEST(PlanPropertyTest, EveryFactThePlannerLooksAtIsAskedForFirst) {
  // A machine that has everything; then only the wanted paths of it must give the same plan.
  const HostFacts whole = machine();
  std::vector<Policy> policies = some_policies();
  for (const Policy& policy : restricted(policies.back())) policies.push_back(policy);
  for (const Policy& policy : policies) {
    HostFacts asked = whole;
    asked.paths.clear();
    for (const Path& path : wanted_paths(policy, whole))
      if (whole.paths.contains(path)) asked.paths[path] = whole.fact(path);
    for (const Path& path : wanted_aliases(policy, whole))
      if (whole.paths.contains(path)) asked.paths[path] = whole.fact(path);
    const Result<Plan> expected = compile(policy, whole);
    const Result<Plan> actual = compile(policy, asked);
    EXPECT_TRUE(expected == actual) << (actual ? "another plan" : to_text(actual.error()));
  }
}

}  // namespace
}  // namespace coop::plan
