#include "setup/file_edit.h"

#include <gtest/gtest.h>

namespace coop::setup {

namespace {

const Change kServer{ChangeKind::set, {"s", "coop"}, Json{{"command", "c"}}};
const Change kDeny{ChangeKind::add, {"p", "deny"}, "Bash"};
const Change kDenyMore{ChangeKind::add, {"p", "deny"}, "Read"};

// What is left after all changes were made and taken back, through the record's own text.
std::optional<std::string> there_and_back(const std::optional<std::string>& text) {
  const FileEdit edit = *apply_changes({.path = "/f"}, text, {kServer, kDeny, kDenyMore});
  EXPECT_NE(edit.after, text);
  const Record record{Way::shell, {edit.record}};
  EXPECT_EQ(parse_record(to_json_text(record)), record);
  const FileEdit back = *take_back(edit.record, edit.after);
  EXPECT_EQ(back.left, std::vector<std::string>{});
  return back.after;
}

}  // namespace

TEST(FileEditTest, EveryFileComesBackAsItWas) {
  for (const char* text :
       {"", "\n\n", "{}", "{ }\n", "{\"p\": {\"deny\": []}}", "{\n\t\"x\": 1\n}\n",
        "{\"s\":{\"coop\":{\"old\":1}}}", "{\n // c\n}", "\xEF\xBB\xBF{}\r\n"})
    EXPECT_EQ(there_and_back(text), text);
  EXPECT_EQ(there_and_back(std::nullopt), std::nullopt);
}

TEST(FileEditTest, WhatIsSetUpChangesNothing) {
  const FileEdit first = *apply_changes({}, "{}", {kServer, kDeny});
  const FileEdit second = *apply_changes({}, first.after, {kServer, kDeny});
  EXPECT_EQ(second.after, first.after);
  EXPECT_EQ(second.record.done, std::vector<Done>{});
}

TEST(FileEditTest, ChangedEntriesAreLeftAndNamed) {
  const FileEdit edit = *apply_changes({}, std::nullopt, {kServer, kDeny});
  const FileEdit back = *take_back(
      edit.record, "{\"s\": {\"coop\": {\"command\": \"other\"}}, \"p\": {\"deny\": [\"Bash\"]}}");
  EXPECT_EQ(back.after, "{\"s\": {\"coop\": {\"command\": \"other\"}}}");
  EXPECT_EQ(back.left, std::vector<std::string>{"s.coop"});
}

TEST(FileEditTest, AFileThatIsGoneIsLeftAlone) {
  const FileEdit edit = *apply_changes({}, std::nullopt, {kServer});
  EXPECT_EQ(take_back(edit.record, std::nullopt)->after, std::nullopt);
}

TEST(FileEditTest, ARecordOfAnotherFormIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"way": "tools", "files": [{"path": 1}]})"})
    EXPECT_FALSE(parse_record(text)) << text;
}

}  // namespace coop::setup
