// Patterns become one rule for each match, before anything is planned.
#include <gmock/gmock.h>

#include "run/prepare.h"
#include "unit/support/temp_tree.h"

namespace coop::run {
namespace {

PathRule pattern(const Path& path, Missing if_missing = Missing::fail) {
  return {.kind = RuleKind::hide,
          .path = path,
          .if_missing = if_missing,
          .origin = {Scope::user, "policy.toml", {3, 0}},
          .reason = "secret",
          .pattern = true};
}

// The rules as they are planned, without the built-in ones.
Result<std::vector<PathRule>> matched(const test::TempTree& tree, std::vector<PathRule> rules) {
  const Draft draft =
      TRY(begin_prepare(Policy{.workspace = tree.path(), .rules = std::move(rules)}));
  std::vector<PathRule> found = draft.policy.rules;
  std::erase_if(found, [](const PathRule& rule) { return rule.origin.scope == Scope::built_in; });
  return found;
}

TEST(PreparePatternTest, EachMatchIsARuleThatKnowsItsPattern) {
  const test::TempTree tree;
  tree.must("mkdir a b .hidden && touch a/x.env a/y.env b/x.env b/other .hidden/x.env");
  PathRule asked = pattern(tree / "*/*.env");
  asked.precedence = Precedence::final;
  const auto expected = [&](const char* name) {
    return PathRule{.kind = RuleKind::hide,
                    .path = tree / name,
                    .if_missing = Missing::skip,
                    .origin = {Scope::user, "policy.toml", {3, 0}},
                    .reason = "secret (matched " + (tree / "*/*.env") + ")",
                    .precedence = Precedence::final};
  };
  const Result<std::vector<PathRule>> found = matched(tree, {asked});
  ASSERT_TRUE(found.has_value()) << to_text(found.error());
  EXPECT_EQ(*found, (std::vector{expected("a/x.env"), expected("a/y.env"), expected("b/x.env")}));
}

TEST(PreparePatternTest, TheOrderOfTheRulesIsKept) {
  const test::TempTree tree;
  tree.must("touch b.env c");
  PathRule literal = pattern(tree / "a*");
  literal.pattern = false;
  const Result<std::vector<PathRule>> found =
      matched(tree, {literal, pattern(tree / "*.env"), pattern(tree / "[c]")});
  ASSERT_TRUE(found.has_value()) << to_text(found.error());
  std::vector<Path> paths;
  for (const PathRule& rule : *found) paths.push_back(rule.path);
  EXPECT_EQ(paths, (std::vector<Path>{tree / "a*", tree / "b.env", tree / "c"}));
}

TEST(PreparePatternTest, NoMatchIsAnErrorUnlessOptional) {
  const test::TempTree tree;
  EXPECT_EQ(matched(tree, {pattern(tree / "*.env", Missing::skip)}), std::vector<PathRule>{});
  const Result<std::vector<PathRule>> found = matched(tree, {pattern(tree / "*.env")});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(to_text(found.error()), "policy.toml:3: nothing matches \"" + (tree / "*.env") + "\"");
  EXPECT_EQ(found.error().hint, "write \"" + (tree / "*.env") + "?\" if there may be nothing");
}

TEST(PreparePatternTest, AnErrorOfAPatternNamesWhereItWasWritten) {
  const test::TempTree tree;
  for (const Path& wrong : {Path("*.env"), tree / "[a", tree / "a/../*.env", tree / "*/.."}) {
    const Result<std::vector<PathRule>> found = matched(tree, {pattern(wrong)});
    ASSERT_FALSE(found.has_value()) << wrong;
    EXPECT_THAT(to_text(found.error()), testing::StartsWith("policy.toml:3: ")) << wrong;
  }
}

}  // namespace
}  // namespace coop::run
