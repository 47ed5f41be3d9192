#include "setup/diff.h"

#include <gtest/gtest.h>

namespace coop::setup {

TEST(SetupDiffTest, OfEqualTextsThereIsNone) {
  EXPECT_EQ(unified_diff("a\n", "a\n", "x", "y"), "");
}

TEST(SetupDiffTest, HasThreeLinesOfContext) {
  EXPECT_EQ(
      unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nnew\n5\n6\n7\n8\n9\n", "x", "y"),
      "--- x\n+++ y\n@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+new\n 5\n 6\n 7\n");
}

TEST(SetupDiffTest, DistantChangesAreApart) {
  EXPECT_EQ(
      unified_diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", "x", "y"),
      "--- x\n+++ y\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

TEST(SetupDiffTest, ANewFileAndAMissingEndOfLine) {
  EXPECT_EQ(unified_diff("", "a", "x", "y"),
            "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+a\n\\ no newline at the end\n");
}

TEST(SetupDiffTest, ControlCharactersAreShown) {
  EXPECT_EQ(unified_diff("", "\ta\x1b[2J\n", "x", "y"),
            "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+\ta\\x1b[2J\n");
}

TEST(SetupDiffTest, AChangeInALongLineIsShownWithALittleAround) {
  const std::string front(500, 'f');
  const std::string back(500, 'b');
  const std::string around(80, 'f');
  EXPECT_EQ(unified_diff(front + "old" + back, front + "new" + back, "x", "y"),
            "--- x\n+++ y\n@@ -1,1 +1,1 @@\n-…" + around + "old" + std::string(80, 'b') +
                "…\n\\ no newline at the end\n+…" + around + "new" + std::string(80, 'b') +
                "…\n\\ no newline at the end\n");
}

TEST(SetupDiffTest, OfAChangeNothingIsHidden) {
  const std::string added(5000, 'a');
  EXPECT_TRUE(unified_diff("", added + "END\n", "x", "y").contains("+" + added + "END\n"));
  const std::string before(1000, 'x');
  const std::string diff = unified_diff(before, "1" + before + added + before + "2", "x", "y");
  EXPECT_TRUE(diff.contains("+1" + before + added + before + "2\n")) << diff;
}

TEST(SetupDiffTest, ALongLineIsNotCutWithinACharacter) {
  std::string front;
  for (int at = 0; at < 301; ++at) front += "ü";
  EXPECT_FALSE(unified_diff(front + "x", front + "yz", "x", "y").contains("\\x"));
  EXPECT_FALSE(unified_diff("a" + front + "\n", "a" + front + "\nnew\n", "x", "y").contains("\\x"));
}

}  // namespace coop::setup
