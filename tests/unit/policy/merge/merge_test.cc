// Which layers may narrow or widen, and what is refused.
#include "policy/merge/merge.h"

#include <gmock/gmock.h>

#include "report/text.h"
#include "settings_literals.h"

namespace coop::policy {
namespace {

using namespace testing_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

Effective merged(std::initializer_list<Layer> layers, Approval project = Approval::none) {
  return merge(std::vector<Layer>(layers), project);
}

std::vector<std::string> texts(const std::vector<Refusal>& refused) {
  std::vector<std::string> result;
  for (const Refusal& refusal : refused) result.push_back(to_text(refusal));
  return result;
}

std::vector<std::string> items(const Effective& effective, Key key) {
  std::vector<std::string> result;
  const auto found = effective.settings.find(key);
  if (found == effective.settings.end()) return result;
  for (const Item& item : found->second.items) result.push_back(item.text);
  return result;
}

Scalar value(const Effective& effective, Key key) {
  const auto found = effective.settings.find(key);
  return found == effective.settings.end() ? Scalar{} : found->second.value;
}

TEST(MergeTest, NothingSaysNothing) { EXPECT_EQ(merged({}), Effective{}); }

TEST(MergeTest, TheLastWordOnAValueWinsAndKnowsItsOrigin) {
  const Effective effective = merged(
      {user().set(Key::memory, kGiB).set(Key::view, "host"), config().set(Key::memory, 2 * kGiB)});
  const Settings expected{
      {Key::memory, {.value = 2 * kGiB, .origin = at(Scope::config, 1)}},
      {Key::view, {.value = "host", .origin = at(Scope::user, 2)}},
  };
  EXPECT_EQ(effective.settings, expected);
  EXPECT_THAT(effective.refused, IsEmpty());
  EXPECT_EQ(effective.ceiling, Settings{});
}

TEST(MergeTest, ListsAddUpAndEachItemKnowsItsOrigin) {
  const Effective effective = merged({user().names(Key::network_allow, {"a.com", "b.com"}),
                                      config().names(Key::network_allow, {"b.com", "c.com"})});
  const Setting expected{.items = {host_item(Key::network_allow, "a.com", at(Scope::user, 1)),
                                   host_item(Key::network_allow, "b.com", at(Scope::user, 1)),
                                   host_item(Key::network_allow, "c.com", at(Scope::config, 1))},
                         .origin = at(Scope::user, 1)};
  EXPECT_EQ(effective.settings, (Settings{{Key::network_allow, expected}}));
}

TEST(MergeTest, APathThatIsNamedAgainHasTheWeightOfTheLaterScope) {
  const Effective effective = merged({user().paths(Key::readable_paths, {"/srv/a"}),
                                      project().paths(Key::hidden_paths, {"/srv/a"}),
                                      config().paths(Key::readable_paths, {"/srv/a"})});
  EXPECT_EQ(effective.settings.at(Key::readable_paths).items,
            (std::vector{path_item("/srv/a", at(Scope::config, 1))}));
}

TEST(MergeTest, WhatTheOrganisationHidesStaysItsOwn) {
  const Effective effective = merged({organisation().paths(Key::hidden_paths, {"/srv/a"}),
                                      user().paths(Key::hidden_paths, {"/srv/a"})});
  EXPECT_EQ(effective.settings.at(Key::hidden_paths).items,
            (std::vector{path_item("/srv/a", at(Scope::organisation, 1))}));
}

TEST(MergeTest, AVariableHasOneValueTheLast) {
  const Effective effective =
      merged({user().variable("A", "1").variable("B", "1"), config().variable("A", "2"),
              LayerMaker(Scope::override).variable("A", "1")});
  const std::vector<Item> expected{{.text = "A", .value = "1", .origin = at(Scope::override, 1)},
                                   {.text = "B", .value = "1", .origin = at(Scope::user, 2)}};
  EXPECT_EQ(effective.settings.at(Key::env_set).items, expected);
}

TEST(MergeTest, LayersComeInTheOrderOfScopes) {
  const Effective effective =
      merged({LayerMaker(Scope::command_line).set(Key::view, "minimal"),
              LayerMaker(Scope::override).set(Key::view, "host"), user().set(Key::view, "host")});
  EXPECT_EQ(value(effective, Key::view), Scalar("minimal"));
}

TEST(MergeTest, SeveralLayersOfOneScopeFollowEachOther) {
  const Effective effective =
      merged({config().set(Key::memory, kGiB), config().set(Key::memory, 2 * kGiB)});
  EXPECT_EQ(value(effective, Key::memory), Scalar(2 * kGiB));
}

// --- The project's file ---

TEST(MergeTest, AProjectNarrowsFreely) {
  const Effective effective =
      merged({user().set(Key::network, "full").set(Key::memory, 4 * kGiB).set(Key::view, "host"),
              project()
                  .set(Key::network, "none")
                  .set(Key::memory, kGiB)
                  .set(Key::view, "minimal")
                  .set(Key::debug, false)
                  .set(Key::pids_limit, std::uint64_t{10})
                  .set(Key::landlock, "required")
                  .paths(Key::hidden_paths, {"/srv/a", "/srv/*/b"})
                  .paths(Key::protected_paths, {"/srv/c"})
                  .names(Key::network_deny, {"a.com"})});
  EXPECT_THAT(effective.refused, IsEmpty());
  EXPECT_EQ(value(effective, Key::network), Scalar("none"));
  EXPECT_EQ(value(effective, Key::memory), Scalar(kGiB));
  EXPECT_THAT(items(effective, Key::hidden_paths), ElementsAre("/srv/a", "/srv/*/b"));
}

TEST(MergeTest, AProjectWidensNothingWithoutApproval) {
  const Layer wide = project()
                         .set(Key::mode, "disabled")
                         .set(Key::view, "host")
                         .set(Key::network, "full")
                         .set(Key::pids_limit, Unlimited{})
                         .set(Key::backend, "docker")
                         .set(Key::base_image, "evil")
                         .paths(Key::writable_paths, {"/"})
                         .names(Key::network_allow, {"a.com"})
                         .names(Key::env_pass, {"TOKEN"})
                         .variable("PATH", "/evil")
                         .variable("LANG", "C")
                         .names(Key::env_unsafe, {"LD_PRELOAD"})
                         .names(Key::cache_volumes, {"cargo"})
                         .names(Key::unsafe_grants, {"host_network"});
  const Effective effective = merged({wide});
  EXPECT_EQ(effective.settings, Settings{});
  EXPECT_THAT(
      texts(effective.refused),
      ElementsAre(
          ".coop/policy.toml:1: mode = \"disabled\" is wider than \"enabled\" (built-in) and not "
          "approved",
          ".coop/policy.toml:2: view = \"host\" is wider than \"minimal\" (built-in) and not "
          "approved",
          ".coop/policy.toml:7: writable_paths = \"/\" is wider than [] (built-in) and not "
          "approved",
          ".coop/policy.toml:3: network = \"full\" is wider than \"none\" (built-in) and not "
          "approved",
          ".coop/policy.toml:8: network.allow = \"a.com\" is wider than [] (built-in) and not "
          "approved",
          ".coop/policy.toml:4: pids_limit = \"unlimited\" is wider than 4096 (built-in) and not "
          "approved",
          ".coop/policy.toml:9: env.pass = \"TOKEN\" is wider than [] (built-in) and not approved",
          ".coop/policy.toml:10: env.set = { PATH = \"/evil\" } is wider than {} (built-in) and "
          "not "
          "approved",
          ".coop/policy.toml:11: env.set = { LANG = \"C\" } is wider than {} (built-in) and not "
          "approved",
          ".coop/policy.toml:12: env.unsafe = \"LD_PRELOAD\" is wider than [] (built-in) and not "
          "approved",
          ".coop/policy.toml:5: backend = \"docker\" is wider than \"auto\" (built-in) and not "
          "approved",
          ".coop/policy.toml:6: base_image = \"evil\" is wider than \"\" (built-in) and not "
          "approved",
          ".coop/policy.toml:13: cache_volumes = \"cargo\" is wider than [] (built-in) and not "
          "approved",
          ".coop/policy.toml:14: unsafe = \"host_network\" is wider than [] (built-in) and not "
          "approved"));
  EXPECT_EQ(merged({wide}, Approval::given).settings, wide.settings);
}

TEST(MergeTest, AProjectSetsNoVariablesAndValuesOfOthersAreNotShown) {
  const Effective effective = merged({user().variable("EDITOR", "vi").variable("API_KEY", "hush"),
                                      project().variable("EDITOR", "evil").variable("CI", "1")});
  EXPECT_THAT(texts(effective.refused),
              ElementsAre(".coop/policy.toml:1: env.set = { EDITOR = \"evil\" } is wider than "
                          "{ EDITOR = \"vi\" } (/home/ann/.config/coop/policy.toml:1) and not "
                          "approved",
                          ".coop/policy.toml:2: env.set = { CI = \"1\" } is wider than { EDITOR = "
                          "\"…\", API_KEY = \"…\" } (/home/ann/.config/coop/policy.toml:1) and not "
                          "approved"));
  EXPECT_THAT(items(effective, Key::env_set), ElementsAre("EDITOR", "API_KEY"));
}

TEST(MergeTest, AProjectMayRepeatAGrantMoreNarrowly) {
  const Effective effective = merged(
      {user().paths(Key::writable_paths, {"/srv/a", "/srv/b"}),
       project().paths(Key::readable_paths, {"/srv/a"}).paths(Key::overlay_paths, {"/srv/b"})});
  EXPECT_THAT(effective.refused, IsEmpty());
  EXPECT_THAT(items(effective, Key::readable_paths), ElementsAre("/srv/a"));
  EXPECT_THAT(items(effective, Key::overlay_paths), ElementsAre("/srv/b"));
}

// A separate rule would show what coop hides in there, or follow a symlink out of it.
TEST(MergeTest, AProjectGetsNoRuleForThePartsOfAGrant) {
  const Effective effective =
      merged({user().paths(Key::readable_paths, {"/home/ann"}),
              project().paths(Key::readable_paths, {"/home/ann/.ssh", "/home/ann/*"})});
  EXPECT_THAT(items(effective, Key::readable_paths), ElementsAre("/home/ann"));
  EXPECT_THAT(texts(effective.refused),
              ElementsAre(".coop/policy.toml:1: readable_paths = \"/home/ann/.ssh\" is wider than "
                          "[\"/home/ann\"] (/home/ann/.config/coop/policy.toml:1) and not approved",
                          ".coop/policy.toml:1: readable_paths = \"/home/ann/*\" is wider than "
                          "[\"/home/ann\"] (/home/ann/.config/coop/policy.toml:1) and not "
                          "approved"));
}

TEST(MergeTest, AProjectDoesNotShowAgainWhatWasHidden) {
  const Effective effective = merged(
      {user().paths(Key::readable_paths, {"/srv/a", "/srv/b"}).paths(Key::hidden_paths, {"/srv/a"}),
       project().paths(Key::readable_paths, {"/srv/a", "/srv/b"})});
  EXPECT_THAT(
      texts(effective.refused),
      ElementsAre(".coop/policy.toml:1: readable_paths = \"/srv/a\" is wider than "
                  "hidden_paths = \"/srv/a\" (/home/ann/.config/coop/policy.toml:2) and not "
                  "approved"));
}

TEST(MergeTest, WhatAProjectProtectsItDoesNotTherebyHide) {
  const Effective effective = merged(
      {user().paths(Key::writable_paths, {"/srv/a"}).paths(Key::hidden_paths, {"/srv/a"}),
       project().paths(Key::writable_paths, {"/srv/a"}).paths(Key::protected_paths, {"/srv/a"})});
  EXPECT_EQ(effective.refused.size(), 1u);
  EXPECT_EQ(effective.settings.at(Key::writable_paths).items.front().origin, at(Scope::user, 1));
}

TEST(MergeTest, APatternThatGoesTooFarStillNarrows) {
  const Effective effective =
      merged({organisation().paths(Key::writable_paths, {"/srv/a"}).paths(Key::readable_paths, {}),
              user().paths(Key::readable_paths, {"/srv/*"})});
  EXPECT_EQ(effective.refused.size(), 1u);
  EXPECT_THAT(items(effective, Key::readable_paths), IsEmpty());
  EXPECT_THAT(items(effective, Key::protected_paths), ElementsAre("/srv/*"));
}

TEST(MergeTest, PatternsGiveAProjectNothingWithoutApproval) {
  const Layer mine = user().paths(Key::writable_paths, {"/srv/*"});
  const Layer repeated = project().paths(Key::readable_paths, {"/srv/*"});
  EXPECT_EQ(merged({mine, repeated}).refused.size(), 1u);
  EXPECT_THAT(merged({mine, repeated}, Approval::given).refused, IsEmpty());
}

TEST(MergeTest, AProjectDoesNotWriteAgainWhatWasNarrowed) {
  for (const Key narrower : {Key::protected_paths, Key::overlay_paths, Key::hidden_paths}) {
    const Effective effective =
        merged({user().paths(Key::writable_paths, {"/srv/a"}).paths(narrower, {"/srv/a"}),
                project().paths(Key::writable_paths, {"/srv/a"})});
    EXPECT_EQ(effective.refused.size(), 1u) << info(narrower).name;
  }
}

TEST(MergeTest, AListOfHostsUnderAnOpenNetworkGivesNothingNew) {
  const Effective effective =
      merged({user().set(Key::network, "full"),
              project()
                  .set(Key::network, "allowlist")
                  .names(Key::network_allow, {"a.com", "169.254.169.254"})});
  EXPECT_EQ(value(effective, Key::network), Scalar("allowlist"));
  EXPECT_THAT(items(effective, Key::network_allow), ElementsAre("a.com"));
  EXPECT_THAT(texts(effective.refused),
              ElementsAre(".coop/policy.toml:2: network.allow = \"169.254.169.254\" is wider than "
                          "[] (built-in) and not approved"));
}

// When the project's file was read, "full" was in force and the host was not new.
TEST(MergeTest, ALaterWordDoesNotMakeAProjectsHostsReachable) {
  const Effective effective =
      merged({user().set(Key::network, "full"), project().names(Key::network_allow, {"evil.com"}),
              config().set(Key::network, "allowlist").names(Key::network_allow, {"a.com"})});
  EXPECT_THAT(items(effective, Key::network_allow), ElementsAre("a.com"));
  EXPECT_THAT(texts(effective.refused),
              ElementsAre(".coop/policy.toml:1: network.allow = \"evil.com\" is wider than "
                          "[\"a.com\"] (coop.toml:2) and not approved"));
}

TEST(MergeTest, AfterAProjectThePersonsOwnWordsHold) {
  const Effective effective =
      merged({project().set(Key::network, "none"), config().set(Key::network, "full")});
  EXPECT_EQ(value(effective, Key::network), Scalar("full"));
  EXPECT_THAT(effective.refused, IsEmpty());
}

TEST(MergeTest, ALongListIsCutInARefusal) {
  const Effective effective = merged({user().names(Key::env_pass, {"A", "B", "C", "D", "E"}),
                                      project().names(Key::env_pass, {"F\x1b"})});
  EXPECT_THAT(texts(effective.refused),
              ElementsAre(testing::AllOf(
                  testing::HasSubstr("is wider than [\"A\", \"B\", \"C\", \"D\", …] (/home/ann"),
                  testing::Not(testing::HasSubstr("\x1b")))));
}

// --- The organisation's ceiling ---

TEST(MergeTest, TheOrganisationsValuesAreDefaultsAndACeiling) {
  const Layer ceiling = organisation()
                            .set(Key::memory, 2 * kGiB)
                            .set(Key::network, "allowlist")
                            .names(Key::network_allow, {"*.a.com"})
                            .names(Key::network_deny, {"bad.a.com"});
  const Effective effective =
      merged({ceiling, user()
                           .set(Key::memory, 4 * kGiB)
                           .set(Key::network, "host")
                           .names(Key::network_allow, {"x.a.com", "b.com", "bad.a.com:443"})},
             Approval::given);
  EXPECT_EQ(effective.ceiling, ceiling.settings);
  EXPECT_EQ(value(effective, Key::memory), Scalar(2 * kGiB));
  EXPECT_EQ(value(effective, Key::network), Scalar("allowlist"));
  EXPECT_THAT(items(effective, Key::network_allow), ElementsAre("*.a.com", "x.a.com"));
  const std::string user_file = "/home/ann/.config/coop/policy.toml";
  EXPECT_THAT(
      texts(effective.refused),
      ElementsAre(user_file + ":2: network = \"host\" is beyond the organisation's \"allowlist\" "
                              "(/etc/coop/policy.toml:2)",
                  user_file + ":3: network.allow = \"b.com\" is beyond the organisation's "
                              "[\"*.a.com\"] (/etc/coop/policy.toml:3)",
                  user_file + ":3: network.allow = \"bad.a.com:443\" is beyond the organisation's "
                              "network.deny = \"bad.a.com\" (/etc/coop/policy.toml:4)",
                  user_file + ":1: memory = \"4g\" is beyond the organisation's \"2g\" "
                              "(/etc/coop/policy.toml:1)"));
}

TEST(MergeTest, NoLayerExceedsTheCeiling) {
  for (const Scope scope :
       {Scope::user, Scope::project, Scope::config, Scope::override, Scope::command_line}) {
    const Effective effective = merged(
        {organisation().set(Key::memory, kGiB), LayerMaker(scope).set(Key::memory, Unlimited{})},
        Approval::given);
    EXPECT_EQ(value(effective, Key::memory), Scalar(kGiB)) << report::to_text(scope);
    ASSERT_EQ(effective.refused.size(), 1u) << report::to_text(scope);
    EXPECT_EQ(effective.refused.front().why, Refusal::Why::beyond_organisation);
  }
}

TEST(MergeTest, ACeilingMeansThatThereIsASandbox) {
  const Layer off = user().set(Key::mode, "disabled");
  EXPECT_EQ(value(merged({off}), Key::mode), Scalar("disabled"));  // control
  for (const Layer& ceiling : {organisation().set(Key::memory, kGiB),
                               organisation().paths(Key::hidden_paths, {"/srv/a"})}) {
    const Effective effective = merged({ceiling, off});
    EXPECT_FALSE(effective.settings.contains(Key::mode));
    EXPECT_EQ(effective.refused.size(), 1u);
  }
  const Layer allows = organisation().set(Key::memory, kGiB).set(Key::mode, "disabled");
  EXPECT_EQ(value(merged({allows, off}), Key::mode), Scalar("disabled"));
}

TEST(MergeTest, TheOrganisationsOwnContradictionsGoToTheRestriction) {
  const Effective effective = merged({organisation()
                                          .paths(Key::hidden_paths, {"/srv/a"})
                                          .paths(Key::readable_paths, {"/srv/a/b", "/srv/c"})});
  EXPECT_THAT(items(effective, Key::readable_paths), ElementsAre("/srv/c"));
  EXPECT_EQ(effective.refused.size(), 1u);
}

// A file of a megabyte must not take minutes.
TEST(MergeTest, LongListsTakeNoLongerThanTheyMust) {
  std::vector<std::string> paths;
  for (int index = 0; index < 50000; ++index) paths.push_back("/p/" + std::to_string(index));
  const Layer user_layer =
      user().paths(Key::readable_paths, {"/srv/a"}).paths(Key::hidden_paths, {"/srv/a"});
  Layer hostile = project()
                      .paths(Key::hidden_paths, paths)
                      .paths(Key::readable_paths, std::vector<std::string>(50000, "/srv/a"));
  const Effective effective = merged({user_layer, hostile});
  EXPECT_EQ(effective.refused.size(), 50000u);
  EXPECT_EQ(items(effective, Key::hidden_paths).size(), 50001u);
}

}  // namespace
}  // namespace coop::policy
