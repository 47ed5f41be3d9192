// A policy that a program filled in, held against the organisation's ceiling.
#include "policy/merge/bounded.h"

#include <gmock/gmock.h>

#include "policy/merge/apply.h"
#include "settings_literals.h"
#include "support/destination_rule.h"

namespace coop::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_literals::at;
using testing_literals::organisation;
using testing_literals::user;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
const Surroundings kSurroundings{.home = "/home/ann"};

Policy must_fit(const Policy& policy, const Layer& ceiling) {
  Result<Policy> result = bounded(policy, ceiling.settings, kSurroundings);
  EXPECT_TRUE(result.has_value()) << to_text(result.error());
  return result.value_or(Policy{});
}

std::string refused(const Policy& policy, const Layer& ceiling) {
  const Result<Policy> result = bounded(policy, ceiling.settings, kSurroundings);
  return result ? "accepted" : to_text(result.error());
}

PathRule rule(RuleKind kind, const char* path) { return {.kind = kind, .path = path}; }

TEST(BoundedTest, ADefaultPolicyAsksForNothing) {
  EXPECT_EQ(layer_of(Policy{}), Settings{});
  Policy policy;
  policy.limits.memory = kGiB;
  policy.rules = {rule(RuleKind::read_write, "/w"), rule(RuleKind::tmpfs, "/t")};
  const Settings expected{
      {Key::memory, {.value = kGiB}},
      {Key::writable_paths, {.items = {{.text = "/w", .path = "/w", .if_missing = Missing::fail}}}},
      {Key::tmpfs_paths, {.items = {{.text = "/t", .path = "/t", .if_missing = Missing::fail}}}}};
  EXPECT_EQ(layer_of(policy), expected);
}

TEST(BoundedTest, WithoutACeilingAPolicyStaysAsItIs) {
  Policy policy;
  policy.rules = {rule(RuleKind::read_write, "/")};
  policy.rules.front().precedence = Precedence::final;
  EXPECT_EQ(must_fit(policy, organisation()), policy);
}

TEST(BoundedTest, WhatAProgramLeavesOpenIsTheCeilings) {
  const Policy policy = must_fit(Policy{}, organisation()
                                               .set(Key::memory, kGiB)
                                               .set(Key::pids_limit, std::uint64_t{100})
                                               .set(Key::timeout, std::uint64_t{5000})
                                               .set(Key::tmp_size, std::uint64_t{4096})
                                               .set(Key::debug, false)
                                               .set(Key::landlock, "required")
                                               .names(Key::network_deny, {"10.0.0.0/8"})
                                               .paths(Key::readable_paths, {"/srv"})
                                               .paths(Key::hidden_paths, {"/srv/keys"}));
  EXPECT_EQ(policy.limits.memory, kGiB);
  EXPECT_EQ(policy.limits.pids, 100u);
  EXPECT_EQ(policy.limits.timeout, std::chrono::seconds(5));
  EXPECT_EQ(policy.limits.tmp_size, 4096u);
  EXPECT_EQ(policy.debugging, Debugging::denied);
  EXPECT_EQ(policy.need(Mechanism::landlock), Need::required);
  EXPECT_THAT(policy.deny_net, ElementsAre(DestinationRule{tests::destination("10.0.0.0/8"),
                                                           at(Scope::organisation, 7)}));
  EXPECT_EQ(policy.bounds.readable, std::vector<Path>{"/srv"});
  EXPECT_THAT(policy.rules, ElementsAre(testing::Field(&PathRule::path, "/srv/keys")));
  EXPECT_EQ(policy.rules.front().precedence, Precedence::final);
}

TEST(BoundedTest, TheErrorNamesTheKeyTheLimitAndWhoCanWidenIt) {
  const Layer ceiling = organisation().set(Key::memory, kGiB).paths(Key::writable_paths, {"/srv"});
  Policy policy;
  policy.limits.memory = 2 * kGiB;
  const Result<Policy> memory = bounded(policy, ceiling.settings, kSurroundings);
  ASSERT_FALSE(memory.has_value());
  EXPECT_THAT(to_text(memory.error()),
              HasSubstr("memory = \"2g\" is beyond the organisation's \"1g\""));
  EXPECT_EQ(memory.error().hint,
            "the limit is set in /etc/coop/policy.toml:1, and only that file can widen it");
  policy.limits.memory.reset();
  policy.rules = {rule(RuleKind::read_write, "/opt")};
  EXPECT_THAT(refused(policy, ceiling),
              HasSubstr("writable_paths = \"/opt\" is beyond the organisation's [\"/srv\"]"));
  policy.rules = {rule(RuleKind::read_write, "/srv/a")};
  EXPECT_EQ(refused(policy, ceiling), "accepted");
}

TEST(BoundedTest, WhatIsWrittenIntoAnOriginOpensNothing) {
  const Layer ceiling = organisation().paths(Key::writable_paths, {"/srv"});
  for (const Scope scope : {Scope::built_in, Scope::organisation, Scope::command_line}) {
    Policy policy;
    policy.rules = {rule(RuleKind::read_write, "/opt")};
    policy.rules.front().origin = {.scope = scope, .file = "/etc/coop/policy.toml"};
    policy.rules.front().precedence = Precedence::final;
    EXPECT_THAT(refused(policy, ceiling), HasSubstr("beyond"));
    policy.rules.front().path = "/srv/link";  // only the planner knows where that leads
    const Policy within = must_fit(policy, ceiling);
    EXPECT_EQ(within.rules.front().precedence, Precedence::by_order);
    EXPECT_NE(within.rules.front().origin.scope, Scope::built_in);
  }
  Policy unbounded;
  unbounded.bounds.writable = {"/"};
  EXPECT_EQ(must_fit(unbounded, ceiling).bounds.writable, std::vector<Path>{"/srv"});
}

TEST(BoundedTest, InTheWorkspaceRulesShowNothingNew) {
  const Layer ceiling = organisation().paths(Key::writable_paths, {"/srv"});
  Policy policy;
  policy.workspace = "/home/ann/work";
  policy.rules = {rule(RuleKind::read_write, "/home/ann/work/build")};
  EXPECT_EQ(refused(policy, ceiling), "accepted");
  policy.workspace_access = Access::read_only;
  EXPECT_NE(refused(policy, ceiling), "accepted");
}

TEST(BoundedTest, TheNetworkIsBounded) {
  const Layer ceiling = organisation()
                            .set(Key::network, "allowlist")
                            .names(Key::network_allow, {"*.example.com"})
                            .names(Key::unsafe_grants, {"host_network"});
  Policy policy;
  policy.network = NetworkMode::allowlist;
  policy.allow_net = {{tests::destination("a.example.com")}};
  EXPECT_EQ(refused(policy, ceiling), "accepted");
  policy.allow_net.push_back({tests::destination("other.com")});
  EXPECT_THAT(refused(policy, ceiling), HasSubstr("network.allow = \"other.com\" is beyond"));
  policy.allow_net.clear();
  policy.host_ports = {{5432}};
  EXPECT_THAT(refused(policy, ceiling), HasSubstr("network.host_ports = 5432 is beyond"));
  policy.host_ports.clear();
  policy.allow_udp = {{tests::destination("10.0.0.1:53")}};
  EXPECT_THAT(refused(policy, ceiling), HasSubstr("network.udp = \"10.0.0.1:53\" is beyond"));
  policy.allow_udp.clear();
  policy.network = NetworkMode::full;
  EXPECT_THAT(refused(policy, ceiling), HasSubstr("network = \"full\" is beyond"));
  policy.network = NetworkMode::none;
  policy.sockets = {{"/run/docker.sock"}};
  EXPECT_THAT(refused(policy, ceiling), HasSubstr("unsafe = \"control_sockets\" is beyond"));
  Policy host;
  host.network = NetworkMode::host;
  EXPECT_THAT(refused(host, organisation().names(Key::network_deny, {"10.0.0.0/8"})),
              HasSubstr("cannot be denied with the host's network"));
}

// Whatever merging lets through, the ceiling lets through again, and changes nothing in it.
TEST(BoundedTest, WhatTheFilesGiveIsWithinAlready) {
  const std::vector<Layer> ceilings{
      organisation(),
      organisation().paths(Key::writable_paths, {"/srv"}).names(Key::cache_volumes, {"pip"}),
      organisation().paths(Key::readable_paths, {"/srv"}).names(Key::cache_volumes, {"pip"}),
      organisation()
          .paths(Key::readable_paths, {"/srv"})
          .names(Key::cache_volumes, {"npm"})
          .names(Key::share_caches, {"npm"}),
      organisation().set(Key::hide_secrets, true).set(Key::show_home, false),
      organisation()
          .paths(Key::readable_paths, {"/srv", "/srv/h/x"})
          .paths(Key::overlay_paths, {"/o"})
          .paths(Key::hidden_paths, {"/srv/h"}),
      organisation().set(Key::network, "host").names(Key::unsafe_grants, {"host_network"}),
      organisation().set(Key::debug, false).set(Key::landlock, "required").variable("A", "1"),
      organisation().set(Key::network, "none"),
      organisation().set(Key::network, "allowlist").names(Key::network_allow, {"*.a.com"}),
      organisation().set(Key::network, "full").names(Key::network_deny, {"10.0.0.0/8"}),
      organisation()
          .names(Key::network_udp, {"10.0.0.0/8:53"})
          .names(Key::network_publish, {"0.0.0.0:80:80"})
          .names(Key::network_host_ports, {})
          .paths(Key::sockets, {"/run/docker.sock"})
          .names(Key::unsafe_grants, {"control_sockets"})};
  const Layer files = user()
                          .set(Key::memory, kGiB)
                          .paths(Key::writable_paths, {"/srv/a", "/x"})
                          .paths(Key::overlay_paths, {"/o/b", "/x"})
                          .names(Key::cache_volumes, {"pip", "cargo"})
                          .names(Key::share_caches, {"npm"})
                          .set(Key::show_home, true)
                          .set(Key::hide_secrets, false)
                          .variable("A", "2");
  const Layer network = user()
                            .set(Key::network, "allowlist")
                            .names(Key::network_allow, {"x.a.com", "b.com"})
                            .names(Key::network_udp, {"10.0.0.1:53", "8.8.8.8:53"})
                            .names(Key::network_publish, {"0.0.0.0:80:80", "127.0.0.1:81:81"})
                            .names(Key::network_host_ports, {"5432"})
                            .paths(Key::sockets, {"/run/x.sock", "/run/docker.sock"})
                            .names(Key::unsafe_grants, {"control_sockets"});
  for (const Layer& ceiling : ceilings)
    for (const Layer& wanted : {files, network}) {
      const std::vector<Layer> layers{ceiling, wanted};
      const Effective effective = merge(layers, Approval::none);
      const Result<Policy> policy = policy_from(effective, kSurroundings);
      if (!policy)
        continue;  // a contradiction of the two, for instance ports of the host's network
      EXPECT_EQ(must_fit(*policy, ceiling), *policy);
    }
}

}  // namespace
}  // namespace coop::policy
