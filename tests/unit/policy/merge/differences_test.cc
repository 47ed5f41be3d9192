// `coop policy diff`: what changed, and in which direction.
#include <gtest/gtest.h>

#include "policy/merge/merge.h"
#include "settings_literals.h"

namespace coop::policy {
namespace {

using namespace testing_literals;
using Direction = Difference::Direction;

TEST(DifferencesTest, TheSameSettingsElsewhereAreNoDifference) {
  const Settings mine = user().set(Key::view, "host").paths(Key::hidden_paths, {"/a"}).settings();
  const Settings theirs =
      project().set(Key::view, "host").paths(Key::hidden_paths, {"/a"}).settings();
  EXPECT_EQ(differences(mine, theirs), std::vector<Difference>{});
}

TEST(DifferencesTest, ValuesHaveADirection) {
  const Settings before =
      user().set(Key::view, "host").set(Key::memory, std::uint64_t{1024}).settings();
  const Settings after = user()
                             .set(Key::view, "minimal")
                             .set(Key::memory, Unlimited{})
                             .set(Key::backend, "docker")
                             .set(Key::pids_limit, std::uint64_t{10})
                             .settings();
  const std::vector<Difference> expected{
      {Key::view, "\"host\"", "\"minimal\"", Direction::narrower},
      {Key::memory, "\"1k\"", "\"unlimited\"", Direction::wider},
      {Key::pids_limit, "", "10", Direction::narrower},
      {Key::backend, "", "\"docker\"", Direction::other}};
  EXPECT_EQ(differences(before, after), expected);
}

TEST(DifferencesTest, AValueThatGoesAwayGivesWayToTheBuiltInOne) {
  const Settings before =
      user().set(Key::network, "full").set(Key::memory, std::uint64_t{1024}).settings();
  const std::vector<Difference> expected{{Key::network, "\"full\"", "", Direction::narrower},
                                         {Key::memory, "\"1k\"", "", Direction::wider}};
  EXPECT_EQ(differences(before, {}), expected);
}

TEST(DifferencesTest, SayingTheBuiltInValueIsNeitherWiderNorNarrower) {
  const std::vector<Difference> expected{{Key::network, "", "\"none\"", Direction::other}};
  EXPECT_EQ(differences({}, user().set(Key::network, "none").settings()), expected);
}

TEST(DifferencesTest, ListsAreWiderByWhatTheyCover) {
  const Settings before = user()
                              .paths(Key::writable_paths, {"/a"})
                              .paths(Key::readable_paths, {"/b"})
                              .paths(Key::hidden_paths, {"/c"})
                              .names(Key::network_allow, {"*.a.com"})
                              .names(Key::env_pass, {"A"})
                              .settings();
  const Settings after = user()
                             .paths(Key::writable_paths, {"/a/b"})
                             .paths(Key::readable_paths, {"/", "/b"})
                             .paths(Key::hidden_paths, {"/c", "/d"})
                             .names(Key::network_allow, {"x.a.com"})
                             .names(Key::env_pass, {"B"})
                             .settings();
  const std::vector<Difference> expected{
      {Key::writable_paths, "[\"/a\"]", "[\"/a/b\"]", Direction::narrower},
      {Key::readable_paths, "[\"/b\"]", "[\"/\", \"/b\"]", Direction::wider},
      {Key::hidden_paths, "[\"/c\"]", "[\"/c\", \"/d\"]", Direction::narrower},
      {Key::network_allow, "[\"*.a.com\"]", "[\"x.a.com\"]", Direction::narrower},
      {Key::env_pass, "[\"A\"]", "[\"B\"]", Direction::other}};
  EXPECT_EQ(differences(before, after), expected);
}

TEST(DifferencesTest, FewerRestrictionsAreWider) {
  const Settings before =
      user().paths(Key::hidden_paths, {"/c"}).names(Key::network_deny, {"a.com"}).settings();
  const Settings after =
      user().paths(Key::hidden_paths, {"/c/d"}).names(Key::network_deny, {"a.com:22"}).settings();
  const std::vector<Difference> expected{
      {Key::hidden_paths, "[\"/c\"]", "[\"/c/d\"]", Direction::wider},
      {Key::network_deny, "[\"a.com\"]", "[\"a.com:22\"]", Direction::wider}};
  EXPECT_EQ(differences(before, after), expected);
}

TEST(DifferencesTest, AnEmptyListIsNoMoreThanNone) {
  const std::vector<Difference> expected{{Key::writable_paths, "", "[]", Direction::other}};
  EXPECT_EQ(differences({}, user().paths(Key::writable_paths, {}).settings()), expected);
}

}  // namespace
}  // namespace coop::policy
