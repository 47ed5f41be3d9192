#include "setup/json/json_edit.h"

#include <gtest/gtest.h>

namespace coop::setup {

namespace {

Change set(std::vector<std::string> path, Json value) {
  return {ChangeKind::set, std::move(path), std::move(value)};
}
Change add(std::vector<std::string> path, Json value) {
  return {ChangeKind::add, std::move(path), std::move(value)};
}

// The text with the change, which taken back gives the old bytes again.
std::string edited(std::string_view text, const Change& change) {
  const Result<Edited> result = edit_json(text, change);
  if (!result) return "error: " + to_text(result.error());
  for (const Done& done : result->done)
    EXPECT_EQ(undo_json(result->text, done), (Undone{std::string(text), Undoing::taken_back}));
  return result->text;
}

Done done_by(std::string_view text, const Change& change) {
  return edit_json(text, change)->done.front();
}

}  // namespace

TEST(JsonEditTest, AnEmptyObjectGetsLines) {
  EXPECT_EQ(edited("{}\n", set({"a", "b"}, 1)), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
  EXPECT_EQ(edited("{ }", set({"a"}, true)), "{\n  \"a\": true\n}");
}

TEST(JsonEditTest, AMemberIsAddedAsTheOthersAreWritten) {
  EXPECT_EQ(edited("{\n\t\"x\": 1\n}\n", set({"a", "b"}, Json::array({"c"}))),
            "{\n\t\"x\": 1,\n\t\"a\": {\n\t\t\"b\": [\n\t\t\t\"c\"\n\t\t]\n\t}\n}\n");
  EXPECT_EQ(edited("{\r\n    \"x\": {}\r\n}\r\n", set({"x", "y"}, 2)),
            "{\r\n    \"x\": {\r\n        \"y\": 2\r\n    }\r\n}\r\n");
}

TEST(JsonEditTest, AFileInOneLineStaysInOne) {
  EXPECT_EQ(edited(R"({"x":{},"y":[1]})", set({"x", "a"}, Json::array({1, 2}))),
            R"({"x":{"a": [1,2]},"y":[1]})");
  EXPECT_EQ(edited(R"({"x":{},"y":[1]})", add({"y"}, 2)), R"({"x":{},"y":[1, 2]})");
}

TEST(JsonEditTest, CommentsStayWithWhatTheyAreAbout) {
  EXPECT_EQ(edited("{\n  // one\n  \"x\": 1 // about x\n  // the end\n}", set({"a"}, 2)),
            "{\n  // one\n  \"x\": 1, // about x\n  \"a\": 2\n  // the end\n}");
  EXPECT_EQ(edited("{\n  // nothing yet\n}\n", set({"a"}, 2)),
            "{\n  // nothing yet\n  \"a\": 2\n}\n");
  EXPECT_EQ(edited("{\n  \"x\": 1, // about x\n}", set({"a"}, 2)),
            "{\n  \"x\": 1, // about x\n  \"a\": 2,\n}");
}

TEST(JsonEditTest, AListGetsAnItemOnce) {
  EXPECT_EQ(edited(R"({"l": ["a"]})"
                   "\n",
                   add({"l"}, "b")),
            R"({"l": ["a", "b"]})"
            "\n");
  EXPECT_EQ(edit_json(R"({"l": ["a"]})", add({"l"}, "a")), (Edited{R"({"l": ["a"]})", {}}));
  EXPECT_EQ(edited("{}\n", add({"p", "l"}, "b")),
            "{\n  \"p\": {\n    \"l\": [\n      \"b\"\n    ]\n  }\n}\n");
}

TEST(JsonEditTest, AValueIsReplacedAndComesBackAsItWasWritten) {
  EXPECT_EQ(edited("{\"a\": /* old */ 1.50 }", set({"a"}, 2)), "{\"a\": /* old */ 2 }");
  EXPECT_EQ(edit_json("{\"a\": 2}", set({"a"}, 2)), (Edited{"{\"a\": 2}", {}}));
}

TEST(JsonEditTest, OfTwoMembersOfOneNameTheLastCounts) {
  EXPECT_EQ(edited(R"({"a": 1, "a": 2})", set({"a"}, 3)), R"({"a": 1, "a": 3})");
}

TEST(JsonEditTest, WhatIsOfAnotherKindIsNotReplaced) {
  EXPECT_EQ(edited(R"({"a": "text"})", set({"a", "b"}, 1)), R"(error: "a" is not an object)");
  EXPECT_EQ(edited(R"({"a": {}})", add({"a"}, 1)), R"(error: "a" is not a list)");
  EXPECT_EQ(edited("[]", set({"a"}, 1)), "error: the file is not an object");
}

TEST(JsonEditTest, AMistakeHasItsPlace) {
  EXPECT_EQ(edited("{\n  \"a\": 1\n  \"b\": 2\n}", set({"c"}, 1)),
            "error: line 3, column 3: expected , or }");
  EXPECT_EQ(edited("{\"a\": tru}", set({"c"}, 1)), "error: line 1, column 7: expected a value");
  EXPECT_EQ(edited("{} {}", set({"c"}, 1)),
            "error: line 1, column 4: more after the end of the value");
  EXPECT_EQ(edited("", set({"c"}, 1)),
            "error: line 1, column 1: the file ends where a value is expected");
  EXPECT_EQ(edited(std::string(1000, '['), set({"c"}, 1)),
            "error: line 1, column 66: nested too deeply");
}

TEST(JsonEditTest, WhatTheUserAddedMeanwhileStays) {
  const Done done = done_by("{}\n", set({"servers", "coop"}, 1));
  EXPECT_EQ(undo_json("{\n  \"servers\": {\n    \"coop\": 1,\n    \"mine\": 2\n  }\n}\n", done),
            (Undone{"{\n  \"servers\": {\n    \"mine\": 2\n  }\n}\n", Undoing::taken_back}));
  EXPECT_EQ(undo_json(R"({"x":0,"servers":{"coop":1}})", done),
            (Undone{R"({"x":0})", Undoing::taken_back}));
  EXPECT_EQ(undo_json("{\"servers\": { // mine\n\"coop\": 1}}", done),
            (Undone{"{}", Undoing::taken_back}));
}

TEST(JsonEditTest, WhatIsNotAsItWasWrittenIsLeft) {
  const Done done = done_by("{}\n", set({"a"}, 1));
  EXPECT_EQ(undo_json(R"({"a": 2})", done), (Undone{R"({"a": 2})", Undoing::changed}));
  EXPECT_EQ(undo_json(R"({"b": 2})", done), (Undone{R"({"b": 2})", Undoing::gone}));
}

TEST(JsonEditTest, OneItemIsTakenOutOfAList) {
  const Done done = done_by("{\"l\": [\"a\"]}", add({"l"}, "b"));
  EXPECT_EQ(undo_json("{\"l\": [\n\"b\", // ours\n\"c\"]}", done),
            (Undone{"{\"l\": [ // ours\n\"c\"]}", Undoing::taken_back}));
  EXPECT_EQ(undo_json("{\"l\": [\"b\"]}", done), (Undone{"{\"l\": []}", Undoing::taken_back}));
}

TEST(JsonEditTest, OnlyAnEmptyObjectWithoutCommentsSaysNothing) {
  EXPECT_TRUE(json_says_nothing("{ }\n"));
  EXPECT_FALSE(json_says_nothing("{ /* mine */ }"));
  EXPECT_FALSE(json_says_nothing("[]"));
  EXPECT_FALSE(json_says_nothing("{"));
}

}  // namespace coop::setup
