#include "report/words/words.h"

#include <gtest/gtest.h>

#include <concepts>

#include "coop/text/denial.h"
#include "origins.h"
#include "report/text.h"
#include "support/destination_rule.h"

namespace coop::report {
namespace {

// What the rooms that decide get for an origin is for messages alone.
static_assert(!std::equality_comparable<Words>);
static_assert(!std::equality_comparable_with<Words, std::string_view>);
static_assert(!std::convertible_to<Words, std::string>);
static_assert(!std::constructible_from<std::string_view, Words>);

TEST(WordsTest, WordsAreJoinedToAMessage) {
  EXPECT_EQ("hidden by " + in_words(in_file("policy.toml", 3)) + ", says the user",
            "hidden by policy.toml:3, says the user");
  EXPECT_EQ("the " + in_words(Scope::organisation) + " policy", "the organisation policy");
}

TEST(WordsTest, AProgramNamesItsRules) {
  EXPECT_EQ(to_text(Origin{.name = "my agent"}), "my agent");
  EXPECT_EQ(to_text(Origin{}), "program");
}

TEST(WordsTest, ARuleIsItsOriginAndItsDestination) {
  EXPECT_EQ(to_text(tests::decided_by("--deny-net", "10.0.0.0/8:80")), "--deny-net 10.0.0.0/8:80");
  EXPECT_EQ(to_text(Rule::of_coop(Part::guard, ".git/hooks")), "guard .git/hooks");
  EXPECT_EQ(to_text(std::optional<Rule>()), "");
}

TEST(WordsTest, ADenialNamesWhatTheRuleAndTheGrant) {
  Denial denial{.what = "connecting to a.example:80",
                .rule = Rule::of_coop(Part::address_guard),
                .problem = "10.0.0.1 is private",
                .grant = Grant{"--allow-net", "10.0.0.1"}};
  EXPECT_EQ(to_text(denial),
            "connecting to a.example:80 (address guard: 10.0.0.1 is private; to allow it: "
            "--allow-net 10.0.0.1)");
  denial = {.what = "a \x1b[2J system call",
            .rule = Rule::of_coop(Part::system_calls),
            .hint = "use a native program"};
  EXPECT_EQ(grant_text(denial), "use a native program");
  EXPECT_EQ(to_text(denial).find('\x1b'), std::string::npos);
  denial.hint.clear();
  EXPECT_TRUE(to_text(denial).ends_with(" are killed)"));
}

}  // namespace
}  // namespace coop::report
