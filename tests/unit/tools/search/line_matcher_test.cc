#include "tools/search/line_matcher.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace coop::tools {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> one_by_one(LineMatcher& matcher, std::string_view text) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text))
    if (matcher.matches(line)) found.push_back(line);
  return found;
}

std::vector<std::string> at_once(LineMatcher& matcher, std::string_view text) {
  std::vector<std::string> found;
  const LineEnds ends = line_ends_of(text);
  while (true) {
    const std::string_view line = matcher.find(text, ends);
    if (line.data() == nullptr) return found;
    found.emplace_back(line);
    text.remove_prefix(static_cast<std::size_t>(line.data() - text.data()));
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return found;
    text.remove_prefix(end + 1);
  }
}

// Anchors, empty matches, and patterns that match line ends, on texts of few letters.
TEST(LineMatcherTest, AWholeTextGivesTheLinesThatMatchOneByOne) {
  std::mt19937 random(1);
  constexpr std::string_view kLetters = "ab \n\n\r";
  for (const char* pattern :
       {"a",      "^a",   "a$",   "^$",    "^",       "$",     "b*",
        "a\\s+b", "\\s",  "[^a]", "[^a]$", "^a.*b$",  "a|^b$", "\\Aa",
        "b\\z",   "\\ba", "a\\b", "a{2,}", "(?s)a.b", "a\\r",  "(a|b)\\s*$"}) {
    Result<LineMatcher> matcher = LineMatcher::create(pattern, Syntax::regex, Case::counts);
    ASSERT_TRUE(matcher.has_value()) << pattern << ": " << to_text(matcher.error());
    for (int round = 0; round < 500; ++round) {
      std::string text;
      const std::size_t letters = round % 2 == 0 ? kLetters.size() - 1 : kLetters.size();
      for (std::size_t size = random() % 16; size > 0; --size) text += kLetters[random() % letters];
      EXPECT_EQ(at_once(*matcher, text), one_by_one(*matcher, text))
          << pattern << " in " << testing::PrintToString(text);
    }
  }
}

TEST(LineMatcherTest, ACopyFindsTheSame) {
  Result<LineMatcher> matcher = LineMatcher::create("A.c", Syntax::literal, Case::ignored);
  ASSERT_TRUE(matcher.has_value());
  Result<LineMatcher> copy = matcher->copy();
  ASSERT_TRUE(copy.has_value());
  const std::vector<std::string> expected{"xa.c", "A.C"};
  EXPECT_EQ(at_once(*copy, "abc\nxa.c\nb\nA.C"), expected);
}

}  // namespace
}  // namespace coop::tools
