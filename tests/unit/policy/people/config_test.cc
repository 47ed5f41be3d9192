// coop.toml: its meaning, and every mistake in it with its position.
#include "policy/people/config.h"

#include <gmock/gmock.h>

#include <chrono>

#include "config_text.h"

namespace coop::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> found_in(std::string_view text) { return read_text(text).found(); }

Setting word(const char* value, Position at, Scope scope = Scope::config) {
  return {.value = std::string(value), .origin = {scope, "coop.toml", at}};
}

// --- What a file means --------------------------------------------------------------------------

TEST(ConfigTest, AWholeFileBecomesWhatItSays) {
  const Config config = good_config(R"([agent]
id = "hen"
name = "Hen"
workspace = "~/hen"

[sandbox]
enabled = true

[[users]]
name = "ann"
trust = "owner"
match = ["terminal:default", "signal:ann-uuid"]

[[users]]
name = "ben"
trust = "inner"
sandbox = { allow_network = true }

[[cron]]
name = "nightly"
cron = "30 4 * * mon-fri"
user = "ben"
message = "clean up"
)");
  Config expected{.file = "coop.toml"};
  expected.sandbox[Key::mode] = word("enabled", {7, 11});
  expected.agents = {{.id = "hen", .name = "Hen", .workspace = "/home/ann/hen", .at = {1, 1}}};
  expected.users = {{.name = "ann",
                     .trust = TrustLevel::owner,
                     .match = {"terminal:default", "signal:ann-uuid"},
                     .at = {9, 1}},
                    {.name = "ben",
                     .trust = TrustLevel::inner,
                     .sandbox = {{Key::network, word("full", {17, 29}, Scope::override)}},
                     .at = {14, 1}}};
  expected.cron = {{.name = "nightly",
                    .expression = "30 4 * * mon-fri",
                    .user = "ben",
                    .message = "clean up",
                    .at = {19, 1}}};
  EXPECT_EQ(config, expected);
}

TEST(ConfigTest, AnEmptyFileHasNoUsersAndNoSettings) {
  EXPECT_EQ(good_config(""), Config{.file = "coop.toml"});
  EXPECT_EQ(good_config("# nothing\n"), Config{.file = "coop.toml"});
  EXPECT_TRUE(sandbox_enabled(good_config("")));
}

TEST(ConfigTest, SeveralAgentsComeAfterTheOneWithoutAList) {
  const Config config = good_config(R"([[agents]]
id = "b"
[agents.sandbox]
mode = "enabled"
[[agents]]
id = "c"
[agent]
name = "first"
)");
  std::vector<std::string> ids;
  for (const Agent& agent : config.agents) ids.push_back(agent.id);
  EXPECT_THAT(ids, ElementsAre("", "b", "c"));
  EXPECT_EQ(config.agents[0].name, "first");
}

TEST(ConfigTest, AWorkspaceMayUseTheHomeVariablesAndTheFilesPlace) {
  const auto workspace = [](const std::string& text) {
    return good_config("[agent]\nworkspace = \"" + text + "\"\n").agents[0].workspace;
  };
  EXPECT_EQ(workspace("~"), "/home/ann");
  EXPECT_EQ(workspace("$PROJECTS/x"), "/data/projects/x");
  EXPECT_EQ(workspace("work"), "/srv/agent/work");
  EXPECT_EQ(workspace("/abs/olute/"), "/abs/olute");
  EXPECT_EQ(workspace("/a/w*"), "/a/w*");
}

TEST(ConfigTest, AnAgentWithoutAWorkspaceHasTheSandboxes) {
  const Config config = good_config(R"([sandbox]
workspace = "~/common"
[[agents]]
id = "own"
workspace = "/own"
[[agents]]
id = "box"
sandbox = { workspace = "/box" }
[[agents]]
id = "none"
)");
  std::vector<Path> workspaces;
  for (const Agent& agent : config.agents) workspaces.push_back(agent.workspace);
  EXPECT_THAT(workspaces, ElementsAre("/own", "/box", "/home/ann/common"));
  EXPECT_EQ(good_config("[agent]\nid = \"a\"\n").agents[0].workspace, "");
}

TEST(ConfigTest, TheSandboxIsOnUnlessTheAgentOrTheFileDisablesIt) {
  const auto enabled = [](const std::string& text) {
    const Config config = good_config(text);
    return std::pair(sandbox_enabled(config),
                     sandbox_enabled(config, config.agents.empty() ? nullptr : &config.agents[0]));
  };
  using Pair = std::pair<bool, bool>;
  EXPECT_EQ(enabled("[agent]\n"), Pair(true, true));
  EXPECT_EQ(enabled("[sandbox]\nmemory = \"2g\"\n"), Pair(true, true));
  EXPECT_EQ(enabled("[sandbox]\nenabled = true\n"), Pair(true, true));
  EXPECT_EQ(enabled("[sandbox]\nenabled = false\n"), Pair(false, false));
  EXPECT_EQ(enabled("[sandbox]\nmode = \"enabled\"\n[agent]\n"), Pair(true, true));
  EXPECT_EQ(enabled("[agent.sandbox]\nmode = \"disabled\"\n"), Pair(true, false));
  EXPECT_EQ(enabled("[sandbox]\nenabled = false\n[agent.sandbox]\nmode = \"enabled\"\n"),
            Pair(false, true));
  EXPECT_EQ(enabled("[sandbox]\nenabled = true\n[agent.sandbox]\nmode = \"disabled\"\n"),
            Pair(true, false));
}

// --- The shapes of the requirement documents ------------------------------------------------------

TEST(ConfigTest, EveryShapeOfTheRequirementsLoads) {
  const char* const files[] = {
      // The owner is a user like others.
      "[[users]]\nname = \"rita\"\ntrust = \"owner\"\nmatch = [\"terminal:default\", "
      "\"signal:rita-uuid\"]\n",
      // Enabled, an owner and a fully trusted remote user.
      "[sandbox]\nenabled = true\n[[users]]\nname = \"rita\"\ntrust = \"owner\"\nmatch = "
      "[\"terminal:default\", \"signal:+15550001000\"]\n[[users]]\nname = \"sam\"\ntrust = "
      "\"full\"\nmatch = [\"signal:+15550001001\"]\n",
      // No owner: the terminal is.
      "[sandbox]\nenabled = true\n[[users]]\nname = \"sam\"\ntrust = \"inner\"\nmatch = "
      "[\"signal:+15550001001\"]\n",
      // A network, and larger limits.
      "[sandbox]\nenabled = true\nallow_network = true\nmemory = \"4g\"\npids_limit = 1024\n",
      // A network for one of them.
      "[sandbox]\nenabled = true\nallow_network = false\n[[users]]\nname = \"rita\"\ntrust = "
      "\"owner\"\nmatch = [\"terminal:default\"]\n[[users]]\nname = \"sam\"\ntrust = "
      "\"full\"\nmatch = [\"signal:+15550001001\"]\nsandbox = { allow_network = true }\n",
      "[sandbox]\nenabled = true\n",
      // Containers: an image, its network and its limits.
      "[sandbox]\nenabled = true\nbase_image = \"registry.example/team/dev:2\"\nnetwork = "
      "\"bridge\"\nmemory = \"3g\"\ncpus = 3\n",
      "[sandbox]\nenabled = true\nbackend = \"auto\"\nbase_image = \"debian:12\"\nmemory = "
      "\"2g\"\ncpus = 2\nnetwork = \"none\"\nauto_commit = true\ncache_volumes = [\"cargo\", "
      "\"pip\", \"npm\"]\n",
      // One user has a bridge, the other inherits.
      "[sandbox]\nenabled = true\nnetwork = \"none\"\n[[users]]\nname = \"rita\"\ntrust = "
      "\"full\"\nmatch = [\"terminal:default\", \"signal:rita-uuid\"]\nsandbox = { network = "
      "\"bridge\" }\n[[users]]\nname = \"sam\"\ntrust = \"inner\"\nmatch = [\"signal:sam-uuid\"]\n",
      // A job with an image of its own.
      "[[users]]\nname = \"rita\"\ntrust = \"full\"\n[[cron]]\nname = \"release\"\ncron = \"0 3 * "
      "* "
      "*\"\nuser = \"rita\"\nmessage = \"make a release\"\nsandbox = { image = "
      "\"team/release-tools:1\", network = \"bridge\" }\n",
      // Nothing is kept.
      "[sandbox]\nenabled = true\nauto_commit = false\nbase_image = "
      "\"registry.example/team/tight:1\"\nnetwork = \"none\"\n",
      // Per agent, with more writable directories.
      "[[agents]]\nid = \"first\"\n[agents.sandbox]\nmode = \"enabled\"\nwritable_paths = "
      "[\"/home/ann/projects/app\"]\n",
      // All overrides at once.
      "[[users]]\nname = \"sam\"\ntrust = \"inner\"\nsandbox = { image = \"a:1\", network = "
      "\"none\", memory = \"1g\", cpus = 1, pids = 64 }\n",
  };
  for (const char* file : files) EXPECT_THAT(found_in(file), IsEmpty()) << file;
}

// --- Unknown keys ---------------------------------------------------------------------------------

TEST(ConfigTest, WhatIsTheGatewaysIsLeftAloneAndSaidSo) {
  EXPECT_THAT(
      found_in("[agent]\nmodel = \"large\"\n[telemetry]\nlevel = 1\n"),
      ElementsAre("3:2 warning unknown_key: \"telemetry\" at the top level is not coop's "
                  "and is left alone",
                  "2:1 warning unknown_key: \"model\" of an agent is not coop's and is left "
                  "alone"));
}

TEST(ConfigTest, AKeyThatIsNearlyAKnownOneIsAMistake) {
  EXPECT_THAT(found_in("[[user]]\nname = \"a\"\n"),
              ElementsAre("1:3 error unknown_key: unknown key \"user\" at the top level "
                          "[did you mean \"users\"?]"));
  EXPECT_THAT(found_in("[sandbx]\nenabled = true\n"),
              ElementsAre("1:2 error unknown_key: unknown key \"sandbx\" at the top level "
                          "[did you mean \"sandbox\"?]"));
  EXPECT_THAT(found_in("[agent]\nworkspaces = \"/x\"\n"),
              ElementsAre("2:1 error unknown_key: unknown key \"workspaces\" of an agent "
                          "[did you mean \"workspace\"?]"));
  EXPECT_THAT(found_in("[[users]]\nname = \"a\"\ntrust = \"full\"\nmatches = []\nphone = 1\n"),
              ElementsAre("4:1 error unknown_key: unknown key \"matches\" of a user "
                          "[did you mean \"match\"?]",
                          "5:1 warning unknown_key: \"phone\" of a user is not coop's and is left "
                          "alone"));
  EXPECT_THAT(found_in("[[cron]]\nname = \"a\"\ncron = \"@daily\"\nmesage = \"x\"\ncommand = "
                       "\"y\"\ndeliver = 1\n"),
              ElementsAre("4:1 error unknown_key: unknown key \"mesage\" of a cron job "
                          "[did you mean \"message\"?]",
                          "6:1 warning unknown_key: \"deliver\" of a cron job is not coop's and is "
                          "left alone"));
}

TEST(ConfigTest, AShortKeyIsNotTakenForAnotherOfWhichNothingIsLeft) {
  EXPECT_THAT(found_in("[agent]\nkind = \"x\"\n"),
              ElementsAre("2:1 warning unknown_key: \"kind\" of an agent is not coop's and is left "
                          "alone"));
}

TEST(ConfigTest, AnUnknownSettingOfTheSandboxIsAlwaysAMistake) {
  for (const char* text :
       {"[sandbox]\nzzz = 1\n", "[agent.sandbox]\nzzz = 1\n",
        "[[agents]]\nid = \"a\"\n"
        "[agents.sandbox]\nzzz = 1\n",
        "[[users]]\nname = \"a\"\ntrust = \"full\"\nsandbox = { zzz = 1 }\n",
        "[[users]]\nname = \"a\"\ntrust = \"full\"\nsandbox = { writable_paths = [\"/\"] }\n"})
    EXPECT_TRUE(has_errors(read_text(text).findings)) << text;
}

// --- Wrong types ----------------------------------------------------------------------------------

TEST(ConfigTest, TablesAndListsMustBeThat) {
  EXPECT_THAT(found_in("agent = 1\nagents = \"x\"\nsandbox = true\nusers = {}\ncron = [1]\n"),
              ElementsAre("3:11 error sandbox_settings: sandbox at the top level must be a table, "
                          "not true or false [sandbox = { … }, or a [sandbox] table]",
                          "1:1 error agent: agent must be a table, not a whole number "
                          "[write [agent]]",
                          "2:1 error agent: agents must be a list of tables, not a string "
                          "[write [[agents]] before each one]",
                          "4:1 error user: users must be a list of tables, not a table "
                          "[write [[users]] before each one]",
                          "5:9 error cron: cron must be a list of tables, and this is a whole "
                          "number [write [[cron]] before each one]"));
  EXPECT_THAT(found_in("[[agent]]\nid = \"a\"\n"),
              ElementsAre("1:3 error agent: agent must be a table, not a list "
                          "[write [[agents]] for several]"));
}

TEST(ConfigTest, AMistakeInTheSyntaxIsOneFindingWithItsPlace) {
  const ReadConfig read = read_text("[sandbox]\nenabled = tru\n");
  ASSERT_EQ(read.findings.size(), 1u);
  EXPECT_EQ(read.findings[0].check, "syntax");
  EXPECT_EQ(read.findings[0].severity, Severity::error);
  EXPECT_EQ(read.findings[0].file, "coop.toml");
  EXPECT_EQ(read.findings[0].at.line, 2);
  EXPECT_GT(read.findings[0].at.column, 1);
  EXPECT_EQ(read.config, Config{.file = "coop.toml"});
}

TEST(ConfigTest, AFileWithAColonInItsNameStillHasItsPlaces) {
  Findings findings;
  read_config("[sandbox\n", "/x/a:7:b.toml", {}, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].file, "/x/a:7:b.toml");
  EXPECT_EQ(findings[0].at.line, 1);
}

// --- Agents -----------------------------------------------------------------------------------------

TEST(ConfigTest, AgentsOfAListNeedAnIdOfTheirOwn) {
  EXPECT_THAT(found_in("[[agents]]\nname = \"x\"\n"),
              ElementsAre("1:1 error agent: there is no id of an agent [add id = \"…\"]"));
  EXPECT_THAT(found_in("[agent]\nid = \"a\"\n[[agents]]\nid = \"a\"\n"),
              ElementsAre("3:1 error duplicate_agent: another agent is called \"a\" (coop.toml:1) "
                          "[give each agent a name of its own]"));
  EXPECT_THAT(found_in("[agent]\nid = \"\"\nname = 5\n"),
              ElementsAre("2:6 error agent: id of an agent is empty "
                          "[give it a value or leave it out]",
                          "3:8 error agent: name of an agent must be a string, not a whole number "
                          "[name = \"…\"]"));
}

TEST(ConfigTest, AWorkspaceThatIsNoPathIsAMistake) {
  EXPECT_THAT(found_in("[agent]\nworkspace = 3\n"),
              ElementsAre("2:13 error agent: the workspace of an agent must be a path, not a whole "
                          "number [workspace = \"~/agents/main\"]"));
  EXPECT_THAT(found_in("[agent]\nworkspace = \"\"\n"),
              ElementsAre("2:13 error agent: the workspace of an agent must be a path, not \"\" "
                          "[workspace = \"~/agents/main\"]"));
  const ReadConfig unset = read_text("[agent]\nworkspace = \"$NOT_SET/x\"\n");
  ASSERT_EQ(unset.findings.size(), 1u);
  EXPECT_EQ(unset.findings[0].check, "agent");
  EXPECT_THAT(unset.findings[0].message, HasSubstr("NOT_SET"));
  EXPECT_EQ(unset.config.agents[0].workspace, "");
}

// --- Users ------------------------------------------------------------------------------------------

TEST(ConfigTest, AUserNeedsANameAndATrust) {
  EXPECT_THAT(found_in("[[users]]\n"),
              ElementsAre("1:1 error user: there is no name of a user [add name = \"…\"]",
                          "1:1 error trust: user \"\" has no trust [add trust = …: one of "
                          "\"owner\", \"full\", \"inner\", \"familiar\", \"public\"]"));
  EXPECT_THAT(found_in("[[users]]\nname = \" \"\ntrust = 1\n"),
              ElementsAre("2:8 error user: name of a user is empty "
                          "[give it a value or leave it out]",
                          "3:9 error trust: trust must be a string, not a whole number [one of "
                          "\"owner\", \"full\", \"inner\", \"familiar\", \"public\"]"));
  EXPECT_THAT(found_in("[[users]]\nname = \"a\\u001bb\"\ntrust = \"full\"\n"),
              ElementsAre("2:8 error user: name of a user has a control character in it: "
                          "\"a\\x1bb\""));
}

TEST(ConfigTest, AnInvalidTrustNamesTheNearestAndMeansPublic) {
  const auto trust = [](const std::string& value) {
    const ReadConfig read = read_text("[[users]]\nname = \"a\"\ntrust = \"" + value + "\"\n");
    EXPECT_EQ(read.config.users[0].trust, TrustLevel::public_);
    return read.found();
  };
  EXPECT_THAT(trust("Owner"), ElementsAre("3:9 error trust: \"Owner\" is not a trust level "
                                          "[did you mean \"owner\"?]"));
  EXPECT_THAT(trust("OWNER"), ElementsAre("3:9 error trust: \"OWNER\" is not a trust level "
                                          "[did you mean \"owner\"?]"));
  EXPECT_THAT(trust("familar"), ElementsAre("3:9 error trust: \"familar\" is not a trust level "
                                            "[did you mean \"familiar\"?]"));
  EXPECT_THAT(trust("administrator"),
              ElementsAre("3:9 error trust: \"administrator\" is not a trust level [one of "
                          "\"owner\", \"full\", \"inner\", \"familiar\", \"public\"]"));
}

TEST(ConfigTest, NamesMayBeThereOnce) {
  EXPECT_THAT(found_in("[[users]]\nname = \"a\"\ntrust = \"full\"\n[[users]]\nname = \"a\"\ntrust "
                       "= \"inner\"\n"),
              ElementsAre("4:1 error duplicate_user: another user is called \"a\" (coop.toml:1) "
                          "[give each user a name of its own]"));
  EXPECT_THAT(found_in("[[cron]]\nname = \"a\"\ncron = \"@daily\"\ncommand = \"x\"\n[[cron]]\nname "
                       "= \"a\"\ncron = \"@daily\"\ncommand = \"x\"\n"),
              ElementsAre("5:1 error duplicate_cron: another cron job is called \"a\" "
                          "(coop.toml:1) [give each cron job a name of its own]"));
}

TEST(ConfigTest, AMatchIsAChannelAndAnId) {
  const auto match = [](const std::string& value) {
    const ReadConfig read =
        read_text("[[users]]\nname = \"a\"\ntrust = \"full\"\nmatch = " + value + "\n");
    EXPECT_THAT(read.config.users[0].match, IsEmpty()) << value;
    std::string all;
    for (const Finding& finding : read.findings) {
      EXPECT_EQ(finding.check, "match");
      EXPECT_EQ(finding.severity, Severity::error);
      EXPECT_FALSE(finding.fix.empty());
      all += finding.message + "\n";
    }
    return all;
  };
  EXPECT_EQ(match("\"signal:x\""), "match must be a list, not a string\n");
  EXPECT_EQ(match("[1]"), "a match must be a string, not a whole number\n");
  EXPECT_EQ(match("[\"signal\"]"), "match \"signal\" has no channel\n");
  EXPECT_EQ(match("[\"\"]"), "match \"\" has no channel\n");
  EXPECT_EQ(match("[\":x\"]"), "match \":x\" has no channel before the colon\n");
  EXPECT_EQ(match("[\"signal:\"]"), "match \"signal:\" has no id behind the colon\n");
  EXPECT_EQ(match("[\"signal: x\"]"),
            "match \"signal: x\" has a blank or control character in it\n");
  EXPECT_EQ(match("[\"signal:\\u0085x\"]"),
            "match \"signal:\\xc2\\x85x\" has a blank or control character in it\n");
  EXPECT_EQ(match("[\"*:x\"]"), "match \"*:x\" has a * in its channel\n");
}

TEST(ConfigTest, AnIdMayHaveColonsAndAStarIsOneOnlyAlone) {
  const ReadConfig read = read_text(
      "[[users]]\nname = \"a\"\ntrust = \"full\"\nmatch = [\"matrix:@a:b.org\", \"sms:+1*\"]\n");
  EXPECT_THAT(read.config.users[0].match, ElementsAre("matrix:@a:b.org", "sms:+1*"));
  EXPECT_THAT(read.found(),
              ElementsAre("4:29 warning match: the * in \"sms:+1*\" is a character like others "
                          "[only \"channel:*\" stands for several people]"));
}

TEST(ConfigTest, NoSenderMatchesTwoUsers) {
  EXPECT_THAT(found_in("[[users]]\nname = \"a\"\ntrust = \"full\"\nmatch = [\"s:1\"]\n[[users]]\n"
                       "name = \"b\"\ntrust = \"owner\"\nmatch = [\"s:2\", \"s:1\"]\n"),
              ElementsAre("8:17 error overlapping_match: \"s:1\" is already \"a\"'s (coop.toml:4) "
                          "[keep it with one user: a sender is one person]"));
  EXPECT_THAT(found_in("[[users]]\nname = \"a\"\ntrust = \"full\"\nmatch = [\"s:1\", \"s:1\"]\n"),
              ElementsAre("4:17 warning overlapping_match: \"s:1\" is listed twice [remove one]"));
}

TEST(ConfigTest, AnExactMatchBesideAnothersEveryoneIsPointedOut) {
  EXPECT_THAT(found_in("[[users]]\nname = \"a\"\ntrust = \"full\"\nmatch = [\"s:1\"]\n[[users]]\n"
                       "name = \"b\"\ntrust = \"familiar\"\nmatch = [\"s:*\", \"s:2\", \"t:1\"]\n"),
              ElementsAre("4:10 warning overlapping_match: \"s:1\" is also in \"s:*\" of \"b\" "
                          "(coop.toml:8): the exact one wins"));
}

TEST(ConfigTest, AWholeChannelIsNotTheOwner) {
  const ReadConfig read = read_text(
      "[[users]]\nname = \"a\"\ntrust = \"owner\"\nmatch = [\"terminal:*\", \"webhook:*\"]\n");
  EXPECT_THAT(read.config.users[0].match, ElementsAre("terminal:*"));
  EXPECT_THAT(read.found(),
              ElementsAre("4:24 error match: \"webhook:*\" makes every sender of that channel the "
                          "owner \"a\", without a sandbox [name the owner's own ids, or choose a "
                          "lower trust]"));
  EXPECT_THAT(found_in("[[users]]\nname = \"a\"\ntrust = \"full\"\nmatch = [\"webhook:*\"]\n"),
              IsEmpty());
}

// --- Cron jobs --------------------------------------------------------------------------------------

TEST(ConfigTest, AJobNeedsATimeAndOneThingToDo) {
  EXPECT_THAT(found_in("[[cron]]\nname = \"x\"\n"),
              ElementsAre("1:1 error cron: cron job \"x\" has no time [add cron = \"0 2 * * *\": "
                          "minute hour day month weekday]",
                          "1:1 error cron: cron job \"x\" has neither a message nor a command [add "
                          "message = \"…\" for the agent or command = \"…\" for the shell]"));
  EXPECT_THAT(found_in("[[cron]]\nname = \"x\"\ncron = \"@daily\"\nmessage = \"a\"\ncommand = "
                       "\"b\"\n"),
              ElementsAre("5:1 error cron: cron job \"x\" has both a message and a command [keep "
                          "one, and make the other a job of its own]"));
  EXPECT_THAT(found_in("[[cron]]\ncron = \"@daily\"\nmessage = \"\"\n"),
              ElementsAre("1:1 error cron: there is no name of a cron job [add name = \"…\"]",
                          "3:11 error cron: message of a cron job is empty "
                          "[say what is to be done]"));
  EXPECT_THAT(found_in("[[cron]]\nname = \"x\"\ncron = \"@daily\"\ncommand = [\"ls\"]\n"),
              ElementsAre("4:11 error cron: command of a cron job must be a string, not a list"));
}

TEST(ConfigTest, AJobMayHaveSeveralLines) {
  const Config config = good_config(
      "[[cron]]\nname = \"x\"\ncron = \"@daily\"\ncommand = \"\"\"\nmake\nmake test\n\"\"\"\n");
  EXPECT_EQ(config.cron[0].command, "make\nmake test\n");
  EXPECT_EQ(config.cron[0].user, "");
}

TEST(ConfigTest, ABadTimeIsAMistakeAtItsPlace) {
  const ReadConfig read =
      read_text("[[cron]]\nname = \"x\"\ncron = \"0 25 * * *\"\ncommand = \"y\"\n");
  ASSERT_EQ(read.findings.size(), 1u);
  EXPECT_EQ(read.findings[0].check, "cron_expression");
  EXPECT_EQ(read.findings[0].at, (Position{3, 8}));
  EXPECT_EQ(read.findings[0].message, "hour \"25\" is not 0 to 23");
  EXPECT_THAT(read.findings[0].fix, HasSubstr("five fields"));
  EXPECT_EQ(read.config.cron[0].expression, "");
  EXPECT_THAT(found_in("[[cron]]\nname = \"x\"\ncron = 5\ncommand = \"y\"\n"),
              ElementsAre("3:8 error cron_expression: cron must be a string, not a whole number "
                          "[cron = \"0 2 * * *\": minute hour day month weekday]"));
}

TEST(ConfigTest, AJobIsForADeclaredUser) {
  const ReadConfig read = read_text(
      "[[users]]\nname = \"alice\"\ntrust = \"full\"\n[[cron]]\nname = \"x\"\ncron = \"@daily\"\n"
      "user = \"alcie\"\ncommand = \"y\"\n[[cron]]\nname = \"z\"\ncron = \"@daily\"\nuser = "
      "\"someone else\"\ncommand = \"y\"\n");
  EXPECT_THAT(read.found(),
              ElementsAre("7:8 error cron: cron job \"x\" is for \"alcie\", who is not a user "
                          "[did you mean \"alice\"?]",
                          "12:8 error cron: cron job \"z\" is for \"someone else\", who is not a "
                          "user [declare the user in [[users]], or leave user out: the job is then "
                          "public's]"));
  EXPECT_EQ(read.config.cron[0].user, "");
}

// --- Hostile files ----------------------------------------------------------------------------------

TEST(ConfigTest, AFileFullOfMistakesIsReadInTimeAndKeepsItsError) {
  std::string text;
  for (int i = 0; i < 950; ++i)
    text += "[[users]]\nname=\"" + std::string(50, static_cast<char>('a' + i % 26)) +
            std::to_string(i) + "\"\ntrust=\"full\"\n";
  for (int i = 0; i < 950; ++i)
    text += "[[cron]]\nname=\"" + std::to_string(i) +
            "\"\ncron=\"@daily\"\ncommand=\"x\"\nuser=\"" + std::string(60, 'z') + "\"\n";
  const auto start = std::chrono::steady_clock::now();
  const ReadConfig read = read_text(text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_TRUE(has_errors(read.findings));
  EXPECT_LE(read.findings.size(), 1000u);
}

TEST(ConfigTest, AnErrorIsNotLostBehindManyWarnings) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "gateway_key_" + std::to_string(i) + " = 1\n";
  EXPECT_FALSE(has_errors(read_text(text).findings));
  EXPECT_TRUE(has_errors(read_text(text + "[[users]]\nname = \"a\"\n").findings));
}

TEST(ConfigTest, ListsHaveAnEnd) {
  std::string text = "users = [";
  for (int i = 0; i < 10'001; ++i) text += "1,";
  const ReadConfig read = read_text(text + "]\n");
  ASSERT_FALSE(read.findings.empty());
  EXPECT_EQ(read.findings[0].message, "more than 10000 [[users]]");
  std::string matches = "[[users]]\nname = \"a\"\ntrust = \"full\"\nmatch = [";
  for (int i = 0; i < 1001; ++i) matches += "\"s:" + std::to_string(i) + "\",";
  EXPECT_THAT(found_in(matches + "]\n"),
              ElementsAre("4:1 error match: more than 1000 matches of one user"));
}

}  // namespace
}  // namespace coop::policy
