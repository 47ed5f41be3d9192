// The flags about the network and sockets.
#include <gmock/gmock.h>

#include "cli/flags.h"
#include "cli_runner.h"
#include "temp_tree.h"

namespace coop::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

Policy parsed(const Words& words, Policy base = {}) {
  Result<Options> options = parse(words, std::move(base));
  EXPECT_TRUE(options.has_value()) << to_text(options.error());
  return options ? options->policy : Policy{};
}

std::string refused(const Words& words, Policy base = {}) {
  const Result<Options> options = parse(words, std::move(base));
  if (!options) return to_text(options.error()) + " [" + options.error().hint + "]";
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
  expected.allow_net = {{"example.com", "--allow-net"}, {"10.0.0.0/8", "--allow-net"}};
  expected.deny_net = {{"bad.example.com:443", "--deny-net"}};
  expected.allow_udp = {{"10.0.0.0/8:53", "--allow-udp"}};
  expected.publish = {{"127.0.0.1", 8080, 80, "--publish"}, {"::1", 9000, 9000, "--publish"}};
  expected.host_ports = {{5432, "--host-port"}};
  expected.sockets = {{"run/x.sock", "--socket"}};
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
  Policy base;
  base.network = NetworkMode::allowlist;
  base.allow_net = {{"b.com", "policy.toml:2"}};
  base.deny_net = {{"a.com", "/etc/coop/policy.toml:3"}};
  const Policy policy = parsed({"--allow-net", "a.com"}, base);
  EXPECT_THAT(policy.deny_net, ElementsAre(HostRule{"a.com", "/etc/coop/policy.toml:3"}));
  EXPECT_THAT(policy.allow_net,
              ElementsAre(HostRule{"b.com", "policy.toml:2"}, HostRule{"a.com", "--allow-net"}));
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
  Policy base;
  base.deny_net = {{"10.0.0.0/8", "/etc/coop/policy.toml:3"}};
  EXPECT_THAT(refused({"--network", "host", "--unsafe", "host_network"}, base),
              HasSubstr("/etc/coop/policy.toml:3: \"10.0.0.0/8\" cannot be denied"));
}

TEST(NetworkFlagsTest, APortIsPublishedOnce) {
  EXPECT_EQ(refused({"--publish", "8080:80", "--publish", "8080:81"}),
            "--publish: 127.0.0.1:8080 is published twice (--publish: 127.0.0.1:8080:80) [choose "
            "another port of the host for one of them]");
  EXPECT_THAT(refused({"--publish", "8080:80", "--publish", "8080:80"}),
              HasSubstr("published twice"));
  EXPECT_EQ(parsed({"--publish", "8080:80", "--publish", "[::1]:8080:80"}).publish.size(), 2u);
  Policy base;
  base.publish = {{"127.0.0.1", 8080, 80, "policy.toml:1"}};
  EXPECT_EQ(parsed({"--publish", "8080:80"}, base).publish, base.publish);
  EXPECT_THAT(refused({"--publish", "8080:81"}, base), HasSubstr("(policy.toml:1: "));
}

TEST(NetworkFlagsTest, APortLeadsOneWay) {
  EXPECT_EQ(refused({"--publish", "5432", "--host-port", "5432"}),
            "--publish: port 5432 of the sandbox is published, and leads to the host "
            "(--host-port) [use two ports of the sandbox]");
  EXPECT_EQ(parsed({"--publish", "5432:80", "--host-port", "5432"}).host_ports.size(), 1u);
}

TEST(NetworkFlagsTest, BadValuesAreNamedAndMended) {
  EXPECT_EQ(refused({"--allow-net", "https://a.com"}),
            "--allow-net: \"https://a.com\" is an address of a page [write only the host of it]");
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
            "of the host in them [add --unsafe control_sockets if that is meant]");
  EXPECT_THAT(refused({"--socket", "/run/docker.sock", "--unsafe", "host_network"}),
              HasSubstr("controls this machine"));
  EXPECT_EQ(parsed({"--unsafe", "control_sockets", "--socket", "/run/docker.sock"}).sockets.size(),
            1u);
  // A file had to say the word itself.
  Policy base;
  base.sockets = {{"/run/docker.sock", "policy.toml:1"}};
  EXPECT_EQ(parsed({}, base).sockets, base.sockets);
  EXPECT_THAT(refused({"--unsafe", "all"}), HasSubstr("[host_network or control_sockets]"));
}

// --- The whole program ---

class NetworkProgramTest : public testing::Test {
 protected:
  std::string text_of(const Words& words) const {
    const test::Ran ran = test::run_cli(tree.path(), {{"HOME", tree.path()}}, words);
    return ran.out + ran.error;
  }

  test::TempTree tree{};
};

TEST_F(NetworkProgramTest, ASymlinkHidesNoSocketThatControlsTheMachine) {
  tree.must("touch docker.sock && ln -s docker.sock harmless.sock");
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
    tree.write("p.toml", "[sandbox]\nnetwork = " + network + "\n");
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
