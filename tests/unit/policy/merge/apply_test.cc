// Settings become a policy, and a policy is held against the ceiling.
#include "policy/merge/apply.h"

#include <gmock/gmock.h>

#include "settings_literals.h"

namespace coop::policy {
namespace {

using namespace testing_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

const Surroundings kSurroundings{.home = "/home/ann"};

Effective merged(std::initializer_list<Layer> layers) {
  return merge(std::vector<Layer>(layers), Approval::none);
}

Policy applied(std::initializer_list<Layer> layers) {
  Result<Policy> policy = policy_from(merged(layers), kSurroundings);
  EXPECT_TRUE(policy.has_value()) << to_text(policy.error());
  return policy.value_or(Policy{});
}

Error refused(std::initializer_list<Layer> layers) {
  const Result<Policy> policy = policy_from(merged(layers), kSurroundings);
  EXPECT_FALSE(policy.has_value());
  return policy ? Error{} : policy.error();
}

TEST(ApplyTest, NothingIsTheDefaults) { EXPECT_EQ(applied({}), Policy{}); }

TEST(ApplyTest, EveryValueHasItsPlace) {
  Policy expected;
  expected.view = View::host;
  expected.home_view = HomeView::shown;
  expected.workspace_secrets = WorkspaceSecrets::hidden;
  expected.network = NetworkMode::none;
  expected.debugging = Debugging::denied;
  expected.limits.memory = 2 * kGiB;
  expected.limits.pids = std::nullopt;
  expected.limits.milli_cpus = 1500;
  expected.limits.tmp_size = 5;
  expected.limits.timeout = std::chrono::milliseconds(90);
  expected.limits.output_limit = 6;
  expected.pass_environment = {"A"};
  expected.set_environment = {{"B", "1"}};
  expected.unsafe_environment = {"C"};
  expected.needs = {{Mechanism::landlock, Need::required},
                    {Mechanism::proc, Need::best_effort},
                    {Mechanism::limits, Need::required}};
  EXPECT_EQ(applied({user()
                         .set(Key::mode, "disabled")  // the caller's to look at
                         .set(Key::view, "host")
                         .set(Key::show_home, true)
                         .set(Key::hide_secrets, true)
                         .set(Key::network, "none")
                         .set(Key::debug, false)
                         .set(Key::containers, false)
                         .set(Key::vm, false)
                         .set(Key::auto_commit, false)
                         .set(Key::backend, "kernel")
                         .set(Key::memory, 2 * kGiB)
                         .set(Key::pids_limit, Unlimited{})
                         .set(Key::cpus, std::uint64_t{1500})
                         .set(Key::tmp_size, std::uint64_t{5})
                         .set(Key::timeout, std::uint64_t{90})
                         .set(Key::output_limit, std::uint64_t{6})
                         .set(Key::landlock, "required")
                         .set(Key::proc, "best_effort")
                         .set(Key::limits, "required")
                         .names(Key::env_pass, {"A"})
                         .variable("B", "1")
                         .names(Key::env_unsafe, {"C"})}),
            expected);
}

TEST(ApplyTest, UnlimitedTakesALimitAway) {
  const Policy policy =
      applied({user().set(Key::memory, kGiB).set(Key::timeout, std::uint64_t{5}),
               config().set(Key::memory, Unlimited{}).set(Key::timeout, Unlimited{})});
  EXPECT_EQ(policy.limits, Limits{});
}

TEST(ApplyTest, RulesFollowTheScopesAndWithinOneTheRestrictionsComeLast) {
  const Policy policy =
      applied({organisation().paths(Key::protected_paths, {"/p"}).paths(Key::hidden_paths, {"/h"}),
               user()
                   .paths(Key::hidden_paths, {"/a/h"})
                   .paths(Key::overlay_paths, {"/a/o"})
                   .paths(Key::writable_paths, {"/a/w"})
                   .paths(Key::readable_paths, {"/a/*"}),
               project().paths(Key::hidden_paths, {"/b"})});
  const std::vector<PathRule> expected{
      {RuleKind::hide, "/h", Missing::skip, at(Scope::organisation, 2), "the organisation's policy",
       false, Precedence::final},
      {RuleKind::protect, "/p", Missing::skip, at(Scope::organisation, 1),
       "the organisation's policy", false, Precedence::final},
      {RuleKind::read_only, "/a/*", Missing::fail, at(Scope::user, 4), "your policy", true},
      {RuleKind::read_write, "/a/w", Missing::fail, at(Scope::user, 3), "your policy"},
      {RuleKind::overlay, "/a/o", Missing::fail, at(Scope::user, 2), "your policy"},
      {RuleKind::hide, "/a/h", Missing::skip, at(Scope::user, 1), "your policy"},
      {RuleKind::hide, "/b", Missing::skip, at(Scope::project, 1), "the project's policy"},
  };
  EXPECT_EQ(policy.rules, expected);
}

TEST(ApplyTest, AQuestionMarkDecidesWhatMayBeMissing) {
  Layer layer{.scope = Scope::user};
  Item item = path_item("/a", at(Scope::user, 1));
  item.if_missing = Missing::skip;
  layer.settings[Key::readable_paths] = {.items = {item}};
  EXPECT_EQ(applied({layer}).rules.front().if_missing, Missing::skip);
}

TEST(ApplyTest, WhatIsProtectedLaterIsReadOnly) {
  const Policy policy = applied({user().paths(Key::writable_paths, {"/a/b", "/c"}),
                                 project().paths(Key::protected_paths, {"/a"})});
  const Origin mine = at(Scope::user, 1);
  const std::vector<PathRule> expected{
      {RuleKind::read_only, "/a/b", Missing::fail, mine,
       "your policy, protected by .coop/policy.toml:1"},
      {RuleKind::read_write, "/c", Missing::fail, mine, "your policy"},
      {RuleKind::protect, "/a", Missing::skip, at(Scope::project, 1), "the project's policy"},
  };
  EXPECT_EQ(policy.rules, expected);
}

TEST(ApplyTest, AGrantBelowOnesOwnProtectionIsLeftForThePlannerToRefuse) {
  const Policy policy =
      applied({user().paths(Key::writable_paths, {"/a/b"}).paths(Key::protected_paths, {"/a"})});
  EXPECT_EQ(policy.rules.front().kind, RuleKind::read_write);
}

TEST(ApplyTest, CachesAreRulesOfTheirLine) {
  const Policy policy = applied({user()
                                     .names(Key::cache_volumes, {"pip"})
                                     .paths(Key::hidden_paths, {"/home/ann/.cache/pip"})});
  Origin cache = at(Scope::user, 1);
  cache.name = "pip";
  cache.part = Part::cache;
  const std::vector<PathRule> expected{
      {RuleKind::overlay, "/home/ann/.cache/pip", Missing::skip, cache,
       "downloaded and built wheels"},
      {RuleKind::hide, "/home/ann/.cache/pip", Missing::skip, at(Scope::user, 2), "your policy"}};
  EXPECT_EQ(policy.rules, expected);
}

TEST(ApplyTest, AnUnknownCacheIsAnErrorOfItsLine) {
  EXPECT_EQ(to_text(refused({user().names(Key::cache_volumes, {"x"})})),
            "/home/ann/.config/coop/policy.toml:1: cache_volumes: \"x\" is not a known cache");
}

TEST(ApplyTest, AVariableThatInjectsCodeIsAnErrorOfItsLine) {
  const Error error = refused({user().names(Key::env_pass, {"LANG", "BASH_ENV"})});
  EXPECT_EQ(to_text(error),
            "/home/ann/.config/coop/policy.toml:1: env.pass: BASH_ENV injects code: every shell "
            "script runs the file it names first");
  EXPECT_EQ(error.hint, "if you intend this, write env.unsafe = [\"BASH_ENV\"]");
  EXPECT_EQ(
      applied({user().names(Key::env_pass, {"BASH_ENV"}).names(Key::env_unsafe, {"BASH_ENV"})})
          .pass_environment,
      std::vector<std::string>{"BASH_ENV"});
}

TEST(ApplyTest, TheHostsNetworkMustBeConfirmed) {
  const Error error = refused({user().set(Key::network, "host")});
  EXPECT_EQ(to_text(error),
            "/home/ann/.config/coop/policy.toml:1: network = \"host\" shares the host's network "
            "with the sandbox, its localhost services included");
  EXPECT_EQ(error.hint, "add unsafe = [\"host_network\"] if you intend this");
  EXPECT_EQ(applied({user().set(Key::network, "host").names(Key::unsafe_grants, {"host_network"})})
                .network,
            NetworkMode::host);
}

TEST(ApplyTest, WhatTheKernelBackendCannotDoIsAnErrorOfItsLine) {
  const auto text = [](const Layer& layer) {
    const Error error = refused({layer});
    EXPECT_EQ(error.kind, Error::Kind::unsupported);
    return to_text(error);
  };
  EXPECT_EQ(text(config().set(Key::containers, true)),
            "coop.toml:1: containers = true: not in this version");
  EXPECT_EQ(text(config().set(Key::vm, true)), "coop.toml:1: vm = true: not in this version");
  EXPECT_EQ(text(config().set(Key::backend, "docker")),
            "coop.toml:1: backend = \"docker\": this version runs commands with the kernel backend "
            "only");
}

TEST(ApplyTest, WhatNeedsAnImageIsNoted) {
  EXPECT_THAT(
      applied({config().set(Key::base_image, "debian").set(Key::auto_commit, true)}).notes,
      ElementsAre("coop.toml:1: base_image is for backends with images; the kernel backend shows "
                  "this machine's own programs",
                  "coop.toml:2: auto_commit is for backends with images; nothing is kept of this "
                  "machine's programs"));
}

TEST(ApplyTest, RefusalsAreNotedAndNotWithoutEnd) {
  EXPECT_THAT(
      applied({organisation().set(Key::memory, kGiB), user().set(Key::memory, 2 * kGiB),
               project().set(Key::view, "host")})
          .notes,
      ElementsAre("/home/ann/.config/coop/policy.toml:1: memory = \"2g\" is beyond the "
                  "organisation's \"1g\" (/etc/coop/policy.toml:1)",
                  ".coop/policy.toml:1: view = \"host\" is wider than \"minimal\" (built-in) "
                  "and not approved (coop policy approve)"));
  const std::vector<std::string> notes =
      applied({project().names(Key::env_pass, std::vector<std::string>(1000, "A"))}).notes;
  EXPECT_EQ(notes.size(), 21u);
  EXPECT_EQ(notes.back(), "more was refused: see `coop policy show`");
}

TEST(ApplyTest, TheOrganisationsTreesAreTheBounds) {
  const auto bounds = [](const Layer& layer) { return applied({layer}).bounds; };
  const Origin file{.scope = Scope::organisation, .file = "/etc/coop/policy.toml"};
  using Paths = std::vector<Path>;
  EXPECT_EQ(bounds(user().paths(Key::readable_paths, {"/r"})), Bounds{});
  EXPECT_EQ(bounds(organisation().paths(Key::hidden_paths, {"/r"})), Bounds{});
  EXPECT_EQ(bounds(organisation().paths(Key::readable_paths, {})),
            (Bounds{.readable = Paths{}, .writable = Paths{}, .origin = file}));
  EXPECT_EQ(bounds(organisation().paths(Key::writable_paths, {"/w"})),
            (Bounds{.writable = Paths{"/w"}, .origin = file}));
  EXPECT_EQ(bounds(organisation()
                       .paths(Key::readable_paths, {"/r"})
                       .paths(Key::writable_paths, {"/w"})
                       .paths(Key::overlay_paths, {"/o"})
                       .names(Key::cache_volumes, {"pip"})
                       .names(Key::share_caches, {"npm"})),
            (Bounds{.readable =
                        Paths{"/w", "/home/ann/.npm/_cacache", "/r", "/o", "/home/ann/.cache/pip"},
                    .writable = Paths{"/w", "/home/ann/.npm/_cacache"},
                    .origin = file}));
  EXPECT_EQ(
      bounds(organisation().paths(Key::readable_paths, {"/r"}).paths(Key::overlay_paths, {"/o"})),
      (Bounds{.readable = Paths{"/r", "/o"}, .writable = Paths{"/r"}, .origin = file}));
}

TEST(ApplyTest, APatternCannotBeABound) {
  EXPECT_EQ(to_text(refused({organisation().paths(Key::readable_paths, {"/srv/*/data"})})),
            "/etc/coop/policy.toml:1: readable_paths: \"/srv/*/data\" has wildcards, which cannot "
            "bound what others ask for");
}

}  // namespace
}  // namespace coop::policy
