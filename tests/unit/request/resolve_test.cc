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
