#include "plan/environment.h"

#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

TEST(PlanEnvironmentTest, VariablesOfCoopCannotBeReplaced) {
  Policy policy = policy_for(View::minimal);
  HostFacts host = anns_machine();
  host.now = "2026-11-18T00:00:00Z";
  host.environment["COOP_CREATED"] = "then";
  policy.set_environment = {
      {"COOP_SESSION", "mine"}, {"COOP_WORKSPACE", "/x"}, {"COOP_OTHER", "y"}};
  policy.pass_environment = {"COOP_CREATED"};
  const auto environment = environment_for(policy, host);
  EXPECT_EQ(environment.at("COOP_SESSION"), "test");
  EXPECT_EQ(environment.at("COOP_WORKSPACE"), "/work");
  EXPECT_EQ(environment.at("COOP_CREATED"), host.now);
  EXPECT_EQ(environment.at("COOP_OTHER"), "y");
}

TEST(PlanEnvironmentTest, AWildcardInAPolicyIsAnError) {
  Policy policy = policy_for(View::minimal);
  policy.pass_environment = {"ANTHROPIC_*"};
  EXPECT_NE(to_text(must_fail(policy, anns_machine())).find("is not the name of a variable"),
            std::string::npos);
}

}  // namespace
}  // namespace coop::plan
