// The network and sockets in policy files: reading, merging, the ceiling, applying.
#include <gmock/gmock.h>

#include "policy/merge/apply.h"
#include "settings_literals.h"
#include "settings_support.h"
#include "support/destination_rule.h"

namespace coop::policy {
namespace {

using namespace testing_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::Outcome;
using testing_support::read;

const std::string kMine = "/home/ann/.config/coop/policy.toml";
const std::string kTheirs = "/etc/coop/policy.toml";

Result<Policy> apply(std::initializer_list<Layer> layers, Approval approval = Approval::none) {
  return policy_from(merge(std::vector<Layer>(layers), approval), {.home = "/home/ann"});
}

Policy applied(std::initializer_list<Layer> layers, Approval approval = Approval::none) {
  Result<Policy> policy = apply(layers, approval);
  EXPECT_TRUE(policy.has_value()) << to_text(policy.error());
  return policy.value_or(Policy{});
}

std::string refused(std::initializer_list<Layer> layers) {
  const Result<Policy> policy = apply(layers);
  return policy ? "accepted" : to_text(policy.error()) + " [" + policy.error().hint + "]";
}

std::vector<std::string> texts_of(const Settings& settings, Key key) {
  std::vector<std::string> texts;
  if (const auto found = settings.find(key); found != settings.end())
    for (const Item& item : found->second.items) texts.push_back(item.text);
  return texts;
}

// --- Reading ---

TEST(NetworkSettingsTest, EveryListIsReadInOneSpelling) {
  const Outcome outcome = read(R"([sandbox]
sockets = ["~/x.sock", "$DATA/y?.sock"]
[sandbox.network]
udp = ["[FD00::/8]:5000"]
publish = [8080, "8081:80", "[0::1]:9:9"]
host_ports = [5432, "6379"]
)");
  EXPECT_EQ(outcome.findings, Findings{});
  EXPECT_THAT(texts_of(outcome.settings, Key::network_udp), ElementsAre("[fd00::/8]:5000"));
  EXPECT_THAT(texts_of(outcome.settings, Key::network_publish),
              ElementsAre("127.0.0.1:8080:8080", "127.0.0.1:8081:80", "[::1]:9:9"));
  EXPECT_THAT(texts_of(outcome.settings, Key::network_host_ports), ElementsAre("5432", "6379"));
  // The name of one socket: nothing in it is a wildcard.
  const std::vector<Item>& sockets = outcome.settings.at(Key::sockets).items;
  EXPECT_EQ(sockets.at(0).path, "/home/ann/x.sock");
  EXPECT_EQ(sockets.at(1).path, "/data/y?.sock");
  EXPECT_FALSE(sockets.at(1).pattern || sockets.at(1).if_missing.has_value());
}

TEST(NetworkSettingsTest, AListOfDatagramsMeansTheAllowList) {
  const auto mode = [](std::string_view network) {
    const Outcome outcome = read("[sandbox]\nnetwork = " + std::string(network) + "\n");
    const auto found = outcome.settings.find(Key::network);
    return found == outcome.settings.end() ? "" : std::get<std::string>(found->second.value);
  };
  EXPECT_EQ(mode("{ udp = [\"10.0.0.1:53\"] }"), "allowlist");
  EXPECT_EQ(mode("{ allow = [\"a.com\"], udp = [\"10.0.0.1:53\"] }"), "allowlist");
  EXPECT_EQ(mode("{ mode = \"none\", udp = [\"10.0.0.1:53\"] }"), "none");
  EXPECT_EQ(mode("{ publish = [80], host_ports = [81] }"), "");
}

TEST(NetworkSettingsTest, MistakesAreReportedWithAFix) {
  const auto finding = [](std::string_view line) {
    const Findings findings = read("[sandbox]\n" + std::string(line) + "\n").findings;
    EXPECT_EQ(findings.size(), 1u) << line;
    return findings.empty() ? "" : findings[0].message + " [" + findings[0].fix + "]";
  };
  EXPECT_EQ(finding("network = { udp = [\"a.com:53\"] }"),
            "network.udp: \"a.com:53\" is not for an IP address or a network of them [write "
            "ADDRESS:PORT or NETWORK:PORT, like 10.0.0.0/8:5000 or [fd00::/8]:5000]");
  EXPECT_EQ(finding("network = { publish = [\"80:0\"] }"),
            "network.publish: \"0\" is not a port [write a number from 1 to 65535]");
  EXPECT_EQ(finding("network = { host_ports = [\"1-2\"] }"),
            "network.host_ports: \"1-2\" is not a port [write a number from 1 to 65535]");
  EXPECT_EQ(finding("network = { host_ports = [1.5] }"),
            "network.host_ports: expected ports in the list, found a number [write a "
            "list of strings: [\"…\", \"…\"]]");
  EXPECT_EQ(finding("network = { host_ports = 80 }"),
            "network.host_ports: expected a list of ports, found a whole number [write a list of "
            "strings: [\"…\", \"…\"]]");
  EXPECT_THAT(finding("network = { hostports = [80] }"), HasSubstr("did you mean \"host_ports\"?"));
  EXPECT_THAT(finding("unsafe = [\"control_socket\"]"),
              HasSubstr("did you mean \"control_sockets\"?"));
}

// --- Applying ---

TEST(NetworkSettingsTest, EveryListHasItsPlaceAndOrigin) {
  Policy expected;
  expected.network = NetworkMode::allowlist;
  expected.allow_net = {{tests::destination("a.com"), at(Scope::user, 2)}};
  expected.deny_net = {{tests::destination("b.com"), at(Scope::user, 3)}};
  expected.allow_udp = {{tests::destination("10.0.0.1:53"), at(Scope::user, 4)}};
  expected.publish = {{"0.0.0.0", 8080, 80, at(Scope::user, 5)}};
  expected.host_ports = {{5432, at(Scope::user, 6)}};
  expected.sockets = {{"/run/x.sock", at(Scope::user, 7)}};
  EXPECT_EQ(applied({user()
                         .set(Key::network, "allowlist")
                         .names(Key::network_allow, {"a.com"})
                         .names(Key::network_deny, {"b.com"})
                         .names(Key::network_udp, {"10.0.0.1:53"})
                         .names(Key::network_publish, {"0.0.0.0:8080:80"})
                         .names(Key::network_host_ports, {"5432"})
                         .paths(Key::sockets, {"/run/x.sock"})}),
            expected);
  for (const auto& [word, mode] :
       {std::pair("full", NetworkMode::full), std::pair("veth", NetworkMode::veth)})
    EXPECT_EQ(applied({user().set(Key::network, word)}).network, mode);
}

// A flag that adds one host then adds exactly that one.
TEST(NetworkSettingsTest, WithoutANetworkNoHostIsTakenOverAndEveryDenialIs) {
  const Policy policy = applied({user()
                                     .set(Key::network, "none")
                                     .names(Key::network_allow, {"a.com"})
                                     .names(Key::network_udp, {"10.0.0.1:53"})
                                     .names(Key::network_deny, {"b.com"})});
  EXPECT_THAT(policy.allow_net, IsEmpty());
  EXPECT_THAT(policy.allow_udp, IsEmpty());
  EXPECT_EQ(policy.deny_net.size(), 1u);
}

TEST(NetworkSettingsTest, WhatCannotBeKeptIsAnErrorOfItsLine) {
  const auto host = [](Key key, const char* text) {
    return refused({user()
                        .set(Key::network, "host")
                        .names(Key::unsafe_grants, {"host_network"})
                        .names(key, {text})});
  };
  const std::string hint = " [choose another network than \"host\", or leave it out]";
  EXPECT_EQ(host(Key::network_deny, "a.com"),
            kMine +
                ":3: \"a.com\" cannot be denied with the host's network, which coop does not "
                "filter" +
                hint);
  EXPECT_EQ(host(Key::network_publish, "127.0.0.1:80:80"),
            kMine +
                ":3: 127.0.0.1:80:80 cannot be published with the host's network: the sandbox "
                "has the host's ports already" +
                hint);
  EXPECT_EQ(
      host(Key::network_host_ports, "80"),
      kMine + ":3: port 80 is there already with the host's network, as all of them are" + hint);
  EXPECT_EQ(host(Key::network_allow, "a.com"), "accepted");
  EXPECT_EQ(refused({user()
                         .names(Key::network_publish, {"127.0.0.1:80:80"})
                         .names(Key::network_publish, {"127.0.0.1:80:81"})}),
            kMine + ":2: 127.0.0.1:80 is published twice (" + kMine +
                ":1: 127.0.0.1:80:80) [choose another port of the host for one of them]");
}

TEST(NetworkSettingsTest, SocketsThatControlTheMachineNeedTheirWord) {
  EXPECT_EQ(refused({user().paths(Key::sockets, {"/run/docker.sock"})}),
            kMine +
                ":1: sockets: \"/run/docker.sock\" controls this machine: starts containers "
                "with any part of the host in them [add unsafe = [\"control_sockets\"] if you "
                "intend this]");
  EXPECT_EQ(applied({user()
                         .paths(Key::sockets, {"/run/docker.sock"})
                         .names(Key::unsafe_grants, {"control_sockets"})})
                .sockets.size(),
            1u);
}

// --- Merging ---

const Layer kProject = project()
                           .set(Key::network, "allowlist")
                           .names(Key::network_udp, {"10.0.0.1:53"})
                           .names(Key::network_publish, {"127.0.0.1:80:80"})
                           .names(Key::network_host_ports, {"5432"})
                           .paths(Key::sockets, {"/run/x.sock"});

TEST(NetworkSettingsTest, AProjectAddsNothingByItself) {
  const Effective effective = merge(std::vector<Layer>{kProject}, Approval::none);
  EXPECT_EQ(effective.refused.size(), 5u);
  for (const Key key :
       {Key::network_udp, Key::network_publish, Key::network_host_ports, Key::sockets})
    EXPECT_THAT(texts_of(effective.settings, key), IsEmpty());
  EXPECT_EQ(to_text(effective.refused.back()),
            ".coop/policy.toml:5: sockets = \"/run/x.sock\" is wider than [] (built-in) and not "
            "approved");
  const Policy approved = applied({kProject}, Approval::given);
  EXPECT_EQ(approved.allow_udp.size() + approved.publish.size() + approved.host_ports.size() +
                approved.sockets.size(),
            4u);
  // What the user has granted already is not new.
  EXPECT_THAT(
      merge(std::vector<Layer>{{Scope::user, kProject.settings}, kProject}, Approval::none).refused,
      IsEmpty());
}

// An open network refuses some addresses: an untrusted repository does not open them, in any table.
TEST(NetworkSettingsTest, AProjectOpensNoAddressOfAnOpenNetwork) {
  const auto refused = [](const char* host) {
    const Layer yours = user().set(Key::network, Scalar("full"));
    const Layer theirs = project().names(Key::network_allow, {host});
    return !merge(std::vector<Layer>{yours, theirs}, Approval::none).refused.empty();
  };
  EXPECT_FALSE(refused("example.com"));
  for (const char* host : {"10.0.0.1", "168.63.129.16", "192.0.2.0/24", "8.8.8.8", "2001:db8::/32"})
    EXPECT_TRUE(refused(host)) << host;
}

// --- The ceiling ---

bool is_beyond(const Settings& ceiling, Key key, const char* text) {
  const Layer asked = key == Key::sockets ? user().paths(key, {text}) : user().names(key, {text});
  return !beyond(ceiling, asked.settings).empty();
}

TEST(NetworkSettingsTest, TheCeilingNamesWhatMayBeAskedFor) {
  const Settings ceiling = organisation()
                               .set(Key::network, "allowlist")
                               .names(Key::network_udp, {"10.0.0.0/8:53"})
                               .names(Key::network_publish, {"0.0.0.0:80:80"})
                               .names(Key::network_host_ports, {"5432"})
                               .paths(Key::sockets, {"/run/x.sock"})
                               .settings();
  EXPECT_FALSE(is_beyond(ceiling, Key::network_udp, "10.1.1.1:53"));
  EXPECT_TRUE(is_beyond(ceiling, Key::network_udp, "10.1.1.1:54"));
  EXPECT_TRUE(is_beyond(ceiling, Key::network_udp, "0.0.0.0/0:53"));
  EXPECT_FALSE(is_beyond(ceiling, Key::network_publish, "0.0.0.0:80:80"));
  EXPECT_TRUE(is_beyond(ceiling, Key::network_publish, "127.0.0.1:80:80"));
  EXPECT_FALSE(is_beyond(ceiling, Key::network_host_ports, "5432"));
  EXPECT_TRUE(is_beyond(ceiling, Key::network_host_ports, "543"));
  EXPECT_FALSE(is_beyond(ceiling, Key::sockets, "/run/x.sock"));
  EXPECT_TRUE(is_beyond(ceiling, Key::sockets, "/run/x.sock/y"));
}

// Only a parsed value counts: the text of an item decides nothing.
TEST(NetworkSettingsTest, APortThatWasNotParsedGrantsNothing) {
  const Settings listed = organisation().set(Key::network, "allowlist").settings();
  Layer asked = user().names(Key::network_publish, {"127.0.0.1:80:80"});
  EXPECT_TRUE(beyond(listed, asked.settings).empty());
  EXPECT_EQ(applied({asked}).publish.size(), 1u);
  asked.settings.at(Key::network_publish).items.front().published.reset();
  EXPECT_FALSE(beyond(listed, asked.settings).empty());
  EXPECT_EQ(refused({asked}), kMine + ":1: \"127.0.0.1:80:80\" was not parsed []");
}

TEST(NetworkSettingsTest, ACeilingOnHostsIsNotGoneAround) {
  const Settings none = organisation().set(Key::network, "none").settings();
  const Settings hosts = organisation().names(Key::network_allow, {"a.com"}).settings();
  for (const Settings& ceiling : {none, hosts}) {
    EXPECT_TRUE(is_beyond(ceiling, Key::network_udp, "8.8.8.8:53"));
    EXPECT_TRUE(is_beyond(ceiling, Key::network_host_ports, "5432"));
    EXPECT_TRUE(is_beyond(ceiling, Key::network_publish, "0.0.0.0:80:80"));
  }
  // On this machine only: no host is reached, but "none" means none, unless the organisation lists ports.
  EXPECT_FALSE(is_beyond(hosts, Key::network_publish, "127.0.0.1:80:80"));
  for (const char* port : {"127.0.0.1:80:80", "[::1]:80:80", "8080:80"})
    EXPECT_TRUE(is_beyond(none, Key::network_publish, port)) << port;
  const Settings with_port = organisation()
                                 .set(Key::network, "none")
                                 .names(Key::network_publish, {"127.0.0.1:80:80"})
                                 .settings();
  EXPECT_FALSE(is_beyond(with_port, Key::network_publish, "127.0.0.1:80:80"));
  const Settings full = organisation().set(Key::network, "full").settings();
  EXPECT_FALSE(is_beyond(full, Key::network_host_ports, "5432"));
  EXPECT_FALSE(is_beyond(full, Key::network_publish, "0.0.0.0:80:80"));
  EXPECT_FALSE(is_beyond({}, Key::network_udp, "8.8.8.8:53"));
  const Settings denied = organisation().names(Key::network_deny, {"10.0.0.0/8"}).settings();
  EXPECT_TRUE(is_beyond(denied, Key::network_udp, "10.0.0.1:53"));
}

TEST(NetworkSettingsTest, ACeilingOnPathsBoundsSockets) {
  const Settings paths = organisation().paths(Key::writable_paths, {"/run"}).settings();
  EXPECT_TRUE(is_beyond(paths, Key::sockets, "/run/x.sock"));
  EXPECT_FALSE(is_beyond({}, Key::sockets, "/run/x.sock"));
}

// --- Differences ---

TEST(NetworkSettingsTest, DifferencesKnowWhatIsWider) {
  using Direction = Difference::Direction;
  const auto direction = [](Key key, const char* before, const char* after) {
    const std::vector<Difference> found =
        differences(user().names(key, {before}).settings(), user().names(key, {after}).settings());
    return found.size() == 1 ? found[0].direction : Direction::other;
  };
  EXPECT_EQ(direction(Key::network_udp, "10.0.0.1:53", "10.0.0.0/8:53"), Direction::wider);
  EXPECT_EQ(direction(Key::network_udp, "10.0.0.0/8:53", "10.0.0.1:53"), Direction::narrower);
  EXPECT_EQ(direction(Key::network_host_ports, "1", "2"), Direction::other);
}

}  // namespace
}  // namespace coop::policy
