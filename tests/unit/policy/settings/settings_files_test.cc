// Policy files as a whole: what stands outside of [sandbox], syntax, and files that are too much.
#include <gmock/gmock.h>

#include "policy/settings/settings.h"
#include "settings_support.h"

namespace coop::policy {
namespace {

using testing_support::Outcome;
using testing_support::read;

TEST(SettingsFilesTest, WhatIsOutsideOfTheTableIsUnknown) {
  const Findings expected{{Severity::error,
                           "unknown_key",
                           "p.toml",
                           {1, 1},
                           R"(unknown key "memory" outside of [sandbox])",
                           "put it below a line with [sandbox]"},
                          {Severity::error,
                           "unknown_key",
                           "p.toml",
                           {2, 2},
                           R"(unknown key "sandbx" outside of [sandbox])",
                           R"(did you mean "sandbox"?)"},
                          {Severity::error,
                           "unknown_key",
                           "p.toml",
                           {3, 3},
                           R"(unknown key "users" outside of [sandbox])",
                           "one of: sandbox"}};
  const Outcome outcome = read("memory = \"2g\"\n[sandbx]\n[[users]]\n");
  EXPECT_EQ(outcome.findings, expected);
  EXPECT_EQ(outcome.settings, Settings{});
}

TEST(SettingsFilesTest, ASandboxThatIsNoTableIsRefused) {
  const Findings expected{{Severity::error,
                           "sandbox_settings",
                           "p.toml",
                           {1, 11},
                           "sandbox: expected a table, found a list",
                           "write [sandbox] on a line of its own"}};
  EXPECT_EQ(read("sandbox = [1]").findings, expected);
}

TEST(SettingsFilesTest, NothingAndAnEmptyTableAreFine) {
  for (const char* text : {"", "# nothing\n", "[sandbox]\n", "sandbox = {}"}) {
    EXPECT_EQ(read(text).findings, Findings{}) << text;
    EXPECT_EQ(read(text).settings, Settings{}) << text;
  }
}

TEST(SettingsFilesTest, SyntaxErrorsHaveTheirPlace) {
  const Outcome outcome = read("[sandbox]\nmemory = 2g\n");
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].check, "syntax");
  EXPECT_EQ(outcome.findings[0].file, "p.toml");
  EXPECT_EQ(outcome.findings[0].at.line, 2);
  EXPECT_GT(outcome.findings[0].at.column, 0);
  EXPECT_FALSE(outcome.findings[0].message.empty());
  EXPECT_EQ(read("[sandbox]\nvm = true\nvm = true\n").findings.size(), 1U);  // a key twice
}

TEST(SettingsFilesTest, ASlipAtTheTopIsTheNearestKeyInTheTable) {
  const auto fix = [](std::string_view text) {
    const Findings findings = read(text).findings;
    return findings.size() == 1 ? findings.front().fix : "";
  };
  EXPECT_EQ(fix("memry = \"2g\""), "did you mean \"memory\"? Put it below a line with [sandbox]");
  EXPECT_EQ(fix("netwrk = \"none\""),
            "did you mean \"network\"? Put it below a line with [sandbox]");
  EXPECT_EQ(fix("memory = \"2g\""), "put it below a line with [sandbox]");
  EXPECT_EQ(fix("[sandbx]"), "did you mean \"sandbox\"?");
  EXPECT_EQ(fix("frobnicate = 1"), "one of: sandbox");
}

std::string list_of(int count) {
  std::string text = "[";
  for (int index = 0; index < count; ++index) text += "\"/a\",";
  return text + "]";
}

TEST(SettingsFilesTest, ListsHaveAtMostAThousandItems) {
  EXPECT_EQ(read("[sandbox]\nhidden_paths = " + list_of(1000)).findings, Findings{});
  const Findings expected{{Severity::error,
                           "sandbox_paths",
                           "p.toml",
                           {2, 16},
                           "hidden_paths: 1001 items, at most 1000 are possible",
                           "name the directory, domain or network they have in common"}};
  EXPECT_EQ(read("[sandbox]\nhidden_paths = " + list_of(1001)).findings, expected);

  std::string variables = "[sandbox.env.set]\n";
  for (int index = 0; index < 1001; ++index) variables += "A" + std::to_string(index) + "=\"\"\n";
  ASSERT_EQ(read(variables).findings.size(), 1U);
  EXPECT_EQ(read(variables).findings[0].message,
            "env.set: 1001 variables, at most 1000 are possible");
}

TEST(SettingsFilesTest, AFloodOfUnknownKeysIsCutShort) {
  std::string text = "[sandbox]\n";
  for (int index = 0; index < 5000; ++index) text += "x" + std::to_string(index) + " = 1\n";
  const Outcome outcome = read(text);
  ASSERT_EQ(outcome.findings.size(), 21U);
  EXPECT_EQ(outcome.findings.back().message, "more unknown keys in [sandbox]");
  EXPECT_EQ(outcome.findings.back().at, (Position{22, 1}));
}

TEST(SettingsFilesTest, LongWordsAreCutInMessages) {
  const std::string word(5000, 'x');
  for (const char* key : {"mode", "memory", "timeout", "cpus", "base_image"}) {
    const Outcome outcome = read("[sandbox]\n" + std::string(key) + " = \"" + word + "\"");
    ASSERT_EQ(outcome.findings.size(), 1U) << key;
    EXPECT_LT(outcome.findings[0].message.size(), 200U) << key;
  }
}

}  // namespace
}  // namespace coop::policy
