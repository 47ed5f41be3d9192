// Layers become a policy: what flags and programs may ask for under the organisation's ceiling.
#include "request/resolve.h"

#include <gmock/gmock.h>

#include "settings_literals.h"

namespace coop::request {
namespace {

using policy::Key;
using policy::testing_literals::organisation;
using testing::HasSubstr;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

policy::Setting flag_value(const char* flag, policy::Scalar value) {
  return {.value = std::move(value), .origin = Origin::of_flag(flag)};
}

PathRule flag_rule(RuleKind kind, const char* flag, const char* path) {
  return {.kind = kind, .path = path, .origin = Origin::of_flag(flag)};
}

Result<Resolved> resolved(const Wanted& wanted, const std::vector<policy::Layer>& files) {
  return resolve_layers(files, policy::Approval::none, wanted,
                        HostFacts{.home = "/home/ann", .working_directory = "/home/ann/work"},
                        "/home/ann/work");
}

std::string refused(const Wanted& wanted, const policy::Layer& ceiling) {
  const Result<Resolved> result = resolved(wanted, {ceiling});
  return result ? "accepted" : to_text(result.error()) + " [" + result.error().hint + "]";
}

TEST(ResolveTest, AFlagBeyondTheCeilingIsAnErrorThatNamesBoth) {
  const policy::Layer ceiling =
      organisation().set(Key::memory, kGiB).paths(Key::writable_paths, {"/srv"});
  Wanted wanted;
  EXPECT_EQ(refused(wanted, ceiling), "accepted");
  wanted.flags[Key::memory] = flag_value("--memory", 2 * kGiB);
  EXPECT_EQ(refused(wanted, ceiling),
            "--memory: \"2g\" is beyond the organisation's \"1g\" [the limit is set in "
            "/etc/coop/policy.toml:1, and only that file can widen it]");
  wanted.flags.clear();
  wanted.unkeyed.rules = {flag_rule(RuleKind::read_write, "--rw", "/opt")};
  EXPECT_THAT(refused(wanted, ceiling),
              HasSubstr("--rw: \"/opt\" is beyond the organisation's [\"/srv\"]"));
  wanted.unkeyed.rules = {flag_rule(RuleKind::read_write, "--rw", "../other")};
  EXPECT_EQ(refused(wanted, ceiling), "accepted");  // the planner knows where that leads
  wanted.unkeyed.rules = {flag_rule(RuleKind::read_write, "--rw", "~/other")};
  EXPECT_THAT(refused(wanted, ceiling), HasSubstr("beyond"));
  wanted.unkeyed.rules = {flag_rule(RuleKind::read_write, "--rw", "build")};
  EXPECT_EQ(refused(wanted, ceiling), "accepted");  // in the workspace
}

// A gateway's defaults are the lowest layer: a project's file may not exceed them unless it is approved.
TEST(ResolveTest, AnUnapprovedProjectDoesNotLiftAGatewaysDefaults) {
  policy::Layer project{Scope::project, {}};
  project.settings[Key::memory] = {.value = 8 * kGiB};
  project.settings[Key::pids_limit] = {.value = std::uint64_t{100}};
  const auto memory_with = [](std::vector<policy::Layer> layers, policy::Approval approval) {
    layers.push_back(policy::gateway_defaults());
    const policy::Effective effective = policy::merge(layers, approval);
    return std::pair(effective.settings.at(Key::memory).value, effective.refused.size());
  };
  using Pair = std::pair<policy::Scalar, std::size_t>;
  EXPECT_EQ(memory_with({project}, policy::Approval::none), Pair(2 * kGiB, 1));
  EXPECT_EQ(memory_with({project}, policy::Approval::given), Pair(8 * kGiB, 0));
  policy::Layer user{Scope::user, {}};
  user.settings[Key::memory] = {.value = 8 * kGiB};
  EXPECT_EQ(memory_with({user}, policy::Approval::none), Pair(8 * kGiB, 0));
  EXPECT_EQ(memory_with({user, project}, policy::Approval::none), Pair(8 * kGiB, 0));
  // The organisation's value replaces the default, and nothing is refused for it.
  EXPECT_EQ(memory_with({organisation().set(Key::memory, kGiB)}, policy::Approval::none),
            Pair(kGiB, 0));
  EXPECT_EQ(memory_with({organisation().set(Key::memory, 4 * kGiB)}, policy::Approval::none),
            Pair(4 * kGiB, 0));
}

TEST(ResolveTest, AnOwnerBypassesNoCeilingThatDoesNotSaySo) {
  const auto bypasses = [](const std::vector<policy::Layer>& layers) {
    return policy::owner_may_bypass(policy::merge(layers, policy::Approval::none));
  };
  policy::Layer asking{Scope::config, {}};
  asking.settings[Key::owner_bypass] = {.value = true};
  policy::Layer narrow{Scope::user, {}};
  narrow.settings[Key::owner_bypass] = {.value = false};
  EXPECT_TRUE(bypasses({}));
  EXPECT_TRUE(bypasses({organisation()}));
  EXPECT_FALSE(bypasses({narrow}));
  EXPECT_FALSE(bypasses({organisation().set(Key::memory, kGiB)}));
  EXPECT_FALSE(bypasses({organisation().set(Key::memory, kGiB), asking}));
  EXPECT_FALSE(bypasses({organisation().set(Key::owner_bypass, false), asking}));
  EXPECT_TRUE(bypasses({organisation().set(Key::memory, kGiB).set(Key::owner_bypass, true)}));
  EXPECT_TRUE(bypasses({organisation().set(Key::mode, "disabled")}));
}

TEST(ResolveTest, AModeThatAListMeansIsBlamedOnTheList) {
  Wanted wanted;
  wanted.flags[Key::network_allow].items = {{.text = "a.com",
                                             .destination = parse_destination("a.com").value(),
                                             .origin = Origin::of_flag("--allow-net")}};
  EXPECT_THAT(refused(wanted, organisation().set(Key::network, "none")),
              HasSubstr("--allow-net: \"allowlist\" is beyond the organisation's \"none\""));
  const Result<Resolved> free = resolved(wanted, {});
  ASSERT_TRUE(free.has_value());
  EXPECT_EQ(free->policy.network, NetworkMode::allowlist);
}

TEST(ResolveTest, WhatAProgramAsksForBeyondTheCeilingIsLeftOutAndNoted) {
  Wanted wanted;
  wanted.settings[Key::memory] = {.value = 2 * kGiB, .origin = {.scope = Scope::program}};
  const Result<Resolved> result = resolved(wanted, {organisation().set(Key::memory, kGiB)});
  ASSERT_TRUE(result.has_value()) << to_text(result.error());
  EXPECT_EQ(result->policy.limits.memory, kGiB);
  ASSERT_EQ(result->policy.notes.size(), 1u);
  EXPECT_THAT(result->policy.notes.front(), HasSubstr("memory"));
  EXPECT_EQ(resolved(wanted, {})->policy.limits.memory, 2 * kGiB);  // control
}

TEST(ResolveTest, FlagsKeepTheirOrderAndComeAfterTheFiles) {
  Wanted wanted;
  wanted.unkeyed.rules = {flag_rule(RuleKind::hide, "--hide", "/a"),
                          flag_rule(RuleKind::read_only, "--ro", "/a"),
                          flag_rule(RuleKind::tmpfs, "--tmpfs", "/t")};
  const Result<Resolved> result =
      resolved(wanted, {policy::testing_literals::user().paths(Key::hidden_paths, {"/a"})});
  ASSERT_TRUE(result.has_value()) << to_text(result.error());
  ASSERT_EQ(result->policy.rules.size(), 4u);
  EXPECT_EQ(result->policy.rules.front().origin.scope, Scope::user);
  EXPECT_TRUE(std::equal(wanted.unkeyed.rules.begin(), wanted.unkeyed.rules.end(),
                         result->policy.rules.begin() + 1));
}

}  // namespace
}  // namespace coop::request
