#include "base/wildcard.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace coop {
namespace {

std::string refusal(std::string_view pattern) {
  const Result<void> result = check_wildcard(pattern);
  return result ? "" : to_text(result.error());
}

TEST(WildcardTest, TextWithoutWildcardsMatchesItselfOnly) {
  EXPECT_TRUE(matches_wildcard("abc", "abc"));
  EXPECT_FALSE(matches_wildcard("abc", "ab"));
  EXPECT_FALSE(matches_wildcard("abc", "abcd"));
  EXPECT_FALSE(matches_wildcard("abc", "Abc"));
  EXPECT_TRUE(matches_wildcard("", ""));
  EXPECT_FALSE(matches_wildcard("", "a"));
  EXPECT_FALSE(matches_wildcard("a", ""));
  EXPECT_TRUE(matches_wildcard("a\\b", "a\\b"));
}

TEST(WildcardTest, AStarMatchesAnyNumberOfCharacters) {
  EXPECT_TRUE(matches_wildcard("*", ""));
  EXPECT_TRUE(matches_wildcard("*", "anything"));
  EXPECT_TRUE(matches_wildcard("*.pem", "server.pem"));
  EXPECT_TRUE(matches_wildcard("*.pem", ".pem"));
  EXPECT_FALSE(matches_wildcard("*.pem", "server.pem.bak"));
  EXPECT_TRUE(matches_wildcard("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches_wildcard("a*b*c", "aXcYb"));
  EXPECT_TRUE(matches_wildcard("*ab", "aab"));
  EXPECT_TRUE(matches_wildcard("a*", "a"));
}

TEST(WildcardTest, AQuestionMarkMatchesOneCharacter) {
  EXPECT_TRUE(matches_wildcard("a?c", "abc"));
  EXPECT_FALSE(matches_wildcard("a?c", "ac"));
  EXPECT_FALSE(matches_wildcard("a?", "abc"));
  EXPECT_TRUE(matches_wildcard("?*", "x"));
  EXPECT_FALSE(matches_wildcard("?*", ""));
}

TEST(WildcardTest, BracketsMatchOneOfTheirCharacters) {
  EXPECT_TRUE(matches_wildcard("[abc]x", "bx"));
  EXPECT_FALSE(matches_wildcard("[abc]x", "dx"));
  EXPECT_TRUE(matches_wildcard("id_[a-z0-9]", "id_7"));
  EXPECT_FALSE(matches_wildcard("id_[a-z0-9]", "id_A"));
  EXPECT_TRUE(matches_wildcard("[!a-z]", "A"));
  EXPECT_FALSE(matches_wildcard("[!a-z]", "m"));
  EXPECT_FALSE(matches_wildcard("[!a-z]", ""));
  EXPECT_TRUE(matches_wildcard("[a-]", "-"));
  EXPECT_TRUE(matches_wildcard("[-a]", "-"));
  EXPECT_TRUE(matches_wildcard("[*]", "*"));
  EXPECT_FALSE(matches_wildcard("[*]", "x"));
  EXPECT_TRUE(matches_wildcard("[[]", "["));
  EXPECT_TRUE(matches_wildcard("*[0-9]", "a1b2"));
}

TEST(WildcardTest, ACharacterOfSeveralBytesIsOne) {
  EXPECT_TRUE(matches_wildcard("?", "é"));
  EXPECT_TRUE(matches_wildcard("a?c", "a\u20acc"));
  EXPECT_FALSE(matches_wildcard("??", "é"));
  EXPECT_TRUE(matches_wildcard("[à-é]", "é"));
  EXPECT_FALSE(matches_wildcard("[à-é]", "ü"));
  EXPECT_TRUE(matches_wildcard("?", "\xff"));
  EXPECT_TRUE(matches_wildcard("??", "\xc3x"));
  EXPECT_FALSE(matches_wildcard("é", "\xc3"));
}

TEST(WildcardTest, ManyStarsTakeNoMoreThanTheProductOfTheLengths) {
  std::string pattern;
  for (int count = 0; count < 1000; ++count) pattern += "a*";
  const std::string name(20'000, 'a');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(matches_wildcard(pattern + "b", name));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(WildcardTest, TextWithAWildcardIsTold) {
  EXPECT_FALSE(has_wildcard("/usr/lib"));
  EXPECT_FALSE(has_wildcard(""));
  EXPECT_FALSE(has_wildcard("a]b!c-d"));
  EXPECT_TRUE(has_wildcard("a*"));
  EXPECT_TRUE(has_wildcard("?"));
  EXPECT_TRUE(has_wildcard("x[a]"));
}

TEST(WildcardTest, GoodPatternsAreAccepted) {
  for (const std::string_view pattern :
       {"", "a", "*", "*a*", "?", "[a-z]*[!0-9]", "[a-]", "[*]*", "[**]", "]"})
    EXPECT_EQ(refusal(pattern), "") << pattern;
}

TEST(WildcardTest, PatternsThatMeanNothingAreRefused) {
  EXPECT_EQ(refusal("**"), "\"**\": has \"**\" in it");
  EXPECT_EQ(refusal("a**b"), "\"a**b\": has \"**\" in it");
  EXPECT_EQ(refusal("[ab"), "\"[ab\": has a \"[\" without \"]\"");
  EXPECT_EQ(refusal("a["), "\"a[\": has a \"[\" without \"]\"");
  EXPECT_EQ(refusal("[!"), "\"[!\": has a \"[\" without \"]\"");
  EXPECT_EQ(refusal("[]"), "\"[]\": has an empty [] in it");
  EXPECT_EQ(refusal("[!]"), "\"[!]\": has an empty [] in it");
  EXPECT_EQ(refusal("[z-a]"), "\"[z-a]\": has a backward range in []");
  EXPECT_EQ(refusal("\x1b**"), "\"\\x1b**\": has \"**\" in it");
  EXPECT_EQ(check_wildcard("**").error().hint, "write one \"*\" for each level of directories");
}

}  // namespace
}  // namespace coop
