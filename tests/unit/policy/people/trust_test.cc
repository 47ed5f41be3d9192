// Trust levels and what follows from them.
#include "policy/people/trust.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace coop::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TrustLevel kAll[] = {TrustLevel::owner, TrustLevel::full, TrustLevel::inner,
                               TrustLevel::familiar, TrustLevel::public_};

std::vector<std::string_view> tools_of(TrustLevel trust) {
  std::vector<std::string_view> names;
  for (const ToolAccess& access : kTools)
    if (may_use(trust, access.tool)) names.push_back(access.tool);
  return names;
}

TEST(TrustTest, TheMostTrustedIsTheSmallest) {
  EXPECT_LT(TrustLevel::owner, TrustLevel::full);
  EXPECT_LT(TrustLevel::full, TrustLevel::inner);
  EXPECT_LT(TrustLevel::inner, TrustLevel::familiar);
  EXPECT_LT(TrustLevel::familiar, TrustLevel::public_);
}

TEST(TrustTest, EveryLevelHasAWordThatReadsBack) {
  std::vector<std::string_view> words;
  for (const TrustLevel trust : kAll) {
    words.push_back(to_text(trust));
    EXPECT_EQ(parse_trust(to_text(trust)), trust);
  }
  EXPECT_THAT(words, ElementsAre("owner", "full", "inner", "familiar", "public"));
}

TEST(TrustTest, OnlyTheExactLowerCaseWordsAreLevels) {
  for (const char* word : {"", "Owner", "OWNER", "owner ", "own", "public_", "admin", "0"})
    EXPECT_EQ(parse_trust(word), std::nullopt) << word;
}

TEST(TrustTest, TheLessTrustedOfUserAndCeilingHolds) {
  for (const TrustLevel user : kAll)
    for (const TrustLevel ceiling : kAll) {
      const TrustLevel expected = user < ceiling ? ceiling : user;
      EXPECT_EQ(resolve_trust(user, ceiling), expected) << to_text(user) << to_text(ceiling);
    }
}

TEST(TrustTest, InAGroupTheCeilingIsFamiliar) {
  std::vector<TrustLevel> direct;
  std::vector<TrustLevel> group;
  for (const TrustLevel user : kAll) {
    direct.push_back(resolve_trust(user, ceiling_of(Conversation::direct)));
    group.push_back(resolve_trust(user, ceiling_of(Conversation::group)));
  }
  EXPECT_THAT(direct, testing::ElementsAreArray(kAll));
  EXPECT_THAT(group, ElementsAre(TrustLevel::familiar, TrustLevel::familiar, TrustLevel::familiar,
                                 TrustLevel::familiar, TrustLevel::public_));
}

TEST(TrustTest, MemoryStoresFollowTrust) {
  EXPECT_THAT(memory_stores(TrustLevel::owner), ElementsAre("private", "shared", "social"));
  EXPECT_THAT(memory_stores(TrustLevel::full), ElementsAre("private", "shared", "social"));
  EXPECT_THAT(memory_stores(TrustLevel::inner), ElementsAre("shared", "social"));
  EXPECT_THAT(memory_stores(TrustLevel::familiar), ElementsAre("social"));
  EXPECT_THAT(memory_stores(TrustLevel::public_), IsEmpty());
}

TEST(TrustTest, ToolsFollowTrust) {
  EXPECT_THAT(tools_of(TrustLevel::owner),
              ElementsAre("bash", "exec", "read_file", "write_file", "edit_file", "list_files",
                          "search_files", "send_file", "fetch_url"));
  EXPECT_EQ(tools_of(TrustLevel::full), tools_of(TrustLevel::owner));
  EXPECT_THAT(tools_of(TrustLevel::inner), ElementsAre("bash", "exec", "read_file", "write_file",
                                                       "edit_file", "list_files", "search_files"));
  EXPECT_THAT(tools_of(TrustLevel::familiar),
              ElementsAre("read_file", "list_files", "search_files"));
  EXPECT_THAT(tools_of(TrustLevel::public_), IsEmpty());
}

TEST(TrustTest, AnUnknownToolIsDeniedAtEveryTrust) {
  for (const TrustLevel trust : kAll)
    for (const char* tool : {"", "Bash", "bash ", "shell", "rm"})
      EXPECT_FALSE(may_use(trust, tool)) << to_text(trust) << " " << tool;
}

TEST(TrustTest, OwnerAndFullDifferInTheSandboxAlone) {
  std::vector<bool> sandboxed;
  for (const TrustLevel trust : kAll) sandboxed.push_back(is_sandboxed(trust));
  EXPECT_THAT(sandboxed, ElementsAre(false, true, true, true, true));
}

}  // namespace
}  // namespace coop::policy
