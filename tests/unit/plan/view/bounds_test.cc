// What the organisation decides: final rules and bounds. And what else a policy brings along.
#include <gmock/gmock.h>

#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

HostFacts bounded_machine() {
  HostFacts host = anns_machine();
  for (const char* path : {"/opt", "/opt/sdk", "/srv/data", "/srv/data/inner", "/etc/ssl/certs",
                           "/etc", "/home/ann/project/build", "/home/ann/.ssh"})
    add_path(host, path);
  add_path(host, "/srv/data/file", PathKind::file);
  add_link(host, "/opt/link", "/srv/data", "/srv/data");
  return host;
}

PathRule final_hide(const Path& path) {
  PathRule hide = rule(RuleKind::hide, path);
  hide.origin = in_file("/etc/coop/policy.toml", 4);
  hide.precedence = Precedence::final;
  return hide;
}

Policy with(View view, std::vector<PathRule> rules) {
  Policy policy = policy_for(view);
  policy.rules = std::move(rules);
  return policy;
}

constexpr RuleKind kShowing[] = {RuleKind::read_only, RuleKind::read_write, RuleKind::overlay,
                                 RuleKind::tmpfs};

TEST(PlanFinalTest, NoRuleShowsOrCoversWhatTheOrganisationHides) {
  for (const View view : {View::minimal, View::host})
    for (const RuleKind kind : kShowing)
      for (const char* path : {"/srv/data", "/srv/data/inner", "/opt/link"}) {
        const PathRule grant = rule(kind, path);
        const Error expected{
            .kind = Error::Kind::invalid,
            .subject = std::string("\"") + path + "\" is hidden by /etc/coop/policy.toml:4",
            .hint = "only the organisation can change that",
            .origin = grant.origin};
        EXPECT_EQ(must_fail(with(view, {final_hide("/srv/data"), grant}), bounded_machine()),
                  expected);
        EXPECT_EQ(must_fail(with(view, {grant, final_hide("/srv/data")}), bounded_machine()),
                  expected);
      }
}

TEST(PlanFinalTest, WithoutTheWordFinalALaterGrantWins) {
  PathRule hide = final_hide("/srv/data");
  hide.precedence = Precedence::by_order;
  const Plan plan = must_compile(with(View::host, {hide, rule(RuleKind::read_only, "/srv/data")}),
                                 bounded_machine());
  EXPECT_TRUE(same(about(plan, "/srv"), {BindMount{"/srv/data", "/srv/data"}}));
}

TEST(PlanFinalTest, AGrantAboveShowsAllButTheHidden) {
  for (const RuleKind kind : {RuleKind::read_only, RuleKind::read_write}) {
    HostFacts host = bounded_machine();
    add_path(host, "/srv");
    const Plan plan =
        must_compile(with(View::host, {final_hide("/srv/data"), rule(kind, "/srv")}), host);
    EXPECT_EQ(all_of<HideMount>(plan), std::vector{HideMount{"/srv/data"}});
  }
}

TEST(PlanFinalTest, AnOrdinaryRuleForTheSamePathDoesNotReplaceIt) {
  const Plan plan =
      must_compile(with(View::host, {final_hide("/srv/data"), rule(RuleKind::hide, "/srv/data")}),
                   bounded_machine());
  const auto step = std::ranges::find(plan.steps, Action{HideMount{"/srv/data"}}, &Step::action);
  ASSERT_NE(step, plan.steps.end());
  EXPECT_EQ(step->origin, in_file("/etc/coop/policy.toml", 4));
}

TEST(PlanFinalTest, TheWorkspaceCannotBeInIt) {
  for (const char* path : {"/home/ann", kProject}) {
    const Error error = must_fail(with(View::minimal, {final_hide(path)}), bounded_machine());
    EXPECT_EQ(to_text(error), std::string("--workspace: \"") + kProject +
                                  "\" is hidden by /etc/coop/policy.toml:4");
  }
  HostFacts host = bounded_machine();
  host.workspace.outside_git = {"/srv/data/inner"};
  EXPECT_EQ(to_text(must_fail(with(View::minimal, {final_hide("/srv/data")}), host)),
            "the repository of the workspace: --workspace: \"/srv/data/inner\" is hidden by "
            "/etc/coop/policy.toml:4");
}

TEST(PlanFinalTest, AnotherNameFromTheHostsMountsDoesNotHelp) {
  HostFacts host = bounded_machine();
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "8:1", .root = "/srv/data/inner", .target = "/opt/in"}};
  add_path(host, "/opt/in");
  EXPECT_EQ(
      to_text(must_fail(
          with(View::host, {final_hide("/srv/data"), rule(RuleKind::read_only, "/opt/in")}), host)),
      "--ro: \"/opt/in\" is hidden by /etc/coop/policy.toml:4");
}

TEST(PlanFinalTest, TheMinimalViewItselfShowsNothingOfIt) {
  const BindMount certificates{"/etc/ssl/certs", "/etc/ssl/certs"};
  EXPECT_THAT(all_of<BindMount>(must_compile(policy_for(View::minimal), bounded_machine())),
              testing::Contains(certificates));  // control
  EXPECT_THAT(
      all_of<BindMount>(must_compile(with(View::minimal, {final_hide("/etc")}), bounded_machine())),
      testing::Not(testing::Contains(certificates)));
}

Policy bounded(std::vector<PathRule> rules, Bounds bounds) {
  Policy policy = with(View::host, std::move(rules));
  policy.bounds = std::move(bounds);
  policy.bounds.origin = in_file("/etc/coop/policy.toml", 0);
  return policy;
}

std::string refusal(const PathRule& grant, const Bounds& bounds) {
  const Result<Plan> plan = compile(bounded({grant}, bounds), bounded_machine());
  return plan ? "" : to_text(plan.error()) + "; " + plan.error().hint;
}

const Bounds kReadable{.readable = std::vector<Path>{"/opt", "/usr"}};
const Bounds kWritable{.writable = std::vector<Path>{"/opt/sdk"}};
const Bounds kBoth{.readable = std::vector<Path>{"/srv"}, .writable = std::vector<Path>{"/opt"}};

TEST(PlanBoundsTest, WhatIsReadMustLieInTheReadableTrees) {
  for (const RuleKind kind : {RuleKind::read_only, RuleKind::overlay}) {
    const std::string flag = rule(kind, "/").origin.flag;
    EXPECT_EQ(refusal(rule(kind, "/opt/sdk"), kReadable), "");
    EXPECT_EQ(refusal(rule(kind, "/opt"), kReadable), "");
    EXPECT_EQ(refusal(rule(kind, "/srv/data"), kReadable),
              flag +
                  ": \"/srv/data\" is outside what /etc/coop/policy.toml allows; what may be "
                  "read: /opt, /usr");
    EXPECT_EQ(refusal(rule(kind, "/srv/data"), kWritable), "");
    EXPECT_NE(refusal(rule(kind, "/opt"), kBoth), "");
  }
}

TEST(PlanBoundsTest, WhatIsWrittenMustLieInTheWritableTreesOrElseTheReadableOnes) {
  EXPECT_EQ(refusal(rule(RuleKind::read_write, "/opt/sdk"), kWritable), "");
  EXPECT_EQ(refusal(rule(RuleKind::read_write, "/opt"), kWritable),
            "--rw: \"/opt\" is outside what /etc/coop/policy.toml allows; what may be written: "
            "/opt/sdk");
  EXPECT_EQ(refusal(rule(RuleKind::read_write, "/opt"), kReadable), "");
  EXPECT_NE(refusal(rule(RuleKind::read_write, "/srv/data"), kReadable), "");
  EXPECT_EQ(refusal(rule(RuleKind::read_write, "/opt"), kBoth), "");
  EXPECT_NE(refusal(rule(RuleKind::read_write, "/srv/data"), kBoth), "");
}

TEST(PlanBoundsTest, AnEmptyListAllowsNothing) {
  EXPECT_EQ(refusal(rule(RuleKind::read_only, "/opt"), {.readable = std::vector<Path>{}}),
            "--ro: \"/opt\" is outside what /etc/coop/policy.toml allows; nothing outside the "
            "workspace may be read");
  EXPECT_NE(refusal(rule(RuleKind::read_write, "/opt"), {.writable = std::vector<Path>{}}), "");
}

TEST(PlanBoundsTest, WhatShowsNothingOfTheHostIsNotBounded) {
  for (const RuleKind kind : {RuleKind::hide, RuleKind::tmpfs, RuleKind::protect})
    EXPECT_EQ(refusal(rule(kind, "/srv/data"), kReadable), "");
  PathRule built_in = rule(RuleKind::read_only, "/srv/data");
  built_in.origin = Origin::of_coop();
  EXPECT_EQ(refusal(built_in, kReadable), "");
}

TEST(PlanBoundsTest, TheWorkspaceIsNotBounded) {
  for (const RuleKind kind : {RuleKind::read_only, RuleKind::read_write, RuleKind::overlay})
    EXPECT_EQ(refusal(rule(kind, "/home/ann/project/build"), kReadable), "");
  // But a read-only one does not become writable in parts.
  Policy policy = bounded({rule(RuleKind::read_write, "/home/ann/project/build")}, kWritable);
  policy.workspace_access = Access::read_only;
  EXPECT_EQ(must_fail(policy, bounded_machine()).origin, Origin::of_flag("--rw"));
}

TEST(PlanBoundsTest, SymlinksLeadNeitherOutOfABoundNorAroundIt) {
  EXPECT_NE(refusal(rule(RuleKind::read_only, "/opt/link"), kReadable), "");  // it is /srv/data
  EXPECT_EQ(refusal(rule(RuleKind::read_only, "/srv/data/inner"),
                    {.readable = std::vector<Path>{"/opt/link"}}),
            "");
}

TEST(PlanBoundsTest, ABoundThatDoesNotExistBoundsWithItsText) {
  const Bounds missing{.readable = std::vector<Path>{"/no/such"}};
  EXPECT_NE(refusal(rule(RuleKind::read_only, "/opt"), missing), "");
}

TEST(PlanBoundsTest, TheFactsOfTheBoundsAreAskedFor) {
  EXPECT_THAT(wanted_paths(bounded({}, kBoth), bounded_machine()),
              testing::AllOf(testing::Contains("/srv"), testing::Contains("/opt")));
}

TEST(PlanPolicyTest, NotesOfThePolicyComeFirst) {
  Policy policy = policy_for(View::minimal);
  policy.network = NetworkMode::host;
  policy.notes = {"one", "two"};
  EXPECT_THAT(must_compile(policy, bounded_machine()).notes,
              testing::ElementsAre("one", "two", testing::HasSubstr("unsafe.host_network")));
}

TEST(PlanPolicyTest, AnUnmatchedPatternIsNotTakenForAName) {
  PathRule pattern = rule(RuleKind::hide, "/srv/*");
  pattern.if_missing = Missing::skip;
  pattern.pattern = true;
  EXPECT_EQ(must_fail(with(View::host, {pattern}), bounded_machine()).kind, Error::Kind::internal);
}

}  // namespace
}  // namespace coop::plan
