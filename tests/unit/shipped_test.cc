// The manual page and the completions in the repository are what the program prints. To renew them:
//   coop man > docs/man/coop.1; coop completion bash > completions/coop.bash; …zsh > completions/_coop;
//   …fish > completions/coop.fish
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

std::string printed(Result<int> (*command)(Arguments), const std::vector<std::string>& arguments) {
  ::testing::internal::CaptureStdout();
  const Result<int> code = command(arguments);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code.value_or(-1), 0);
  return text;
}

TEST(ShippedTest, TheManualPageIsWhatTheFlagsSay) {
  EXPECT_EQ(shipped("docs/man/coop.1"), printed(command_man, {}));
}

TEST(ShippedTest, TheCompletionsAreWhatTheFlagsSay) {
  EXPECT_EQ(shipped("completions/coop.bash"), printed(command_completion, {"bash"}));
  EXPECT_EQ(shipped("completions/_coop"), printed(command_completion, {"zsh"}));
  EXPECT_EQ(shipped("completions/coop.fish"), printed(command_completion, {"fish"}));
}

}  // namespace
}  // namespace coop::cli
