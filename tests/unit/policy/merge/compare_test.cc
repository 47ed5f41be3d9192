// Which of two values gives more.
#include "policy/merge/compare.h"

#include <gtest/gtest.h>

#include "policy/policy.h"
#include "settings_literals.h"

namespace coop::policy {
namespace {

using testing_literals::path_item;

bool covers(const char* cover, const char* item) {
  return path_covers(path_item(cover), path_item(item));
}

bool may_lie_in(const char* item, const char* tree) {
  return path_may_lie_in(path_item(item), path_item(tree));
}

TEST(CompareTest, WordsHaveAnOrder) {
  struct Case {
    Key key;
    std::vector<std::string> words;  // from narrow to wide
  };
  const std::vector<Case> cases{{Key::mode, {"enabled", "disabled"}},
                                {Key::view, {"minimal", "host"}},
                                {Key::network, {"none", "allowlist", "full", "veth", "host"}},
                                {Key::landlock, {"required", "best_effort"}},
                                {Key::proc, {"required", "best_effort"}},
                                {Key::limits, {"required", "best_effort"}}};
  for (const Case& one : cases)
    for (std::size_t a = 0; a < one.words.size(); ++a)
      for (std::size_t b = 0; b < one.words.size(); ++b)
        EXPECT_EQ(is_wider(one.key, one.words[a], one.words[b]), a > b)
            << one.words[a] << " " << one.words[b];
}

TEST(CompareTest, MoreIsWiderAndUnlimitedTheWidest) {
  for (const Key key :
       {Key::memory, Key::pids_limit, Key::cpus, Key::tmp_size, Key::timeout, Key::output_limit}) {
    EXPECT_TRUE(is_wider(key, std::uint64_t{2}, std::uint64_t{1}));
    EXPECT_FALSE(is_wider(key, std::uint64_t{1}, std::uint64_t{2}));
    EXPECT_FALSE(is_wider(key, std::uint64_t{1}, std::uint64_t{1}));
    EXPECT_TRUE(is_wider(key, Unlimited{}, std::uint64_t{1}));
    EXPECT_FALSE(is_wider(key, std::uint64_t{1}, Unlimited{}));
    EXPECT_FALSE(is_wider(key, Unlimited{}, Unlimited{}));
  }
}

TEST(CompareTest, YesIsWiderThanNo) {
  for (const Key key : {Key::show_home, Key::debug, Key::network_mptcp, Key::containers, Key::vm,
                        Key::auto_commit}) {
    EXPECT_TRUE(is_wider(key, true, false));
    EXPECT_FALSE(is_wider(key, false, true));
    EXPECT_FALSE(is_wider(key, true, true));
  }
  // But for what hides.
  EXPECT_TRUE(is_wider(Key::hide_secrets, false, true));
  EXPECT_FALSE(is_wider(Key::hide_secrets, true, false));
}

TEST(CompareTest, WhatCannotBeComparedIsWider) {
  for (const Key key : {Key::backend, Key::base_image, Key::workspace}) {
    EXPECT_TRUE(is_wider(key, "a", "b"));
    EXPECT_TRUE(is_wider(key, "b", "a"));
    EXPECT_FALSE(is_wider(key, "a", "a"));
  }
  EXPECT_TRUE(is_wider(Key::network, "bogus", "host"));
  EXPECT_TRUE(is_wider(Key::memory, "much", std::uint64_t{1}));
  EXPECT_TRUE(is_wider(Key::memory, "much", Unlimited{}));
}

TEST(CompareTest, TheBuiltInValuesAreThoseOfAPolicyThatSaysNothing) {
  EXPECT_EQ(built_in(Key::view), Scalar("minimal"));
  EXPECT_EQ(built_in(Key::network), Scalar("none"));
  EXPECT_EQ(built_in(Key::memory), Scalar(Unlimited{}));
  EXPECT_EQ(built_in(Key::pids_limit), Scalar(std::uint64_t{4096}));
  EXPECT_EQ(built_in(Key::cpus), Scalar(Unlimited{}));
  EXPECT_EQ(built_in(Key::tmp_size), Scalar(std::uint64_t{512} << 20));
  EXPECT_EQ(built_in(Key::output_limit), Scalar(std::uint64_t{1} << 20));
  EXPECT_EQ(built_in(Key::debug), Scalar(true));
  EXPECT_EQ(built_in(Key::proc), Scalar("required"));
  EXPECT_EQ(built_in(Key::landlock), Scalar("best_effort"));
  for (const KeyInfo& key : keys()) {
    if (is_list(key.key)) continue;
    // The table of keys is what people read; it must tell the same. A scalar without a text is "".
    std::string told = value_text(key.key, Setting{.value = built_in(key.key)});
    std::erase(told, '"');
    EXPECT_EQ(told, key.initial.text) << key.name;
  }
}

TEST(CompareTest, ATreeCoversWhatIsInIt) {
  EXPECT_TRUE(covers("/srv", "/srv"));
  EXPECT_TRUE(covers("/srv", "/srv/a/b"));
  EXPECT_TRUE(covers("/", "/srv"));
  EXPECT_FALSE(covers("/srv/a", "/srv"));
  EXPECT_FALSE(covers("/srv", "/srv2"));
}

TEST(CompareTest, ATreeCoversPatternsThatStayInIt) {
  EXPECT_TRUE(covers("/srv", "/srv/*"));
  EXPECT_TRUE(covers("/srv", "/srv/a/*/b"));
  EXPECT_FALSE(covers("/srv/a", "/srv/*"));
  EXPECT_FALSE(covers("/srv/a", "/srv/a*"));
  EXPECT_TRUE(covers("/", "/*"));
}

TEST(CompareTest, APatternCoversItselfAndWhatItMatches) {
  EXPECT_TRUE(covers("/srv/*/data", "/srv/*/data"));
  EXPECT_TRUE(covers("/srv/*/data", "/srv/a/data"));
  EXPECT_TRUE(covers("/srv/*/data", "/srv/a/data/deep/er"));
  EXPECT_FALSE(covers("/srv/*/data", "/srv/a"));
  EXPECT_FALSE(covers("/srv/*/data", "/srv/a/other"));
  EXPECT_FALSE(covers("/srv/*", "/srv"));
  EXPECT_FALSE(covers("/srv/*", "/srv/a*"));
  EXPECT_FALSE(covers("/srv/*", "/srv/.git")) << "globs need the dot written";
  EXPECT_TRUE(covers("/srv/.g*", "/srv/.git"));
}

TEST(CompareTest, WildcardCharactersOfAPlainPathAreCharacters) {
  const Item plain{.text = "/srv/*", .path = "/srv/*", .pattern = false};
  EXPECT_FALSE(path_covers(plain, path_item("/srv/a")));
  EXPECT_TRUE(path_covers(path_item("/srv"), plain));
  EXPECT_FALSE(path_may_lie_in(path_item("/srv/a"), plain));
}

TEST(CompareTest, APatternMayLieWhereItCanMatch) {
  EXPECT_TRUE(may_lie_in("/home/*", "/home/ann"));
  EXPECT_TRUE(may_lie_in("/home/*/.ssh", "/home/ann"));
  EXPECT_TRUE(may_lie_in("/home/a*", "/home/ann"));
  EXPECT_FALSE(may_lie_in("/home/b*", "/home/ann"));
  EXPECT_FALSE(may_lie_in("/home/*", "/home/ann/.ssh")) << "it is above";
  EXPECT_TRUE(may_lie_in("/home/ann/.ssh", "/home/*"));
  EXPECT_TRUE(may_lie_in("/home/a*", "/home/*b")) << "they may match the same path";
  EXPECT_TRUE(may_lie_in("/home/*", "/home/.*")) << "in doubt, yes";
  EXPECT_TRUE(may_lie_in("/a/b", "/a"));
  EXPECT_FALSE(may_lie_in("/a", "/a/b"));
}

TEST(CompareTest, VariablesThatLeadToOtherProgramsAreSensitive) {
  for (const char* name : {"PATH", "HOME", "SHELL", "GIT_DIR", "LD_PRELOAD", "NODE_OPTIONS"})
    EXPECT_TRUE(is_sensitive_variable(name)) << name;
  for (const char* name : {"LANG", "PATHS", "GITHUB_ACTIONS", "CI"})
    EXPECT_FALSE(is_sensitive_variable(name)) << name;
}

TEST(PolicyWordsTest, NetworkModesReadBackAsWritten) {
  for (const NetworkMode mode : {NetworkMode::none, NetworkMode::allowlist, NetworkMode::full,
                                 NetworkMode::veth, NetworkMode::host})
    EXPECT_EQ(parse_network(to_text(mode)), mode);
  const Result<NetworkMode> bad = parse_network("br\x1bidge");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(to_text(bad.error()), "network: \"br\\x1bidge\" is not a network mode");
}

}  // namespace
}  // namespace coop::policy
