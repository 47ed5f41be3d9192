#include "guards/changes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace coop::guards {
namespace {

Version file(const std::string& text) {
  return {.path = "/w/.git/config", .entries = {{.mode = S_IFREG | 0644, .content = text}}};
}

bool harmless(const std::string& before, const std::string& now,
              std::string_view guard = ".git/config") {
  return is_harmless_change(guard, file(before), file(now));
}

const std::string kOld = "[core]\n\tbare = false\n[remote \"o\"]\n\turl = https://a/b\n";

TEST(ChangesTest, WhatGitWritesEveryDayIsHarmless) {
  for (const char* const added :
       {"[remote \"x\"]\n\turl = git@host:y.git\n\tfetch = +refs/heads/*:refs/remotes/x/*\n",
        "[branch \"main\"]\n\tremote = o\n\tmerge = refs/heads/main\n",
        "[user]\n\tname = me\n\temail = a@b\n", "[pull]\n\trebase = true\n",
        "[submodule \"s\"]\n\turl = ../s\n\tactive = true\n", "[color \"diff\"]\n\tnew = green\n"})
    EXPECT_TRUE(harmless(kOld, kOld + added)) << added;
  EXPECT_TRUE(harmless(kOld, "[core]\n\tbare = false\n"));  // git remote remove
  EXPECT_TRUE(harmless(kOld, kOld, ".git/config.worktree"));
}

TEST(ChangesTest, KnownRemotesLeadWhereTheyDid) {
  const std::string old =
      kOld + "[branch \"main\"]\n\tremote = o\n[submodule \"s\"]\n\turl = ../s\n";
  for (const char* const added :
       {"[remote \"o\"]\n\turl = https://evil/b\n", "[remote \"o\"]\n\tpushurl = https://evil/b\n",
        "[remote \"o\"]\n\tmirror = true\n", "[remote \"o\"]\n\tpush = +refs/heads/*\n",
        "[remote \"o\"]\n\tfetch = +refs/heads/*:refs/heads/*\n",
        "[submodule \"s\"]\n\turl = https://evil/s\n",
        "[remote \"x\"]\n\turl = https://evil/b\n[branch \"main\"]\n\tremote = x\n",
        "[remote \"x\"]\n\turl = https://evil/b\n[branch \"main\"]\n\tpushRemote = x\n",
        "[branch \"new\"]\n\tremote = https://evil/b\n"})
    EXPECT_FALSE(harmless(old, old + added)) << added;
  for (const char* const added :  // controls
       {"[remote \"x\"]\n\turl = https://c/d\n", "[branch \"new\"]\n\tremote = o\n",
        "[branch \"new\"]\n\tremote = .\n", "[submodule \"t\"]\n\turl = ../t\n"})
    EXPECT_TRUE(harmless(old, old + added)) << added;
}

TEST(ChangesTest, WhatRunsProgramsOrNamesFilesIsNot) {
  for (const char* const added :
       {"[core]\n\tfsmonitor = ./x\n", "[core]\n\thooksPath = x\n", "[alias]\n\tst = !x\n",
        "[include]\n\tpath = x\n", "[includeIf \"gitdir:/\"]\n\tpath = x\n",
        "[remote \"x\"]\n\turl = ext::sh -c x\n", "[remote \"x\"]\n\turl = -x\n",
        "[remote \"x\"]\n\tuploadpack = x\n", "[remote \"x\"]\n\treceivepack = x\n",
        "[remote \"x\"]\n\tvcs = x\n", "[remote]\n\tpushDefault = x\n",
        "[submodule \"s\"]\n\tupdate = !x\n", "[filter \"f\"]\n\tclean = x\n",
        "[user \"name\"]\n\tname = x\n", "[url \"ext::x\"]\n\tinsteadOf = https://\n",
        "[diff]\n\texternal = x\n", "[branch]\n\tremote = x\n", "[url]\n\turl = x\n",
        "[branch \"b\"]\n\tremote = ext::x\n"})
    EXPECT_FALSE(harmless(kOld, kOld + added)) << added;
}

TEST(ChangesTest, NeitherIsWhatCannotBeReadWithCertainty) {
  EXPECT_FALSE(harmless(kOld, kOld + "[core\n"));
  EXPECT_FALSE(harmless(kOld, kOld + std::string("\0", 1)));
  EXPECT_FALSE(harmless(kOld, kOld, ".envrc"));
  const std::string two = "[alias]\n\ta = b\n\ta = c\n";
  EXPECT_FALSE(harmless(two, "[alias]\n\ta = c\n\ta = b\n"));  // the last one counts
  EXPECT_FALSE(harmless(two, "[alias]\n\ta = b\n"));
  Version link = file(kOld);
  link.entries[0].mode = S_IFLNK | 0777;
  EXPECT_FALSE(is_harmless_change(".git/config", file(kOld), link));
}

}  // namespace
}  // namespace coop::guards
