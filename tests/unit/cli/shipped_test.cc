// The manual pages and the completions in the repository are what the program prints. To renew them:
//   scripts/renew_manual build/release/bin/coop
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/command.h"

namespace coop::cli {
namespace {

std::string shipped(const std::string& path) {
  std::ifstream file(std::string(COOP_GOLDEN_DIRECTORY) + "/../../" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string printed(const std::vector<std::string>& arguments) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(main_with(arguments), 0);
  return ::testing::internal::GetCapturedStdout();
}

// coop-mcp(1) is printed by coop-tools: tests/e2e compares it.
TEST(ShippedTest, TheManualPagesAreWhatTheTablesSay) {
  EXPECT_EQ(shipped("docs/man/coop.1"), printed({"man"}));
  EXPECT_EQ(shipped("docs/man/coop-run.1"), printed({"man", "coop-run"}));
  EXPECT_EQ(shipped("docs/man/coop-policy.5"), printed({"man", "coop-policy"}));
}

TEST(ShippedTest, TheCompletionsAreWhatTheTablesSay) {
  EXPECT_EQ(shipped("completions/coop.bash"), printed({"completion", "bash"}));
  EXPECT_EQ(shipped("completions/_coop"), printed({"completion", "zsh"}));
  EXPECT_EQ(shipped("completions/coop.fish"), printed({"completion", "fish"}));
}

}  // namespace
}  // namespace coop::cli
