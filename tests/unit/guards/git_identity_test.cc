// What of the user's git configuration a sandbox gets.
#include "guards/git_identity.h"

#include <gmock/gmock.h>

#include "unit/support/temp_tree.h"

namespace coop::guards {
namespace {

using test::TempTree;

GitIdentity identity_from(const std::string& text) {
  const TempTree tree;
  std::ofstream(tree / ".gitconfig") << text;
  HostFacts host;
  host.home = tree.path();
  return git_identity(host);
}

TEST(GitIdentityTest, IsNameAddressAndAliases) {
  const GitIdentity expected{.name = "Ann",
                             .email = "ann@example.com",
                             .aliases = {{"st", "status -sb"}, {"lg", "log --graph --cached"}}};
  EXPECT_EQ(identity_from("[user]\n name = Ann\n email = ann@example.com\n signingkey = 1\n"
                          "[alias]\n st = status -sb\n lg = log --graph --cached\n"
                          "[credential]\n helper = store\n[core]\n hooksPath = ~/hooks\n"),
            expected);
}

TEST(GitIdentityTest, LeavesOutAliasesThatRunProgramsOrMayHoldTokens) {
  EXPECT_EQ(identity_from("[alias]\n a = !rm -rf /\n b = -c http.extraHeader=x fetch\n"
                          " c = --config-env=a=b fetch\n d = log -c core.pager=x\n"
                          " e = fetch https://ann:secret@example.com/x\n f =\n g\n"),
            GitIdentity{});
  EXPECT_EQ(identity_from("[alias]\n a = status\n a = !sh\n"), GitIdentity{});  // the last counts
  EXPECT_EQ(identity_from("[alias \"x\"]\n command = status\n"), GitIdentity{});
}

TEST(GitIdentityTest, HasAsManyAliasesAsAPersonKeeps) {
  std::string text = "[alias]\n";
  for (int count = 0; count < 1000; ++count) text += " a" + std::to_string(count) + " = status\n";
  EXPECT_EQ(identity_from(text).aliases.size(), 200U);
}

}  // namespace
}  // namespace coop::guards
