// Paths in files: what "~", "$VAR", "?" and wildcards mean, and what they cannot be made to mean.
#include "policy/settings/expand.h"

#include <gmock/gmock.h>

#include "settings_support.h"

namespace coop::policy {
namespace {

Surroundings surroundings() { return testing_support::source_of(Shape::policy_file).surroundings; }

std::string error_of(std::string_view text, const Surroundings& around) {
  const Result<ExpandedPath> expanded = expand_path(text, around);
  if (expanded) return "no error but " + expanded->path;
  return expanded.error().subject;
}

void expect_path(std::string_view text, const ExpandedPath& expected) {
  const Result<ExpandedPath> expanded = expand_path(text, surroundings());
  ASSERT_TRUE(expanded.has_value()) << text << ": " << expanded.error().subject;
  EXPECT_EQ(expanded->path, expected.path) << text;
  EXPECT_EQ(expanded->pattern, expected.pattern) << text;
  EXPECT_EQ(expanded->if_missing, expected.if_missing) << text;
}

TEST(ExpandTest, HomesVariablesAndRelativePathsArePutIn) {
  expect_path("/a//b/./c/", {.path = "/a/b/c"});
  expect_path("/", {.path = "/"});
  expect_path("~", {.path = "/home/ann"});
  expect_path("~/", {.path = "/home/ann"});
  expect_path("~/x", {.path = "/home/ann/x"});
  expect_path("x/y", {.path = "/base/x/y"});
  expect_path(".", {.path = "/base"});
  expect_path("./~x", {.path = "/base/~x"});
  expect_path("a~", {.path = "/base/a~"});
  expect_path("$DATA", {.path = "/data"});
  expect_path("$DATA/x$NAME", {.path = "/data/xname"});
  expect_path("${DATA}x/${NAME}", {.path = "/datax/name"});
  expect_path("$NAME", {.path = "/base/name"});
  expect_path("~/$$x", {.path = "/home/ann/$x"});
  expect_path("/a..b/..c", {.path = "/a..b/..c"});
}

TEST(ExpandTest, AQuestionMarkAtTheEndMeansItMayBeMissing) {
  expect_path("/a?", {.path = "/a", .if_missing = Missing::skip});
  expect_path("~?", {.path = "/home/ann", .if_missing = Missing::skip});
  expect_path("/a??", {.path = "/a?", .pattern = true, .if_missing = Missing::skip});
  expect_path("/a?b", {.path = "/a?b", .pattern = true});
}

TEST(ExpandTest, WrittenWildcardsMakeAPattern) {
  expect_path("~/*.pem", {.path = "/home/ann/*.pem", .pattern = true});
  expect_path("$DATA/[a-c]x", {.path = "/data/[a-c]x", .pattern = true});
  expect_path("*", {.path = "/base/*", .pattern = true});
}

TEST(ExpandTest, WhatAVariableHoldsIsTakenAsItIs) {
  expect_path("$STAR", {.path = "/s*r"});          // no pattern
  expect_path("$AGAIN", {.path = "/base/$DATA"});  // not expanded again
  expect_path("$TILDE", {.path = "/base/~/x"});    // not a home
}

TEST(ExpandTest, WildcardsOfAVariableDoNotJoinWrittenOnes) {
  const std::string mixed = " has wildcards, and so has what it starts from or puts in";
  EXPECT_EQ(error_of("$STAR/*", surroundings()), "\"$STAR/*\"" + mixed);
  EXPECT_EQ(error_of("/x[$SET]", surroundings()), "\"/x[$SET]\"" + mixed);
  EXPECT_EQ(error_of("/x[a]$NAME", surroundings()), "\"/x[a]$NAME\"" + mixed);
  expect_path("/x[a]/$NAME", {.path = "/x[a]/name", .pattern = true});
  Surroundings odd = surroundings();
  odd.home = "/home/[a]";
  odd.base = "/b*";
  EXPECT_EQ(error_of("~/*", odd), "\"~/*\"" + mixed);
  EXPECT_EQ(error_of("*", odd), "\"*\"" + mixed);
  EXPECT_EQ(expand_path("~/x", odd)->path, "/home/[a]/x");
  EXPECT_FALSE(expand_path("x", odd)->pattern);
}

TEST(ExpandTest, MistakesAreRefusedWithASentence) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"", "a path is empty"},
      {"?", "a path is empty"},
      {"~bob", R"("~bob": only your own home can be written as "~")"},
      {"~~/x", R"("~~/x": only your own home can be written as "~")"},
      {"$UNSET", R"("$UNSET": $UNSET is not set)"},
      {"/a/${EMPTY}/b", R"("/a/${EMPTY}/b": $EMPTY is empty)"},
      {"/a$", R"("/a$": "$" without the name of a variable)"},
      {"$1", R"("$1": "$" without the name of a variable)"},
      {"${DATA", R"("${DATA": "$" without the name of a variable)"},
      {"${}", R"("${}": "$" without the name of a variable)"},
      {"${DATA:-x}", R"("${DATA:-x}": "$" without the name of a variable)"},
      {"..", R"(".." has ".." in it)"},
      {"/a/../b", R"("/a/../b" has ".." in it)"},
      {"~/..", R"("~/.." has ".." in it)"},
      {"$UP/x", R"("$UP/x" has ".." in it)"},
      {"/a/**", R"("/a/**" has "**" in it)"},
      {std::string_view("/a\0b", 4), R"("/a\x00b" has a NUL character in it)"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(error_of(text, surroundings()), message);
}

TEST(ExpandTest, WithoutAHomeOrABaseTheyCannotBeUsed) {
  EXPECT_EQ(error_of("~/x", {}), R"("~/x": there is no home directory)");
  EXPECT_EQ(error_of("~", {.home = "relative"}), R"("~": there is no home directory)");
  EXPECT_EQ(error_of("x", {}),
            R"("x" is a relative path, which only a project's policy and coop.toml may use)");
  EXPECT_EQ(error_of("$V", {.environment = {{"V", "x"}}}),
            R"("$V" is a relative path, which only a project's policy and coop.toml may use)");
  EXPECT_EQ(expand_path("/x", {})->path, "/x");
}

// A megabyte of "$BIG" would become a hundred gigabytes.
TEST(ExpandTest, VariablesCannotFillTheMemory) {
  std::string text = "/";
  for (int index = 0; index < 200000; ++index) text += "$BIG";
  const Surroundings around{.environment = {{"BIG", std::string(100000, 'x')}}};
  EXPECT_TRUE(error_of(text, around).ends_with(" is longer than 4096 bytes"));
  EXPECT_TRUE(error_of("/" + std::string(4096, 'x'), around).ends_with(" 4096 bytes"));
  EXPECT_EQ(expand_path("/" + std::string(4095, 'x'), around)->path.size(), 4096U);
}

TEST(ExpandTest, APlainPathHasNoSpecialEnd) {
  EXPECT_EQ(*expand_plain_path("~/a*?", surroundings()), "/home/ann/a*?");
  EXPECT_EQ(expand_plain_path("$UNSET", surroundings()).error().subject,
            R"("$UNSET": $UNSET is not set)");
}

}  // namespace
}  // namespace coop::policy
