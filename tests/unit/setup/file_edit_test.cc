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

// A record that setup has not written: the text that it "takes back" is more than one value.
TEST(FileEditTest, OldValuesArePutBackOnlyAsOneValue) {
  const std::string text = "{\"s\": {\"coop\": 2}, \"mine\": 1}";
  FileRecord record{.done = {{.change = {ChangeKind::set, {"s", "coop"}, 2}, .replaced = true}}};
  for (const char* removed : {"1, \"evil\": 2", "1}, \"hooks\": {\"x\": 1", "", "1 //"}) {
    record.done.front().removed = removed;
    EXPECT_FALSE(take_back(record, text)) << removed;
  }
  record.done.front().removed = "[1, 3]";
  EXPECT_EQ(take_back(record, text)->after, "{\"s\": {\"coop\": [1, 3]}, \"mine\": 1}");
  const std::string toml = "[s]\ncoop = 2\nmine = 1\n";
  record.format = Format::toml;
  for (const char* removed : {"1\nevil = 2", "1\n[evil]\nx = 1", "", "1 #\n[evil]"}) {
    record.done.front().removed = removed;
    EXPECT_FALSE(take_back(record, toml)) << removed;
  }
  record.done.front().removed = "[1, 3]";
  EXPECT_EQ(take_back(record, toml)->after, "[s]\ncoop = [1, 3]\nmine = 1\n");
}

TEST(FileEditTest, OnlyTheEntryItselfIsTakenBack) {
  const FileRecord record{.done = {{.change = {ChangeKind::set, {"coop"}, 2},
                                    .removed = "\"evil\": 3",
                                    .inserted = "\"coop\": 2, \"mine\": 1",
                                    .value_at = 8}}};
  EXPECT_EQ(take_back(record, "{\"coop\": 2, \"mine\": 1}")->after, "{ \"mine\": 1}");
}

TEST(FileEditTest, ARecordNamesOnlyWhatTheClientsDataNames) {
  const Client client{.title = "X",
                      .files = {{.name = "f", .path = ".x/f"}},
                      .changes = {{Way::tools, "f", kServer}}};
  const std::vector<PlacedFile> places{{"f", {"/h/.x/f"}, Format::json}};
  const FileRecord good{.path = "/h/.x/f", .directories = {"/h/.x"}, .done = {{.change = kServer}}};
  EXPECT_TRUE(check_record({Way::tools, {good}}, client, places));
  EXPECT_FALSE(check_record({Way::shell, {good}}, client, places));
  FileRecord other = good;
  other.path = "/h/.bashrc";
  EXPECT_FALSE(check_record({Way::tools, {other}}, client, places));
  other = good;
  other.done.front().change = kDeny;
  EXPECT_FALSE(check_record({Way::tools, {other}}, client, places));
  other = good;
  other.blank = "evil";
  EXPECT_FALSE(check_record({Way::tools, {other}}, client, places));
  other = good;
  other.format = Format::toml;
  EXPECT_FALSE(check_record({Way::tools, {other}}, client, places));
  other = good;
  other.directories = {"/h/mail"};
  EXPECT_FALSE(check_record({Way::tools, {other}}, client, places));
}

TEST(FileEditTest, ARecordOfAnotherFormIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"way": "tools", "files": [{"path": 1}]})"})
    EXPECT_FALSE(parse_record(text)) << text;
}

}  // namespace coop::setup
