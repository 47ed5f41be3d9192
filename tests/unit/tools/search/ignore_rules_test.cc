#include "tools/search/ignore_rules.h"

#include <gtest/gtest.h>

namespace coop::tools {
namespace {

bool matches(std::string_view line, std::string_view path, EntryKind kind = EntryKind::file) {
  IgnoreRule rule;
  if (!IgnoreRule::parse(line, rule)) return false;
  return rule.matches(path, path.substr(path.rfind('/') + 1), kind);
}

TEST(IgnoreRuleTest, ANameMatchesAtAnyDepthAndAPathOnlyWhereItIs) {
  EXPECT_TRUE(matches("*.o", "a.o"));
  EXPECT_TRUE(matches("*.o", "x/y/a.o"));
  EXPECT_FALSE(matches("*.o", "a.oo"));
  EXPECT_TRUE(matches("build", "x/build"));
  EXPECT_TRUE(matches("/build", "build"));
  EXPECT_FALSE(matches("/build", "x/build"));
  EXPECT_TRUE(matches("doc/*.txt", "doc/a.txt"));
  EXPECT_FALSE(matches("doc/*.txt", "doc/x/a.txt"));
  EXPECT_FALSE(matches("doc/*.txt", "y/doc/a.txt"));
}

TEST(IgnoreRuleTest, ASlashAtTheEndIsForDirectoriesOnly) {
  EXPECT_TRUE(matches("build/", "x/build", EntryKind::directory));
  EXPECT_FALSE(matches("build/", "build"));
}

TEST(IgnoreRuleTest, TwoStarsAreAnyNumberOfDirectories) {
  EXPECT_TRUE(matches("**/foo", "foo"));
  EXPECT_TRUE(matches("**/foo", "a/b/foo"));
  EXPECT_TRUE(matches("a/**/b", "a/b"));
  EXPECT_TRUE(matches("a/**/b", "a/x/y/b"));
  EXPECT_TRUE(matches("abc/**", "abc/x/y"));
  EXPECT_FALSE(matches("abc/**", "abc", EntryKind::directory));
}

TEST(IgnoreRuleTest, SetsEscapesSpacesAndComments) {
  EXPECT_TRUE(matches("[a-c]?[!x]", "bzy"));
  EXPECT_FALSE(matches("[a-c]?[!x]", "bzx"));
  EXPECT_TRUE(matches("[]]", "]"));
  EXPECT_TRUE(matches("[abc", "[abc"));  // not closed: itself
  EXPECT_TRUE(matches("\\#a\\*", "#a*"));
  EXPECT_FALSE(matches("# a", "# a"));
  EXPECT_TRUE(matches("a   ", "a"));
  EXPECT_TRUE(matches("a\\ ", "a "));
  EXPECT_TRUE(matches("a\r", "a"));
  EXPECT_FALSE(matches("/", ""));
  EXPECT_FALSE(matches("", ""));
}

TEST(IgnoreListTest, TheLastRuleDecides) {
  IgnoreList list;
  list.add("*.log\n!keep.log\n");
  EXPECT_EQ(list.judge("a.log", "a.log", EntryKind::file), Ignored::yes);
  EXPECT_EQ(list.judge("keep.log", "keep.log", EntryKind::file), Ignored::no);
  EXPECT_EQ(list.judge("a.txt", "a.txt", EntryKind::file), Ignored::undecided);
}

TEST(IgnoreListTest, DeeperRulesAndIgnoreFilesWinAndARepositoryEndsGitsOwn) {
  auto top = std::make_shared<IgnoreLevel>();
  top->git.add("*.log\n/sub/only\n");
  IgnoreLevel sub{.above = top, .depth = 4};
  sub.git.add("!a.log\n");
  EXPECT_TRUE(is_ignored(top.get(), "a.log", "a.log", EntryKind::file));
  EXPECT_FALSE(is_ignored(&sub, "sub/a.log", "a.log", EntryKind::file));
  EXPECT_TRUE(is_ignored(&sub, "sub/b.log", "b.log", EntryKind::file));
  EXPECT_TRUE(is_ignored(&sub, "sub/only", "only", EntryKind::file));
  top->own.add("a.log\n");
  EXPECT_TRUE(is_ignored(&sub, "sub/a.log", "a.log", EntryKind::file));
  sub.repository = true;
  EXPECT_FALSE(is_ignored(&sub, "sub/b.log", "b.log", EntryKind::file));
}

// A pattern of a repository must not hold up a search.
TEST(IgnoreRuleTest, ManyStarsTakeLittleTime) {
  std::string pattern;
  for (int count = 0; count < 300; ++count) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(250, 'a')));
  std::string parts;
  for (int count = 0; count < 200; ++count) parts += "**/a/";
  std::string path;
  for (int count = 0; count < 1000; ++count) path += "a/";
  EXPECT_FALSE(matches(parts + "b", path + "c"));
}

}  // namespace
}  // namespace coop::tools
