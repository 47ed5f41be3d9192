#include "plan/network/network.h"

#include <gmock/gmock.h>

#include "support/destination_rule.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

Policy in_mode(NetworkMode mode) {
  Policy policy = policy_for(View::minimal);
  policy.network = mode;
  return policy;
}

template <typename Wanted>
std::vector<Wanted> steps_of(const Plan& plan) {
  std::vector<Wanted> found;
  for (const Step& step : plan.steps)
    if (const auto* action = std::get_if<Wanted>(&step.action)) found.push_back(*action);
  return found;
}

std::string contents_of(const Plan& plan, const Path& path) {
  for (const MakeFile& file : steps_of<MakeFile>(plan))
    if (file.target == path) return file.contents;
  for (const CoverFile& file : steps_of<CoverFile>(plan))
    if (file.target == path) return file.contents;
  return "(none)";
}

TEST(PlanNetworkTest, NothingListensWithoutANetwork) {
  const Plan plan = must_compile(in_mode(NetworkMode::none), anns_machine());
  EXPECT_EQ(plan.network, NetworkPlan{});
  EXPECT_FALSE(plan.network.needs_service());
  EXPECT_EQ(steps_of<Listen>(plan), std::vector<Listen>{});
  EXPECT_EQ(contents_of(plan, "/etc/resolv.conf"), "# no network: there is no name server\n");
  EXPECT_FALSE(plan.environment.contains("HTTP_PROXY"));
}

TEST(PlanNetworkTest, AnAllowListLeadsEverythingToTheSupervisor) {
  Policy policy = in_mode(NetworkMode::allowlist);
  policy.allow_net = {{tests::destination("example.com"), Origin::of_flag("--allow-net")}};
  HostFacts host = anns_machine();
  host.ipv6 = false;
  const Plan plan = must_compile(policy, host);
  const std::vector<std::string> own{"198.18.0.1"};
  EXPECT_EQ(steps_of<AssignAddresses>(plan), (std::vector<AssignAddresses>{{own, true}}));
  EXPECT_EQ(steps_of<RedirectTraffic>(plan),
            (std::vector<RedirectTraffic>{{.own = own, .connections = 1}}));
  using Purpose = Listener::Purpose;
  const std::vector<Listener> expected{{Purpose::names, "198.18.0.1", 53},
                                       {Purpose::name_streams, "198.18.0.1", 53},
                                       {Purpose::connections, "198.18.0.1", 1},
                                       {Purpose::proxy, "198.18.0.1", 1080}};
  EXPECT_EQ(plan.network.listeners, expected);
  EXPECT_EQ(plan.network.allow, policy.allow_net);
  EXPECT_THAT(contents_of(plan, "/etc/resolv.conf"),
              testing::StartsWith("nameserver 198.18.0.1\n"));
  EXPECT_EQ(plan.environment.at("HTTPS_PROXY"), "http://198.18.0.1:1080");
  EXPECT_EQ(plan.environment.at("NO_PROXY"), "localhost,127.0.0.1,::1");
}

TEST(PlanNetworkTest, LowPortsAreOpenWhereNoSourcePortLeavesTheSandbox) {
  const KernelSetting setting{"/proc/sys/net/ipv4/ip_unprivileged_port_start", 0, Missing::skip};
  const auto opens = [&](NetworkMode mode) {
    HostFacts host = anns_machine();
    host.uid = 0;
    host.pasta = {.available = true, .program = "/usr/bin/pasta"};
    const std::vector<KernelSetting> set =
        steps_of<KernelSetting>(must_compile(in_mode(mode), host));
    return std::ranges::find(set, setting) != set.end();
  };
  EXPECT_TRUE(opens(NetworkMode::none));
  EXPECT_TRUE(opens(NetworkMode::allowlist));
  EXPECT_TRUE(opens(NetworkMode::full));
  EXPECT_FALSE(opens(NetworkMode::veth));
  EXPECT_FALSE(opens(NetworkMode::host));
}

TEST(PlanNetworkTest, IPv6IsServedWhereTheKernelHasIt) {
  const Plan plan = must_compile(in_mode(NetworkMode::allowlist), anns_machine());
  EXPECT_EQ(plan.network.listeners.size(), 8U);
  EXPECT_EQ(steps_of<RedirectTraffic>(plan).front().own,
            (std::vector<std::string>{"198.18.0.1", "fdc0:6f70::c612:1"}));
}

TEST(PlanNetworkTest, TheStepsOfTheNetworkComeEarly) {
  const Policy policy = in_mode(NetworkMode::allowlist);
  const Plan early = *begin(policy, anns_machine());
  const Plan whole = must_compile(policy, anns_machine());
  ASSERT_LT(early.steps.size(), whole.steps.size());
  EXPECT_TRUE(std::equal(early.steps.begin(), early.steps.end(), whole.steps.begin()));
  EXPECT_EQ(early.network, whole.network);
  EXPECT_EQ(steps_of<JoinNetwork>(early).size(), 1U);
}

TEST(PlanNetworkTest, OnesOwnVariablesWin) {
  Policy policy = in_mode(NetworkMode::allowlist);
  policy.set_environment["HTTPS_PROXY"] = "http://elsewhere:1";
  const Plan plan = must_compile(policy, anns_machine());
  for (const char* name : {"HTTPS_PROXY", "https_proxy"})
    EXPECT_EQ(plan.environment.at(name), "http://elsewhere:1") << name;
  EXPECT_EQ(plan.environment.at("http_proxy"), "http://198.18.0.1:1080");
}

TEST(PlanNetworkTest, APortOfTheHostListensOnBothLoopbacks) {
  Policy policy = in_mode(NetworkMode::none);
  policy.host_ports = {{5432, Origin::of_flag("--host-port")}};
  const Plan plan = must_compile(policy, anns_machine());
  const auto purpose = Listener::Purpose::host_port;
  EXPECT_EQ(plan.network.listeners, (std::vector<Listener>{{purpose, "127.0.0.1", 5432, 5432},
                                                           {purpose, "::1", 5432, 5432}}));
  EXPECT_TRUE(steps_of<RedirectTraffic>(plan).empty());
}

TEST(PlanNetworkTest, DatagramsHaveAListenerForEachRule) {
  Policy policy = in_mode(NetworkMode::allowlist);
  policy.allow_udp = {{tests::destination("9.9.9.0/24:5000"), Origin::of_flag("--allow-udp")},
                      {tests::destination("[2600::/16]:53"), Origin::of_flag("--allow-udp")}};
  const Plan plan = must_compile(policy, anns_machine());
  EXPECT_EQ(steps_of<RedirectTraffic>(plan).front().datagrams,
            (std::vector<DatagramRule>{{policy.allow_udp[0].destination, 20000},
                                       {policy.allow_udp[1].destination, 20001}}));
  EXPECT_EQ(plan.network.listeners.back(),
            (Listener{Listener::Purpose::datagrams, "::", 20001, 53}));
}

TEST(PlanNetworkTest, AnOpenNetworkRefusesNeighboursAndWaitsForItsProvider) {
  HostFacts host = anns_machine();
  const Policy policy = in_mode(NetworkMode::full);
  EXPECT_THAT(must_fail(policy, host).hint, testing::HasSubstr("passt"));
  host.slirp4netns = {.available = true, .program = "/usr/bin/slirp4netns"};
  const Plan second = must_compile(policy, host);
  EXPECT_EQ(second.network.provider, NetworkProvider::slirp4netns);
  host.pasta = {.available = true, .program = "/usr/bin/pasta"};
  host.networks = {tests::destination("9.9.9.0/24").network};
  const Plan plan = must_compile(policy, host);
  EXPECT_EQ(plan.network.program, "/usr/bin/pasta");
  EXPECT_EQ(steps_of<RefuseNeighbours>(plan),
            (std::vector<RefuseNeighbours>{{host.networks, {}, {}}}));
  EXPECT_EQ(steps_of<JoinNetwork>(plan), (std::vector<JoinNetwork>{{NetworkProvider::pasta}}));
}

TEST(PlanNetworkTest, ANameCannotBeDeniedInAnOpenNetwork) {
  HostFacts host = anns_machine();
  host.pasta = {.available = true, .program = "/usr/bin/pasta"};
  Policy policy = in_mode(NetworkMode::full);
  policy.deny_net = {{tests::destination("bad.example"),
                      Origin{Scope::organisation, "/etc/coop/policy.toml", {4, 0}}}};
  const Error error = must_fail(policy, host);
  EXPECT_EQ(error.origin, policy.deny_net.front().origin);
  EXPECT_THAT(error.hint, testing::HasSubstr("allowlist"));
  policy.deny_net = {{tests::destination("9.9.9.9"), Origin::of_flag("--deny-net")}};
  EXPECT_EQ(steps_of<RefuseNeighbours>(must_compile(policy, host)).front().denied, policy.deny_net);
}

TEST(PlanNetworkTest, ANameThatIsAllowedInAnOpenNetworkIsNoted) {
  HostFacts host = anns_machine();
  host.pasta = {.available = true, .program = "/usr/bin/pasta"};
  Policy policy = in_mode(NetworkMode::full);
  policy.allow_net = {{tests::destination("10.0.0.5"), Origin::of_flag("--allow-net")},
                      {tests::destination("intranet.example"), Origin::of_flag("--allow-net")}};
  EXPECT_THAT(must_compile(policy, host).notes,
              testing::ElementsAre(testing::HasSubstr("intranet.example")));
}

TEST(PlanNetworkTest, ALinkNeedsRoot) {
  HostFacts host = anns_machine();
  const Policy policy = in_mode(NetworkMode::veth);
  const Error error = must_fail(policy, host);
  EXPECT_EQ(error.operation, "--network veth");
  EXPECT_THAT(error.hint,
              testing::AllOf(testing::HasSubstr("full"), testing::HasSubstr("allowlist")));
  host.uid = host.gid = 0;
  const Plan plan = must_compile(policy, host);
  EXPECT_EQ(plan.network.link, "coop-test");
  const std::vector<ConfigureLink> links = steps_of<ConfigureLink>(plan);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links.front().gateway, plan.network.subnet);
  EXPECT_THAT(links.front().address, testing::StartsWith("198.19."));
}

// systemd's is a link into /run, which is empty inside: the file is made there, and the link leads to it.
TEST(PlanNetworkTest, InTheHostsViewTheFilesOfNamesAreCovered) {
  HostFacts host = anns_machine();
  add_path(host, "/etc/hosts", PathKind::file);
  add_path(host, "/etc/nsswitch.conf", PathKind::file);
  add_link(host, "/etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf",
           "/run/systemd/resolve/stub-resolv.conf", PathKind::file);
  Policy policy = policy_for(View::host);
  const Plan without = must_compile(policy, host);
  EXPECT_EQ(steps_of<CoverFile>(without).size(), 1U);
  EXPECT_THAT(contents_of(without, "/etc/hosts"), testing::HasSubstr("127.0.1.1 coop-test\n"));
  EXPECT_EQ(contents_of(without, "/run/systemd/resolve/stub-resolv.conf"),
            "# no network: there is no name server\n");
  policy.network = NetworkMode::host;
  EXPECT_TRUE(steps_of<CoverFile>(must_compile(policy, host)).empty());
  policy.network = NetworkMode::allowlist;
  const Plan plan = must_compile(policy, host);
  EXPECT_EQ(steps_of<CoverFile>(plan).size(), 2U);
  EXPECT_THAT(contents_of(plan, "/run/systemd/resolve/stub-resolv.conf"),
              testing::StartsWith("nameserver"));
}

// In the minimal view the workspace is elsewhere: a socket in it is seen under both names.
TEST(PlanNetworkTest, ASocketInTheWorkspaceIsThereToo) {
  HostFacts host = anns_machine();
  const Path path = std::string(kProject) + "/live.sock";
  add_path(host, path, PathKind::socket);
  host.sockets = {path};
  Policy policy = policy_for(View::minimal);
  policy.sockets = {{path, Origin::of_flag("--socket")}};
  const Plan plan = must_compile(policy, host);
  EXPECT_TRUE(steps_of<HideMount>(plan).empty());
  const std::vector<BindMount> binds = steps_of<BindMount>(plan);
  EXPECT_TRUE(std::ranges::any_of(
      binds, [](const BindMount& bind) { return bind.target == "/work/live.sock"; }));
}

// What a command may have put there between two runs of a session.
TEST(PlanNetworkTest, ALinkLeadsToNoOtherSocket) {
  HostFacts host = anns_machine();
  const Path path = std::string(kProject) + "/live.sock";
  add_path(host, "/run/other.sock", PathKind::socket);
  add_path(host, "/run/docker.sock", PathKind::socket);
  Policy policy = policy_for(View::minimal);
  for (const Path& planted : {path, Path("/srv/live.sock")})
    for (const char* target : {"/run/other.sock", "/run/docker.sock"}) {
      add_link(host, planted, target, target, PathKind::socket);
      policy.sockets = {{planted, Origin::of_flag("--socket")}};
      // Elsewhere a link is the user's own, unless it hides what it is.
      if (planted != path && target == std::string_view("/run/other.sock")) {
        must_compile(policy, host);
        continue;
      }
      EXPECT_THAT(must_fail(policy, host).subject, testing::HasSubstr(target));
    }
}

TEST(PlanNetworkTest, ABindMountGivesAControllingSocketNoHarmlessName) {
  HostFacts host = anns_machine();
  host.mounts = {MountFact{.device = "8:1", .root = "/", .target = "/"},
                 MountFact{.device = "0:9", .root = "/", .target = "/run"},
                 MountFact{.device = "0:9", .root = "/docker.sock", .target = "/srv/a.sock"},
                 MountFact{.device = "0:9", .root = "/agent.sock", .target = "/srv/b.sock"}};
  for (const char* path : {"/run/docker.sock", "/srv/a.sock", "/srv/b.sock"})
    add_path(host, path, PathKind::socket);
  Policy policy = policy_for(View::minimal);
  policy.sockets = {{"/srv/a.sock", Origin::of_flag("--socket")}};
  EXPECT_THAT(must_fail(policy, host).subject,
              testing::StartsWith("\"/srv/a.sock\" is \"/run/docker.sock\", which controls"));
  // Named itself, it needed --unsafe control_sockets before.
  for (const char* path : {"/run/docker.sock", "/srv/b.sock"}) {
    policy.sockets = {{path, Origin::of_flag("--socket")}};
    must_compile(policy, host);
  }
}

TEST(PlanNetworkTest, DestinationsThatNoTextReadsAsAreErrors) {
  Policy policy = policy_for(View::minimal);
  policy.network = NetworkMode::allowlist;
  for (const char* bad : {"bad.example.", " bad.example", "10.0.0.1/8", "::ffff:10.0.0.1"}) {
    policy.deny_net = {{Destination{.name = bad}, Origin{}}};
    EXPECT_THAT(to_text(must_fail(policy, anns_machine())), testing::HasSubstr("program: ")) << bad;
  }
  const Prefix wide{.address = std::string("\x0a\0\0\x01", 4), .bits = 8};
  for (const Destination& bad :
       {Destination{}, Destination{.name = "10.0.0.1"},
        Destination{.kind = Destination::Kind::network},
        Destination{.kind = Destination::Kind::network, .network = wide}}) {
    policy.deny_net = {{bad, Origin{}}};
    EXPECT_THAT(to_text(must_fail(policy, anns_machine())), testing::HasSubstr("program: "))
        << to_text(bad);
  }
}

TEST(PlanNetworkTest, ASocketMustBeOne) {
  HostFacts host = anns_machine();
  Policy policy = policy_for(View::minimal);
  policy.sockets = {{"/run/agent.sock", Origin::of_flag("--socket")}};
  EXPECT_THAT(must_fail(policy, host).subject, testing::HasSubstr("there is no"));
  add_path(host, "/run/agent.sock", PathKind::directory);
  EXPECT_THAT(must_fail(policy, host).subject, testing::HasSubstr("not a socket"));
  add_path(host, "/run/agent.sock", PathKind::socket);
  const Plan plan = must_compile(policy, host);
  const std::vector<BindMount> binds = steps_of<BindMount>(plan);
  EXPECT_TRUE(std::ranges::any_of(binds, [](const BindMount& bind) {
    return bind.target == "/run/agent.sock" && bind.flags.access == Access::read_write;
  }));
}

}  // namespace
}  // namespace coop::plan
