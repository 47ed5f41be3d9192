#include "setup/client.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "setup/file_edit.h"

namespace coop::setup {

TEST(SetupClientTest, EveryShippedClientIsReadWithoutAFinding) {
  for (const ShippedClient& shipped : shipped_clients()) {
    policy::Findings findings;
    const Client client = read_client(shipped, "/usr/bin/coop", findings);
    EXPECT_EQ(findings, policy::Findings{}) << shipped.name;
    EXPECT_FALSE(client.title.empty() || client.commands.empty() || client.traces.empty());
    EXPECT_TRUE(std::ranges::is_sorted(client_names()));
    // Whatever has a way with the shell says nothing of why it has none.
    const bool has_shell = std::ranges::any_of(
        client.changes, [](const ClientChange& change) { return change.way == Way::shell; });
    EXPECT_EQ(has_shell, client.no_shell.empty()) << shipped.name;
  }
}

// Its changes go into an empty file, and out of it again.
TEST(SetupClientTest, EveryShippedChangeCanBeMadeAndTakenBack) {
  for (const ShippedClient& shipped : shipped_clients()) {
    policy::Findings findings;
    const Client client = read_client(shipped, "/usr/bin/coop", findings);
    for (const ClientFile& file : client.files) {
      std::vector<Change> changes;
      for (const ClientChange& change : client.changes)
        if (change.file == file.name) changes.push_back(change.change);
      const Result<FileEdit> edit = apply_changes({.format = file.format}, std::nullopt, changes);
      ASSERT_TRUE(edit) << shipped.name << ": " << to_text(edit.error());
      EXPECT_TRUE(edit->after->contains("coop") || changes.empty()) << shipped.name;
      EXPECT_EQ(take_back(edit->record, edit->after)->after, std::nullopt) << shipped.name;
    }
  }
}

TEST(SetupClientTest, ThePathOfCoopIsFilledIn) {
  policy::Findings findings;
  const Client client = read_client(
      {"x",
       "[client]\ntitle = \"X\"\n[[file]]\nname = \"f\"\npath = \".x/f\"\nformat = \"json\"\n"
       "[[change]]\nfile = \"f\"\nset = [\"a\"]\n"
       "value = { c = \"${coop}\", l = [\"${quoted coop} x\", \"${other}\"] }\n"},
      "/a'b/coop", findings);
  const std::vector<ClientChange> expected{
      {Way::tools,
       "f",
       {ChangeKind::set,
        {"a"},
        Json{{"c", "/a'b/coop"}, {"l", {"'/a'\\''b/coop' x", "${other}"}}}}}};
  EXPECT_EQ(client.changes, expected);
}

TEST(SetupClientTest, SettingsThatWorkAgainstCodexAreFound) {
  policy::Findings findings;
  const Client client = read_client(*find_client("codex"), "/c", findings);
  const std::string good =
      "[mcp_servers.coop]\nenabled = true\n[profiles.x]\nsandbox_mode = \"read-only\"\n";
  EXPECT_EQ(find_concerns(client, "config", good), std::vector<FoundConcern>{});
  const std::vector<FoundConcern> expected{
      {2, "mcp_servers.coop.enabled: Codex does not start coop; remove the line"},
      {4,
       "profiles.x.features.shell_tool: with this profile Codex has its own shell, outside of the "
       "sandbox; remove the line"}};
  EXPECT_EQ(
      find_concerns(client, "config",
                    "[mcp_servers.coop]\nenabled = false\n[profiles.x.features]\nshell_tool = "
                    "true\n"),
      expected);
}

TEST(SetupClientTest, MistakesAreFindings) {
  policy::Findings findings;
  read_client({"x", "[client]\nnmae = 1\n[[change]]\nfile = \"none\"\n"}, "/c", findings);
  EXPECT_EQ(findings.size(), 3U);
}

}  // namespace coop::setup
