#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace coop {
namespace {

constexpr std::array<std::string_view, 5> kKnown{"memory", "network", "network_allow", "timeout",
                                                 "cpus"};

TEST(NearestTest, EachKindOfSlipIsOneChange) {
  EXPECT_EQ(edit_distance("memory", "memory"), 0u);
  EXPECT_EQ(edit_distance("memory", "memoxy"), 1u);
  EXPECT_EQ(edit_distance("memory", "memor"), 1u);
  EXPECT_EQ(edit_distance("memory", "memoryy"), 1u);
  EXPECT_EQ(edit_distance("memory", "mmeory"), 1u);
  EXPECT_EQ(edit_distance("memory", "memoyr"), 1u);
}

TEST(NearestTest, ChangesAddUpInBothDirections) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
  // Nothing is edited twice: swapped letters are not pulled apart afterwards.
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
}

TEST(NearestTest, TheWordThatNeedsFewestChangesIsFound) {
  EXPECT_EQ(nearest("netwrok", kKnown), "network");
  EXPECT_EQ(nearest("network_alow", kKnown), "network_allow");
  EXPECT_EQ(nearest("memory", kKnown), "memory");
  EXPECT_EQ(nearest("cpu", kKnown), "cpus");
}

TEST(NearestTest, WordsTooFarAwayAreNotGuessed) {
  EXPECT_EQ(nearest("completely", kKnown), "");
  EXPECT_EQ(nearest("memxxx", kKnown), "memory");
  EXPECT_EQ(nearest("mexxxx", kKnown), "");
  EXPECT_EQ(nearest("mexxxx", kKnown, 4), "memory");
  EXPECT_EQ(nearest("memoxy", kKnown, 0), "");
}

TEST(NearestTest, AWordIsNeverReplacedAsAWhole) {
  constexpr std::array<std::string_view, 2> kShort{"ab", "xyz"};
  EXPECT_EQ(nearest("cd", kShort), "");
  EXPECT_EQ(nearest("ac", kShort), "ab");
  EXPECT_EQ(nearest("", kShort), "");
  EXPECT_EQ(nearest("q", kShort), "");
}

TEST(NearestTest, TheFirstOfEquallyNearWordsIsTaken) {
  constexpr std::array<std::string_view, 2> kEqual{"beat", "bent"};
  EXPECT_EQ(nearest("best", kEqual), "beat");
}

TEST(NearestTest, WordsOver64BytesMatchNothing) {
  const std::string longest(64, 'a');
  const std::string longer(65, 'a');
  const std::array<std::string_view, 2> known{longer, longest};
  EXPECT_EQ(nearest(longest, known), longest);
  EXPECT_EQ(nearest(longer, known), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), known), "");
}

TEST(NearestTest, AFewAreTheClosestOnesFirst) {
  const std::vector<std::string_view> known{
      ".cargo/config", ".config/amp",   ".config/git", ".config/zed", ".git/config",
      ".gitconfig",    ".pijul/config", ".sl/config",  ".mcp.json",   ".git/hooks"};
  using Few = std::vector<std::string_view>;
  EXPECT_EQ(nearest_few(".git/confg", known), (Few{".git/config", ".gitconfig"}));
  EXPECT_EQ(nearest_few("config", known), (Few{".cargo/config", ".git/config", ".pijul/config"}));
  EXPECT_EQ(nearest_few(".mcp", known), Few{".mcp.json"});
  EXPECT_EQ(nearest_few("xyzzy", known), Few{});
  EXPECT_EQ(nearest_few("", known), Few{});
  EXPECT_EQ(nearest_few(std::string(65, 'a'), known), Few{});
}

}  // namespace
}  // namespace coop
