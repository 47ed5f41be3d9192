#include "mcp/presented.h"

#include <gtest/gtest.h>

#include "tools/shown.h"

namespace coop::mcp {
namespace {

using tools::ToolOutput;

Json result_of(ToolOutput output, Form form = Form::both, Length length = Length::shown) {
  return call_result(std::move(output), form, length, "/work");
}

ToolOutput listing() { return {.text = "a\nb\n", .structured = {{"outcome", "ok"}, {"count", 2}}}; }

TEST(PresentedTest, TheStructuredPartHasTheTextToo) {
  EXPECT_EQ(result_of(listing()),
            (Json{{"content", {{{"type", "text"}, {"text", "a\nb\n"}}}},
                  {"structuredContent", {{"outcome", "ok"}, {"count", 2}, {"text", "a\nb\n"}}},
                  {"isError", false}}));
}

TEST(PresentedTest, TheStreamsOfACommandAreNotRepeated) {
  const Json structured{{"outcome", "exited"}, {"stdout", {{"text", "hello\n"}}}};
  const Json result = result_of({.text = "hello\n", .structured = structured});
  EXPECT_EQ(result["structuredContent"], structured);
}

TEST(PresentedTest, ClientsThatWouldShowItTwiceGetTheTextAlone) {
  EXPECT_EQ(form_of("github-copilot-developer"), Form::text_only);
  EXPECT_EQ(form_of("claude-code"), Form::text_only);
  EXPECT_EQ(form_of("codex-mcp-client"), Form::text_only);
  EXPECT_EQ(form_of("gemini-cli-mcp-client"), Form::both);
  EXPECT_EQ(form_of(""), Form::both);
  EXPECT_EQ(result_of(listing(), Form::text_only),
            (Json{{"content", {{{"type", "text"}, {"text", "a\nb\n"}}}}, {"isError", false}}));
}

std::size_t size_of(const Json& value) { return tools::characters_of(value.dump()); }

// Each character is escaped: the text alone would fit.
TEST(PresentedTest, WhatAModelSeesStaysBelowTheLimit) {
  const std::string quotes(49'000, '"');
  const Json texts = result_of({.text = quotes, .structured = {{"outcome", "ok"}}});
  EXPECT_EQ(texts["content"][0]["text"], quotes);
  EXPECT_LE(size_of(texts["structuredContent"]), tools::kMostShown);
  EXPECT_GT(size_of(texts["structuredContent"]), tools::kMostShown - 1000);
  EXPECT_EQ(texts["structuredContent"]["truncated"], true);

  const std::string much(100 << 10, 'x');
  const auto stream = [](const std::string& text) {
    return Json{{"text", text}, {"total_bytes", text.size()}, {"truncated", false}};
  };
  const ToolOutput command{
      .text = much,
      .structured = {{"outcome", "exited"}, {"stdout", stream(much)}, {"stderr", stream("late")}}};
  const Json shown = result_of(command);
  EXPECT_LE(tools::characters_of(shown["content"][0]["text"].get<std::string>()),
            tools::kMostShown);
  EXPECT_LE(size_of(shown["structuredContent"]), tools::kMostShown);
  EXPECT_EQ(shown["structuredContent"]["stdout"]["truncated"], true);
  EXPECT_EQ(shown["structuredContent"]["stdout"]["total_bytes"], much.size());
  EXPECT_EQ(shown["structuredContent"]["stderr"], stream("late"));

  const Json whole = result_of(command, Form::both, Length::whole);
  EXPECT_EQ(whole["structuredContent"], command.structured);
}

TEST(PresentedTest, ListsThatAreTooLongAreCut) {
  Json notes = Json::array();
  for (int note = 0; note < 1000; ++note) notes.push_back(std::string(100, 'n'));
  const Json result =
      result_of({.text = "", .structured = {{"stdout", {{"text", ""}}}, {"notes", notes}}});
  EXPECT_LE(size_of(result["structuredContent"]), tools::kMostShown);
}

TEST(PresentedTest, ImagesSoundsAndOtherBytesAreContent) {
  const auto sent = [](const std::string& name, const std::string& type) {
    const Json result = result_of(
        {.text = "t",
         .structured = {{"outcome", "ok"}, {"name", name}, {"mime_type", type}, {"data", "QUI="}}});
    EXPECT_FALSE(result["structuredContent"].contains("data"));
    return result["content"][1];
  };
  EXPECT_EQ(sent("a", "image/png"),
            (Json{{"type", "image"}, {"data", "QUI="}, {"mimeType", "image/png"}}));
  EXPECT_EQ(sent("a", "audio/wav"),
            (Json{{"type", "audio"}, {"data", "QUI="}, {"mimeType", "audio/wav"}}));
  EXPECT_EQ(
      sent("a b", "application/pdf"),
      (Json{{"type", "resource"},
            {"resource",
             {{"uri", "file:///work/a%20b"}, {"mimeType", "application/pdf"}, {"blob", "QUI="}}}}));
}

Json read_result(const std::string& type, std::uint64_t size, Length length = Length::shown) {
  return result_of({.text = "a is binary",
                    .structured = {{"path", "a"},
                                   {"binary", true},
                                   {"size", size},
                                   {"mime_type", type},
                                   {"data", "QUI="}}},
                   Form::text_only, length)["content"];
}

TEST(PresentedTest, ABinaryFileThatIsReadIsAnImageOrABlob) {
  const Json image{{"type", "image"}, {"data", "QUI="}, {"mimeType", "image/png"}};
  const Json blob{
      {"type", "resource"},
      {"resource", {{"uri", "file:///work/a"}, {"mimeType", "font/woff"}, {"blob", "QUI="}}}};
  const Json text{{"type", "text"}, {"text", "a is binary"}};
  EXPECT_EQ(read_result("image/png", 2), Json::array({text, image}));
  EXPECT_EQ(read_result("font/woff", 3 << 20), Json::array({text, blob}));
}

TEST(PresentedTest, AModelGetsNoBinaryFileThatWouldFillItsContext) {
  const Json text{{"type", "text"},
                  {"text",
                   "a is binary; its bytes are left out, being over 3 MB: resources/read of "
                   "file:///work/a gives up to 10 MB"}};
  EXPECT_EQ(read_result("font/woff", (3 << 20) + 1), Json::array({text}));
  EXPECT_EQ(read_result("image/png", (3 << 20) + 1), Json::array({text}));
  EXPECT_EQ(read_result("font/woff", (3 << 20) + 1, Length::whole).size(), 2U);
}

}  // namespace
}  // namespace coop::mcp
