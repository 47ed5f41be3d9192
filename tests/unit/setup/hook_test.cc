#include "setup/hook.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace coop::setup {

namespace {

Json event(Json input) {
  return {
      {"hook_event_name", "PreToolUse"}, {"tool_name", "Bash"}, {"tool_input", std::move(input)}};
}

Json answer(const Json& input) {
  const Result<std::string> said = claude_hook(input.dump(), "/opt/coop");
  return said ? Json::parse(*said).at("hookSpecificOutput") : Json(to_text(said.error()));
}

}  // namespace

TEST(HookTest, TheCommandBecomesOneOfCoop) {
  const Json expected{
      {"hookEventName", "PreToolUse"},
      {"permissionDecision", "allow"},
      {"permissionDecisionReason", "coop runs it in a sandbox"},
      {"updatedInput",
       {{"command",
         R"('/opt/coop' tool bash --plain --view host '{"command":"echo '\''$(id)'\''\n\"x\"","timeout":2}')"},
        {"timeout", 1001},
        {"description", "d"}}}};
  EXPECT_EQ(
      answer(event({{"command", "echo '$(id)'\n\"x\""}, {"timeout", 1001}, {"description", "d"}})),
      expected);
}

TEST(HookTest, TimesAreWithinThoseOfTheTool) {
  const auto command = [](const Json& input) {
    return answer(event(input)).at("updatedInput").at("command").get<std::string>();
  };
  EXPECT_TRUE(command({{"command", "x"}, {"timeout", -5}}).contains(R"("timeout":1})"));
  EXPECT_TRUE(command({{"command", "x"}, {"timeout", INT64_MAX}}).contains(R"("timeout":3600})"));
  EXPECT_TRUE(
      command({{"command", "x"}, {"run_in_background", true}}).contains(R"("timeout":3600})"));
}

TEST(HookTest, InPlanModeTheUserIsAsked) {
  Json planning = event({{"command", "ls"}});
  planning["permission_mode"] = "plan";
  EXPECT_EQ(answer(planning).at("permissionDecision"), "ask");
}

TEST(HookTest, AnythingElseIsAnError) {
  Json other = event({{"command", "ls"}});
  other["tool_name"] = "Write";
  Json later = event({{"command", "ls"}});
  later["hook_event_name"] = "PostToolUse";
  for (const Json& input : {other, later, event({}), event({{"command", 1}}), event("ls"), Json(),
                            event({{"command", std::string(200'000, 'x')}})})
    EXPECT_TRUE(answer(input).is_string()) << input.dump().substr(0, 100);
  EXPECT_FALSE(claude_hook("", "/opt/coop"));
  EXPECT_FALSE(claude_hook("{", "/opt/coop"));
}

}  // namespace coop::setup
