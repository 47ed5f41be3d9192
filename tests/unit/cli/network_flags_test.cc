// The flags about the network and sockets.
#include <gmock/gmock.h>

#include "cli/flags.h"
#include "cli_runner.h"
#include "run_options.h"
#include "settings_literals.h"
#include "support/destination_rule.h"
#include "temp_tree.h"

namespace coop::cli {
namespace {

using policy::Key;
using policy::testing_literals::at;
using policy::testing_literals::organisation;
using policy::testing_literals::user;
using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

// The flags on top of what files say.
Result<Policy> resolved(const Words& words, const std::vector<policy::Layer>& files) {
  const Options options = TRY(parse(words));
  request::Resolved result =
      TRY(request::resolve_layers(files, policy::Approval::none, options.wanted,
                                  HostFacts{.home = "/home/ann", .working_directory = "/h"}, {}));
  TRY(check_lists(options, result.policy.network));
  return std::move(result.policy);
}

Policy parsed(const Words& words, const std::vector<policy::Layer>& files = {}) {
  Result<Policy> policy = resolved(words, files);
  EXPECT_TRUE(policy.has_value()) << to_text(policy.error());
  return policy.value_or(Policy{});
}

std::string refused(const Words& words, const std::vector<policy::Layer>& files = {}) {
  const Result<Policy> policy = resolved(words, files);
  if (!policy) return to_text(policy.error()) + " [" + policy.error().hint + "]";
  return "accepted " + testing::PrintToString(words);
}

TEST(NetworkFlagsTest, EveryModeHasItsWord) {
  EXPECT_EQ(parsed({"--network", "none"}).network, NetworkMode::none);
  EXPECT_EQ(parsed({"--network", "allowlist"}).network, NetworkMode::allowlist);
  EXPECT_EQ(parsed({"--network", "full"}).network, NetworkMode::full);
  EXPECT_EQ(parsed({"--network", "bridge"}).network, NetworkMode::full);
  EXPECT_EQ(parsed({"--network", "veth"}).network, NetworkMode::veth);
  EXPECT_EQ(
      refused({"--network", "open"}),
      "--network: \"open\" is not a network mode [one of: none, allowlist, full, veth, host]");
}

TEST(NetworkFlagsTest, EachFlagAddsToItsList) {
  Policy expected;
  expected.network = NetworkMode::allowlist;
  expected.allow_net = {{tests::destination("example.com"), Origin::of_flag("--allow-net")},
                        {tests::destination("10.0.0.0/8"), Origin::of_flag("--allow-net")}};
  expected.deny_net = {{tests::destination("bad.example.com:443"), Origin::of_flag("--deny-net")}};
  expected.allow_udp = {{tests::destination("10.0.0.0/8:53"), Origin::of_flag("--allow-udp")}};
  expected.publish = {{"127.0.0.1", 8080, 80, Origin::of_flag("--publish")},
                      {"::1", 9000, 9000, Origin::of_flag("--publish")}};
  expected.host_ports = {{5432, Origin::of_flag("--host-port")}};
  expected.sockets = {{"/h/run/x.sock", Origin::of_flag("--socket")}};
  EXPECT_EQ(parsed({"--allow-net", "EXAMPLE.com", "--allow-net=10.0.0.0/8", "--deny-net",
                    "bad.example.com:443", "--allow-udp", "10.0.0.0/8:53", "--publish", "8080:80",
                    "--publish", "[::1]:9000:9000", "--host-port", "5432", "--host-port", "5432",
                    "--socket", "run/x.sock"}),
            expected);
}

TEST(NetworkFlagsTest, AListOfHostsTurnsNothingIntoTheAllowList) {
  EXPECT_EQ(parsed({"--allow-net", "a.com"}).network, NetworkMode::allowlist);
  EXPECT_EQ(parsed({"--allow-udp", "10.0.0.1:53"}).network, NetworkMode::allowlist);
  EXPECT_EQ(parsed({"--deny-net", "a.com"}).network, NetworkMode::none);
  EXPECT_EQ(parsed({"--publish", "80", "--host-port", "81"}).network, NetworkMode::none);
  EXPECT_EQ(parsed({"--allow-net", "a.com", "--network", "full"}).network, NetworkMode::full);
  EXPECT_EQ(parsed({"--allow-net", "a.com", "--network", "veth"}).network, NetworkMode::veth);
  EXPECT_EQ(refused({"--allow-net", "a.com", "--network", "none"}),
            "--allow-net: contradicts --network none, which reaches nothing [leave --network out, "
            "or write --network allowlist]");
}

TEST(NetworkFlagsTest, WhatTheFilesDenyStaysDenied) {
  const std::vector<policy::Layer> files{
      organisation().names(Key::network_deny, {"c.com"}),
      user().set(Key::network, "allowlist").names(Key::network_allow, {"b.com"})};
  const Policy policy = parsed({"--allow-net", "a.com"}, files);
  EXPECT_THAT(policy.deny_net, ElementsAre(DestinationRule{tests::destination("c.com"),
                                                           at(Scope::organisation, 1)}));
  EXPECT_THAT(
      policy.allow_net,
      ElementsAre(DestinationRule{tests::destination("b.com"), at(Scope::user, 2)},
                  DestinationRule{tests::destination("a.com"), Origin::of_flag("--allow-net")}));
  EXPECT_THAT(refused({"--allow-net", "c.com"}, files),
              HasSubstr("--allow-net: \"c.com\" is beyond the organisation's"));
}

TEST(NetworkFlagsTest, AGroupIsItsHostsAndNamesTheFlag) {
  const Policy policy = parsed({"--allow-net", "@github:22", "--deny-net", "@rust"});
  const auto of = [](const char* flag, const char* group) {
    return Origin::of_flag(flag, group, Part::host_group);
  };
  EXPECT_EQ(policy.network, NetworkMode::allowlist);
  EXPECT_THAT(policy.allow_net, ElementsAre(DestinationRule{tests::destination("github.com:22"),
                                                            of("--allow-net", "@github:22")}));
  EXPECT_THAT(policy.deny_net,
              ElementsAre(DestinationRule{tests::destination("static.rust-lang.org"),
                                          of("--deny-net", "@rust")}));
  const std::vector<policy::Layer> files{organisation().names(Key::network_allow, {"@github"})};
  EXPECT_EQ(parsed({"--allow-net", "@github"}, files).allow_net.size(), 6U);
  EXPECT_THAT(refused({"--allow-net", "@rust"}, files),
              HasSubstr("--allow-net @rust: \"@rust\" is beyond the organisation's [\"@github\"]"));
}

// The project's list gives nothing where everything public is reachable; a flag must not turn it into a grant.
TEST(NetworkFlagsTest, AFlagDoesNotApproveAProjectsHosts) {
  const std::vector<policy::Layer> files{
      user().set(Key::network, "full"),
      policy::testing_literals::project().names(Key::network_allow, {"evil.com"})};
  EXPECT_EQ(parsed({"--network", "allowlist"}, files).allow_net, std::vector<DestinationRule>{});
}

TEST(NetworkFlagsTest, ListsThatWouldDoNothingAreErrors) {
  const Words host{"--network", "host", "--unsafe", "host_network"};
  const auto beside_host = [&](const Words& more) {
    Words words = host;
    words.insert(words.end(), more.begin(), more.end());
    return refused(words);
  };
  for (const char* flag : {"--allow-net", "--deny-net", "--allow-udp"})
    EXPECT_EQ(beside_host({flag, "10.0.0.1:53"}),
              std::string(flag) +
                  ": would restrict nothing with the host's network [use --network "
                  "allowlist or full, or leave it out]");
  EXPECT_THAT(beside_host({"--publish", "80"}),
              HasSubstr("--publish: 127.0.0.1:80:80 cannot be published with the host's network"));
  EXPECT_THAT(beside_host({"--host-port", "80"}),
              HasSubstr("--host-port: port 80 is there already with the host's network"));
  EXPECT_THAT(refused({"--network", "full", "--allow-udp", "10.0.0.1:53"}),
              HasSubstr("--allow-udp: is for --network allowlist"));
}

// Else the organisation's word would be gone with one flag.
TEST(NetworkFlagsTest, TheHostsNetworkCannotBeTakenWhereSomethingIsDenied) {
  EXPECT_THAT(refused({"--network", "host", "--unsafe", "host_network"},
                      {organisation().names(Key::network_deny, {"10.0.0.0/8"})}),
              HasSubstr("/etc/coop/policy.toml:1: \"10.0.0.0/8\" cannot be denied"));
}

TEST(NetworkFlagsTest, APortIsPublishedOnce) {
  EXPECT_EQ(refused({"--publish", "8080:80", "--publish", "8080:81"}),
            "--publish: 127.0.0.1:8080 is published twice (--publish: 127.0.0.1:8080:80) [choose "
            "another port of the host for one of them]");
  EXPECT_THAT(refused({"--publish", "8080:80", "--publish", "8080:80"}),
              HasSubstr("published twice"));
  EXPECT_EQ(parsed({"--publish", "8080:80", "--publish", "[::1]:8080:80"}).publish.size(), 2u);
  const std::vector<policy::Layer> files{user().names(Key::network_publish, {"127.0.0.1:8080:80"})};
  EXPECT_EQ(parsed({"--publish", "8080:80"}, files).publish, parsed({}, files).publish);
  EXPECT_THAT(refused({"--publish", "8080:81"}, files), HasSubstr("policy.toml:1: 127.0.0.1"));
}

TEST(NetworkFlagsTest, APortLeadsOneWay) {
  EXPECT_EQ(refused({"--publish", "5432", "--host-port", "5432"}),
            "--publish: port 5432 of the sandbox is published, and leads to the host "
            "(--host-port) [use two ports of the sandbox]");
  EXPECT_EQ(parsed({"--publish", "5432:80", "--host-port", "5432"}).host_ports.size(), 1u);
}

TEST(NetworkFlagsTest, BadValuesAreReportedWithAFix) {
  EXPECT_EQ(refused({"--allow-net", "https://a.com"}),
            "--allow-net: \"https://a.com\" is a URL [write only its host, like example.com]");
  EXPECT_EQ(refused({"--allow-udp", "a.com:53"}),
            "--allow-udp: \"a.com:53\" is not for an IP address or a network of them [write "
            "ADDRESS:PORT or NETWORK:PORT, like 10.0.0.0/8:5000 or [fd00::/8]:5000]");
  EXPECT_EQ(refused({"--publish", "0:80"}),
            "--publish: \"0\" is not a port [write a number from 1 to 65535]");
  EXPECT_EQ(refused({"--host-port", "70000"}),
            "--host-port: \"70000\" is not a port [write a number from 1 to 65535]");
  EXPECT_EQ(refused({"--socket="}), "--socket: the path is empty []");
}

TEST(NetworkFlagsTest, SocketsThatControlTheMachineNeedTheirWord) {
  EXPECT_EQ(refused({"--socket", "/run/docker.sock"}),
            "--socket: \"/run/docker.sock\" controls this machine: starts containers with any part "
            "of the host in them [add --unsafe control_sockets if you intend this]");
  EXPECT_THAT(refused({"--socket", "/run/docker.sock", "--unsafe", "host_network"}),
              HasSubstr("controls this machine"));
  EXPECT_EQ(parsed({"--unsafe", "control_sockets", "--socket", "/run/docker.sock"}).sockets.size(),
            1u);
  // A file had to say the word itself.
  const policy::Layer unconfirmed = user().paths(Key::sockets, {"/run/docker.sock"});
  const policy::Layer confirmed = user()
                                      .paths(Key::sockets, {"/run/docker.sock"})
                                      .names(Key::unsafe_grants, {"control_sockets"});
  EXPECT_EQ(parsed({}, {confirmed}).sockets.size(), 1u);
  EXPECT_THAT(refused({}, {unconfirmed}), HasSubstr("controls this machine"));
  EXPECT_THAT(refused({"--unsafe", "all"}), HasSubstr("[host_network or control_sockets]"));
}

// --- The whole program ---

class NetworkProgramTest : public testing::Test {
 protected:
  void SetUp() override { tree.must("mkdir project"); }

  std::string text_of(const Words& words) const {
    const test::Ran ran = test::run_cli(tree / "project", {{"HOME", tree.path()}}, words);
    return ran.out + ran.error;
  }

  test::TempTree tree{};
};

TEST_F(NetworkProgramTest, ASymlinkHidesNoSocketThatControlsTheMachine) {
  tree.must("touch docker.sock && ln -s docker.sock harmless.sock");
  tree.must("ln -s ../docker.sock project/harmless.sock");
  for (const char* path : {"harmless.sock", "~/harmless.sock", "./harmless.sock"})
    EXPECT_THAT(text_of({"plan", "--socket", path}),
                HasSubstr("docker.sock\", which controls this machine"))
        << path;
  tree.must("mkdir -p .config/coop && chmod 700 .config .config/coop");
  tree.write(".config/coop/policy.toml", "[sandbox]\nsockets = [\"~/harmless.sock\"]\n");
  tree.must("chmod 600 .config/coop/policy.toml");
  EXPECT_THAT(text_of({"plan"}), HasSubstr("policy.toml:2: "));
  EXPECT_THAT(text_of({"plan"}), HasSubstr("add unsafe = [\"control_sockets\"]"));
}

TEST_F(NetworkProgramTest, ExplainKnowsTheFlags) {
  const auto explained = [&](Words words) {
    words.insert(words.begin(), {"policy", "explain"});
    return text_of(words);
  };
  EXPECT_EQ(explained({"--allow-net", "a.com", "a.com:443"}),
            "a.com:443: reachable by network.allow \"a.com\" (--allow-net) (where its address is a "
            "public one)\n");
  EXPECT_THAT(explained({"--allow-net", "a.com", "a.com:22"}),
              HasSubstr("denied by network = \"allowlist\" (command line) (it is not in the "
                        "allow-list); to allow: --allow-net a.com:22"));
  EXPECT_THAT(explained({"--allow-net", "a.com", "--deny-net", "a.com", "a.com"}),
              HasSubstr("denied by network.deny \"a.com\" (--deny-net)"));
  EXPECT_THAT(explained({"--network", "full", "10.0.0.1"}),
              HasSubstr("denied by address guard (it is private"));
  EXPECT_THAT(explained({"--network", "full", "--allow-net", "10.0.0.0/8", "10.0.0.1"}),
              HasSubstr("reachable by network.allow \"10.0.0.0/8\""));
  EXPECT_THAT(explained({"--network", "full", "1.1.1.1"}), HasSubstr("reachable by network"));
  EXPECT_THAT(explained({"a.com"}), HasSubstr("denied by network = \"none\" (built-in)"));
  EXPECT_THAT(explained({"--allow-net", "a.com", "a.com."}), HasSubstr("reachable"));
  // What is wider than the private networks names none of them.
  EXPECT_THAT(explained({"--allow-net", "0.0.0.0/0", "10.9.9.9"}),
              HasSubstr("denied by address guard (it is private"));
  EXPECT_THAT(explained({"--allow-net", "localhost", "localhost:5432"}),
              HasSubstr("the sandbox itself); to allow: --host-port 5432"));
  EXPECT_THAT(explained({"--allow-net", "a.com", "https://a.com/x?y"}),
              HasSubstr("a.com:443: reachable"));
  EXPECT_THAT(explained({"--allow-net", "a.com", "ssh://me@a.com:22/x"}),
              HasSubstr("a.com:22: denied"));
  EXPECT_THAT(explained({"--allow-udp", "8.8.8.8:53", "8.8.8.8:53"}),
              HasSubstr("reachable by network.udp \"8.8.8.8:53\" (--allow-udp) (by UDP alone)"));
  EXPECT_THAT(
      explained({"--allow-net", "198.18.0.0/15", "198.18.5.5"}),
      HasSubstr("denied by network = \"allowlist\" (command line) (inside, its addresses stand"));
  EXPECT_THAT(explained({"--allow-net", "a.com", "evil..x"}), HasSubstr("is not a host name"));
  EXPECT_THAT(explained({"--host-port", "5432", "localhost:5432"}),
              HasSubstr("reachable by host_ports 5432 (--host-port)"));
}

TEST_F(NetworkProgramTest, CheckNamesHostsThatMeanNothing) {
  const auto checked = [&](const std::string& network) {
    tree.write("project/p.toml", "[sandbox]\nnetwork = " + network + "\n");
    return text_of({"policy", "check", "p.toml"});
  };
  EXPECT_THAT(checked(R"({ mode = "full", deny = ["evil.example"] })"),
              HasSubstr("p.toml:2:36: error: sandbox_network: \"evil.example\" is a name"));
  EXPECT_THAT(checked(R"({ mode = "full", udp = ["10.0.0.1:53"] })"),
              HasSubstr("warning: sandbox_network: udp is for allowlist"));
  EXPECT_THAT(checked(R"({ mode = "none", allow = ["a.com"] })"),
              HasSubstr("warning: sandbox_network: \"a.com\" is not reached"));
  EXPECT_EQ(checked(R"({ mode = "full", deny = ["8.8.8.8"] })"), "ok: p.toml\n");
}

}  // namespace
}  // namespace coop::cli
