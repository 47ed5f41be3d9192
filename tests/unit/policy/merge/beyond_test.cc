// What a ceiling bounds, and which value is wider.
#include <gmock/gmock.h>

#include "policy/merge/merge.h"
#include "settings_literals.h"

namespace coop::policy {
namespace {

using namespace testing_literals;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<Refusal>& refused) {
  std::vector<std::string> result;
  for (const Refusal& refusal : refused) result.push_back(to_text(refusal));
  return result;
}

TEST(BeyondTest, AnAbsentKeyBoundsNothing) {
  const Settings asked = user()
                             .set(Key::memory, Unlimited{})
                             .set(Key::network, "host")
                             .set(Key::view, "host")
                             .paths(Key::writable_paths, {"/srv"})
                             .names(Key::network_allow, {"10.0.0.1"})
                             .names(Key::env_pass, {"A"})
                             .variable("PATH", "/x")
                             .names(Key::cache_volumes, {"cargo"})
                             .names(Key::share_caches, {"cargo"})
                             .set(Key::show_home, true)
                             .settings();
  EXPECT_THAT(beyond({}, asked), IsEmpty());
}

TEST(BeyondTest, TreesBoundWhatMayBeGranted) {
  const Settings ceiling = organisation()
                               .paths(Key::readable_paths, {"/r"})
                               .paths(Key::writable_paths, {"/w"})
                               .paths(Key::overlay_paths, {"/o"})
                               .settings();
  const auto refused = [&](Key key, const char* path) {
    return !beyond(ceiling, user().paths(key, {path}).settings()).empty();
  };
  EXPECT_FALSE(refused(Key::readable_paths, "/r/x"));
  EXPECT_FALSE(refused(Key::readable_paths, "/w"));
  EXPECT_TRUE(refused(Key::readable_paths, "/o"));
  EXPECT_TRUE(refused(Key::readable_paths, "/"));
  EXPECT_FALSE(refused(Key::readable_paths, "/r/*"));
  EXPECT_FALSE(refused(Key::writable_paths, "/w/x"));
  EXPECT_TRUE(refused(Key::writable_paths, "/r"));
  EXPECT_FALSE(refused(Key::overlay_paths, "/r"));
  EXPECT_FALSE(refused(Key::overlay_paths, "/w"));
  EXPECT_FALSE(refused(Key::overlay_paths, "/o/x"));
  EXPECT_TRUE(refused(Key::overlay_paths, "/x"));
  EXPECT_FALSE(refused(Key::hidden_paths, "/x"));
  EXPECT_FALSE(refused(Key::protected_paths, "/x"));
}

TEST(BeyondTest, AGroupBoundsItsHostsAndItself) {
  const Settings ceiling = organisation().names(Key::network_allow, {"@github"}).settings();
  const auto refused = [&](const char* host) {
    return texts(beyond(ceiling, user().names(Key::network_allow, {host}).settings()));
  };
  for (const char* host : {"@github", "@github:22", "github.com", "github.com:22", "github.com:443",
                           "raw.githubusercontent.com", "*.githubusercontent.com"})
    EXPECT_THAT(refused(host), IsEmpty()) << host;
  for (const char* host : {"github.com:8443", "gist.github.com", "*.github.com", "10.0.0.1"})
    EXPECT_EQ(refused(host).size(), 1U) << host;
  EXPECT_THAT(
      refused("@rust"),
      ElementsAre("/home/ann/.config/coop/policy.toml:1 @rust: network.allow = \"@rust\" is "
                  "beyond the organisation's [\"@github\"] (/etc/coop/policy.toml:1)"));
}

// One line for a group, not one for each of its hosts; and of a part of it, the hosts.
TEST(BeyondTest, TheHostsOfAGroupAreRefusedTogether) {
  const auto refused = [](const Settings& ceiling) {
    return texts(beyond(ceiling, user().names(Key::network_allow, {"@github"}).settings()));
  };
  const std::string asked = "/home/ann/.config/coop/policy.toml:1 @github: network.allow = ";
  const std::string limit = " is beyond the organisation's ";
  EXPECT_THAT(refused(organisation().names(Key::network_allow, {"@npm"}).settings()),
              ElementsAre(asked + "\"@github\"" + limit + "[\"@npm\"] (/etc/coop/policy.toml:1)"));
  EXPECT_THAT(refused(organisation().names(Key::network_allow, {"github.com"}).settings()),
              ElementsAre(asked +
                          "\"github.com:22\", \"api.github.com\", \"codeload.github.com\", "
                          "\"uploads.github.com\", \"*.githubusercontent.com\"" +
                          limit + "[\"github.com\"] (/etc/coop/policy.toml:1)"));
  EXPECT_THAT(
      refused(organisation().names(Key::network_deny, {"@bitbucket", "github.com"}).settings()),
      ElementsAre(asked + "\"github.com\", \"github.com:22\"" + limit +
                  "network.deny = \"github.com\" (/etc/coop/policy.toml:1)"));
}

TEST(BeyondTest, WhereOnlyReadingIsBoundedWritingIsToo) {
  const Settings ceiling = organisation().paths(Key::readable_paths, {"/r"}).settings();
  EXPECT_THAT(beyond(ceiling, user().paths(Key::writable_paths, {"/r/x"}).settings()), IsEmpty());
  EXPECT_THAT(
      texts(beyond(ceiling, user().paths(Key::writable_paths, {"/x"}).settings())),
      ElementsAre("/home/ann/.config/coop/policy.toml:1: writable_paths = \"/x\" is beyond "
                  "the organisation's readable_paths = [\"/r\"] (/etc/coop/policy.toml:1)"));
}

TEST(BeyondTest, ThePartOfATreeThatIsReadOnlyStaysSo) {
  const Settings ceiling = organisation()
                               .paths(Key::writable_paths, {"/w"})
                               .paths(Key::readable_paths, {"/w/ro"})
                               .settings();
  EXPECT_EQ(
      beyond(ceiling, user().paths(Key::writable_paths, {"/w/ro/x", "/w/y"}).settings()).size(),
      1u);
}

TEST(BeyondTest, WhatIsHiddenOrProtectedIsNotGrantedAgain) {
  const Settings ceiling = organisation()
                               .paths(Key::hidden_paths, {"/srv/secret", "/etc/*.key"})
                               .paths(Key::protected_paths, {"/srv/data"})
                               .settings();
  const auto refused = [&](Key key, const char* path) {
    return !beyond(ceiling, user().paths(key, {path}).settings()).empty();
  };
  for (const char* path : {"/srv/secret", "/srv/secret/x", "/srv/secret/*", "/etc/a.key"}) {
    EXPECT_TRUE(refused(Key::readable_paths, path)) << path;
    EXPECT_TRUE(refused(Key::overlay_paths, path)) << path;
    EXPECT_TRUE(refused(Key::writable_paths, path)) << path;
  }
  EXPECT_TRUE(refused(Key::writable_paths, "/srv/data/x"));
  EXPECT_FALSE(refused(Key::readable_paths, "/srv/data/x"));
  EXPECT_FALSE(refused(Key::writable_paths, "/srv")) << "the deeper rule still holds in it";
  EXPECT_FALSE(refused(Key::readable_paths, "/srv/*")) << "the planner sees what it matches";
}

TEST(BeyondTest, ABoundOnPathsIsABoundOnTheViewAndOnCaches) {
  const Settings ceiling = organisation().paths(Key::readable_paths, {"/r"}).settings();
  EXPECT_EQ(beyond(ceiling, user().set(Key::view, "host").settings()).size(), 1u);
  EXPECT_EQ(beyond(ceiling, user().names(Key::cache_volumes, {"cargo"}).settings()).size(), 1u);
  EXPECT_EQ(beyond(ceiling, user().names(Key::share_caches, {"cargo"}).settings()).size(), 1u);
  EXPECT_EQ(beyond(ceiling, user().set(Key::show_home, true).settings()).size(), 1u);
  EXPECT_THAT(beyond(ceiling, user().set(Key::show_home, false).settings()), IsEmpty());
  // A private copy writes nothing on the host.
  const Settings writing = organisation().paths(Key::writable_paths, {"/w"}).settings();
  EXPECT_THAT(beyond(writing, user().names(Key::cache_volumes, {"cargo"}).settings()), IsEmpty());
  EXPECT_EQ(beyond(writing, user().names(Key::share_caches, {"cargo"}).settings()).size(), 1u);
  const Settings copies = organisation().names(Key::cache_volumes, {"cargo"}).settings();
  EXPECT_EQ(beyond(copies, user().names(Key::share_caches, {"cargo"}).settings()).size(), 1u);
  const Settings open = organisation()
                            .paths(Key::readable_paths, {"/r"})
                            .set(Key::view, "host")
                            .names(Key::cache_volumes, {"cargo"})
                            .settings();
  EXPECT_THAT(beyond(open, user().set(Key::view, "host").settings()), IsEmpty());
  EXPECT_THAT(beyond(open, user().names(Key::cache_volumes, {"cargo"}).settings()), IsEmpty());
}

TEST(BeyondTest, HostsAreBoundByModeAndList) {
  const auto refused = [](const Settings& ceiling, const char* host) {
    return !beyond(ceiling, user().names(Key::network_allow, {host}).settings()).empty();
  };
  const Settings none = organisation().set(Key::network, "none").settings();
  const Settings empty = organisation().set(Key::network, "allowlist").settings();
  const Settings full =
      organisation().set(Key::network, "full").names(Key::network_allow, {"10.0.0.0/8"}).settings();
  const Settings host = organisation().set(Key::network, "host").settings();
  EXPECT_TRUE(refused(none, "a.com"));
  EXPECT_TRUE(refused(empty, "a.com"));
  EXPECT_FALSE(refused(full, "a.com"));
  EXPECT_FALSE(refused(full, "10.1.1.1"));
  EXPECT_TRUE(refused(full, "192.168.1.1"));
  EXPECT_FALSE(refused(host, "192.168.1.1"));
  const Settings list = organisation().names(Key::network_allow, {"a.com"}).settings();
  EXPECT_FALSE(refused(list, "a.com"));
  EXPECT_TRUE(refused(list, "b.com"));
  EXPECT_EQ(beyond(list, user().set(Key::network, "full").settings()).size(), 1u);
  EXPECT_THAT(beyond(list, user().set(Key::network, "allowlist").settings()), IsEmpty());
}

TEST(WideningsTest, AnEmptyListGivesNothing) {
  EXPECT_THAT(widenings({}, user().paths(Key::writable_paths, {}).settings()), IsEmpty());
}

TEST(WideningsTest, SettingsAreNotWiderThanThemselves) {
  const Settings settings = user()
                                .set(Key::network, "allowlist")
                                .paths(Key::readable_paths, {"/a", "/b", "/c/*"})
                                .paths(Key::writable_paths, {"/b", "/d"})
                                .paths(Key::overlay_paths, {"/d"})
                                .paths(Key::hidden_paths, {"/a", "/c/x", "/"})
                                .paths(Key::protected_paths, {"/b"})
                                .names(Key::network_allow, {"a.com", "10.0.0.1"})
                                .variable("PATH", "/x")
                                .settings();
  EXPECT_THAT(texts(widenings(settings, settings)), IsEmpty());
}

}  // namespace
}  // namespace coop::policy
