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

}  // namespace coop::setup
