#include "setup/toml/toml_edit.h"

#include <gtest/gtest.h>

namespace coop::setup {

namespace {

Change put(std::vector<std::string> path, Json value) {
  return {ChangeKind::set, std::move(path), std::move(value)};
}

// The text with the change, which taken back gives the old bytes again.
std::string with(std::string_view text, const Change& change) {
  const Result<Edited> result = edit_toml(text, change);
  if (!result) return "error: " + to_text(result.error());
  for (const Done& done : result->done)
    EXPECT_EQ(undo_toml(result->text, done), (Undone{std::string(text), Undoing::taken_back}));
  return result->text;
}

}  // namespace

TEST(TomlEditTest, ATableIsMadeAtTheEnd) {
  EXPECT_EQ(with("", put({"a", "b"}, "x\"y")), "[a]\nb = \"x\\\"y\"\n");
  EXPECT_EQ(with("# mine\nx = 1", put({"a", "b", "c"}, Json::array({"mcp"}))),
            "# mine\nx = 1\n\n[a.b]\nc = [\"mcp\"]\n");
  EXPECT_EQ(with("[a.b.c]\nx = 1\n", put({"a", "b", "d"}, true)),
            "[a.b.c]\nx = 1\n\n[a.b]\nd = true\n");
}

TEST(TomlEditTest, AValueGoesBehindTheOthersOfItsTable) {
  EXPECT_EQ(with("[a]\n  x = 1 # one\n\n[b]\n", put({"a", "y"}, 2)),
            "[a]\n  x = 1 # one\n  y = 2\n\n[b]\n");
  EXPECT_EQ(with("[a]\n[b]\n", put({"a", "y"}, false)), "[a]\ny = false\n[b]\n");
  EXPECT_EQ(with("[a]\nx = \"\"\"\n[a]\n\"\"\"", put({"a", "y"}, 2)),
            "[a]\nx = \"\"\"\n[a]\n\"\"\"\ny = 2");
}

TEST(TomlEditTest, AValueOfNoTableComesBeforeTheFirst) {
  EXPECT_EQ(with("[a]\nx = 1\n", put({"m"}, "r")), "m = \"r\"\n\n[a]\nx = 1\n");
  EXPECT_EQ(with("# top\nx = 1\n\n[a]\n", put({"m"}, "r")), "# top\nx = 1\nm = \"r\"\n\n[a]\n");
}

TEST(TomlEditTest, DottedAndInlineTablesAreContinued) {
  EXPECT_EQ(with("features.web = true\n[a]\n", put({"features", "shell"}, false)),
            "features.web = true\nfeatures.shell = false\n[a]\n");
  EXPECT_EQ(with("features = { web = true }\n", put({"features", "shell"}, false)),
            "features = { web = true, shell = false }\n");
  EXPECT_EQ(with("features = {}\n", put({"features", "shell"}, false)),
            "features = { shell = false }\n");
}

TEST(TomlEditTest, AValueIsReplacedAndComesBackAsItWasWritten) {
  EXPECT_EQ(with("m = 'full'  # mine\n", put({"m"}, "read")), "m = \"read\"  # mine\n");
  EXPECT_EQ(with("l = [\n  1, # one\n]\n", put({"l"}, Json::array({2}))), "l = [2]\n");
  EXPECT_EQ(edit_toml("m = 'full'\n", put({"m"}, "full")), (Edited{"m = 'full'\n", {}}));
}

TEST(TomlEditTest, WhatCannotBeChangedIsAnError) {
  EXPECT_EQ(with("a = 1\n", put({"a", "b"}, 2)),
            "error: \"a.b\" is written in a way that coop cannot change");
  EXPECT_EQ(with("[[a]]\nx = 1\n", put({"a", "y"}, 2)),
            "error: \"a.y\" is written in a way that coop cannot change");
  EXPECT_TRUE(with("a = \n", put({"b"}, 2)).starts_with("error: line 1, column "));
}

TEST(TomlEditTest, WhatTheUserAddedMeanwhileStays) {
  const Edited edited = *edit_toml("x = 1\n", put({"a", "b"}, 2));
  const Done& done = edited.done.front();
  EXPECT_EQ(undo_toml("x = 1\n\n[a]\nb = 2\nmine = 3\n", done),
            (Undone{"x = 1\n\n[a]\nmine = 3\n", Undoing::taken_back}));
  EXPECT_EQ(undo_toml("[a]\nmine = 3\nb = 2 # ours\n[c]\n", done),
            (Undone{"[a]\nmine = 3\n[c]\n", Undoing::taken_back}));
  EXPECT_EQ(undo_toml("[a]\nb = 2 # ours\n[c]\n", done), (Undone{"[c]\n", Undoing::taken_back}));
  EXPECT_EQ(undo_toml("[a]\nb = 3\n", done), (Undone{"[a]\nb = 3\n", Undoing::changed}));
  EXPECT_EQ(undo_toml("[a]\n", done), (Undone{"[a]\n", Undoing::gone}));
}

TEST(TomlEditTest, ValuesAreFoundWithTheirLines) {
  const std::vector<std::string> pattern{"profiles", "*", "x"};
  const std::vector<TomlPlace> expected{{{"profiles", "a", "x"}, 1, 3},
                                        {{"profiles", "b", "x"}, true, 6}};
  EXPECT_EQ(
      find_toml("y = 1\n[profiles.a]\nx = 1\n[profiles]\n# remark\nb = { x = true }\n", pattern),
      expected);
  EXPECT_EQ(find_toml("x = \n", pattern), std::vector<TomlPlace>{});
}

}  // namespace coop::setup
