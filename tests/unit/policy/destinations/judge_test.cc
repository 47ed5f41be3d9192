// The engine that says what may be reached.
#include "policy/destinations/judge.h"

#include <gtest/gtest.h>

#include "base/address.h"
#include "report/text.h"
#include "support/destination_rule.h"

namespace coop::policy {
namespace {

using tests::destination;
using tests::rule;
using Unlisted = DestinationRules::Unlisted;

DestinationRules rules() {
  return {
      .allowed = {rule("*.example.com", "--allow-net"),
                  rule("registry.example:5000", "--allow-net"), rule("9.9.9.0/24", "--allow-net")},
      .denied = {rule("bad.example.com", "--deny-net")}};
}

Verdict judged(const DestinationRules& rules, const char* asked) {
  return judge(rules, destination(asked), forbidden);
}

TEST(JudgeTest, TheVerdictNamesItsRule) {
  const DestinationRules list = rules();
  EXPECT_EQ(judged(list, "a.example.com:443"),
            (Verdict{.reason = Reason::allowed, .rule = list.allowed.data()}));
  EXPECT_EQ(judged(list, "bad.example.com:443"),
            (Verdict{.reason = Reason::denied, .rule = list.denied.data()}));
  EXPECT_EQ(judged(list, "a.example.com:22"),
            (Verdict{.reason = Reason::unlisted, .remedy = Remedy::allow_net}));
  EXPECT_EQ(judged(list, "registry.example:5000").rule, &list.allowed[1]);
  EXPECT_EQ(judged(list, "registry.example:443").reason, Reason::unlisted);
  EXPECT_EQ(judged(list, "9.9.9.7:80").rule, &list.allowed[2]);
  EXPECT_EQ(judged(list, "9.9.8.7:80").reason, Reason::unlisted);
  EXPECT_EQ(judged(list, "example.com.evil.example:443").reason, Reason::unlisted);
}

TEST(JudgeTest, ItsTextsAreWhatPeopleRead) {
  const DestinationRules list = rules();
  EXPECT_EQ(report::to_text(rule_of(judged(list, "a.example.com:443"))),
            "--allow-net *.example.com");
  EXPECT_EQ(report::to_text(rule_of(judged(list, "bad.example.com:443"))),
            "--deny-net bad.example.com");
  EXPECT_EQ(report::to_text(rule_of(judged(list, "a.example:443"))), "no rule allows it");
  EXPECT_EQ(report::to_text(rule_of({.reason = Reason::guarded})), "address guard");
}

TEST(JudgeTest, WithoutRulesNothingIsReached) {
  EXPECT_EQ(judged({}, "a.example:443").reason, Reason::unlisted);
  EXPECT_FALSE(may_resolve({}, "a.example"));
}

TEST(JudgeTest, OnlyNamesThatLeadSomewhereAreResolved) {
  EXPECT_TRUE(may_resolve(rules(), "a.example.com"));
  EXPECT_TRUE(may_resolve(rules(), "registry.example"));
  EXPECT_FALSE(may_resolve(rules(), "bad.example.com"));
  EXPECT_FALSE(may_resolve(rules(), "other.example"));
  DestinationRules one_port = rules();
  one_port.denied = {rule("a.example.com:22", "x")};
  EXPECT_TRUE(may_resolve(one_port, "a.example.com"));
}

TEST(JudgeTest, NoGrantIsSuggestedForCredentialsOrDeadEnds) {
  const auto grant = [](const char* asked) {
    return report::plain_text(grant_for(judged({}, asked).remedy, destination(asked)));
  };
  EXPECT_EQ(grant("example.com:443"), "--allow-net example.com");
  EXPECT_EQ(grant("[2600::1]:443"), "--allow-net 2600::1");
  EXPECT_EQ(grant("10.1.2.3:81"), "--allow-net 10.1.2.3:81");
  EXPECT_EQ(grant("127.0.0.1:5432"), "--host-port 5432");
  for (const char* asked : {"169.254.169.254:80", "198.18.0.77:80", "[64:ff9b::7f00:1]:80"})
    EXPECT_EQ(grant(asked), "") << asked;
}

TEST(JudgeTest, OnlyARuleThatNamesAForbiddenNetworkOpensIt) {
  const auto opens = [](const char* allowed, const char* asked) {
    return judged({.allowed = {rule(allowed, "--allow-net")}}, asked).allowed();
  };
  EXPECT_TRUE(opens("10.1.2.3", "10.1.2.3:80"));
  EXPECT_TRUE(opens("10.0.0.0/8", "10.1.2.3:443"));
  EXPECT_TRUE(opens("10.1.2.3:5432", "10.1.2.3:5432"));
  EXPECT_TRUE(opens("[fd00::1]:81", "[fd00::1]:81"));
  EXPECT_TRUE(opens("10.0.0.0/8:5000", "10.1.2.3:5000"));
  EXPECT_FALSE(opens("10.1.2.3", "10.1.2.3:5432"));
  for (const char* wide : {"0.0.0.0/0", "8.0.0.0/5", "128.0.0.0/1"}) {
    EXPECT_FALSE(opens(wide, "10.1.2.3:80")) << wide;
    EXPECT_FALSE(opens(wide, "169.254.169.254:80")) << wide;
  }
  EXPECT_FALSE(opens("::/0", "[fd00::1]:80"));
  const DestinationRules list{.allowed = {rule("10.0.0.0/8", "a")},
                              .denied = {rule("10.1.0.0/16", "b")}};
  EXPECT_EQ(judged(list, "10.1.2.3:80").rule, list.denied.data());
}

TEST(JudgeTest, AnAddressOfThisMachineMustBeNamedAlone) {
  const auto opens = [](const char* allowed, const char* asked) {
    return judge({.allowed = {rule(allowed, "--allow-net")}}, destination(asked),
                 [](const Prefix&) { return Forbidden{.reason = "this machine's"}; })
        .allowed();
  };
  EXPECT_TRUE(opens("8.8.8.8", "8.8.8.8:80"));
  EXPECT_TRUE(opens("8.8.8.8/32:81", "8.8.8.8:81"));
  EXPECT_FALSE(opens("8.8.8.0/24", "8.8.8.8:80"));
}

TEST(JudgeTest, AMappedAddressPassesNoRule) {
  const Destination mapped = address_destination(address_bytes("::ffff:10.0.0.1").value(), 80);
  const DestinationRules open{.allowed = {rule("10.0.0.0/8", "a"), rule("::/0", "a")}};
  EXPECT_EQ(judge(open, mapped, forbidden).reason, Reason::guarded);
  const DestinationRules denied{.allowed = {rule("::/64", "a")},
                                .denied = {rule("10.0.0.0/8", "b")}};
  EXPECT_EQ(judge(denied, mapped, forbidden).reason, Reason::denied);
}

TEST(JudgeTest, AddressesOfAnAllowedNameAreGuardedToo) {
  const DestinationRules list{.allowed = {rule("a.example", "a"), rule("10.0.0.5", "a")},
                              .denied = {rule("9.9.0.0/16", "b")}};
  const auto found = [&](const char* address) {
    return judge_found(list, destination(address), forbidden).reason;
  };
  EXPECT_EQ(found("8.8.8.8:443"), Reason::open);
  EXPECT_EQ(found("10.0.0.5:443"), Reason::open);
  EXPECT_EQ(found("10.0.0.6:443"), Reason::guarded);
  EXPECT_EQ(found("9.9.9.9:443"), Reason::denied);
}

TEST(JudgeTest, AnOpenNetworkIsTheInternetWithoutTheNeighbours) {
  const DestinationRules list{.allowed = {rule("9.9.9.7", "a"), rule("9.9.9.0/28", "a")},
                              .unlisted = Unlisted::open,
                              .neighbours = {destination("9.9.9.0/24").network}};
  EXPECT_EQ(judged(list, "8.8.8.8:22").reason, Reason::open);
  EXPECT_EQ(judged(list, "a.example:22").reason, Reason::open);
  EXPECT_EQ(judged(list, "9.9.9.99:443").address_is, "in a network of this machine");
  EXPECT_EQ(judged(list, "9.9.9.7:443").reason, Reason::allowed);
  EXPECT_EQ(judged(list, "9.9.9.8:80").reason, Reason::allowed);
  EXPECT_EQ(judged(list, "9.9.9.7:22").reason, Reason::guarded);
  EXPECT_EQ(judged(list, "0.0.0.0/0").reason, Reason::guarded) << "it holds private networks";
}

std::vector<Prefix> networks(std::initializer_list<const char*> texts) {
  std::vector<Prefix> all;
  for (const char* text : texts) all.push_back(*parse_prefix(text));
  return all;
}

TEST(JudgeTest, OnlyWhatNoRuleRefusesYetIsAdded) {
  const std::vector<Prefix> known = networks({"9.9.9.0/24", "2600:1234::/64"});
  EXPECT_EQ(not_refused_yet(known, known), networks({}));
  // Private, of a known network, and a default route that TPROXY made local.
  EXPECT_EQ(not_refused_yet(known, networks({"10.1.2.3", "9.9.9.128/25", "2600:1234::5",
                                             "0.0.0.0/0", "::/0", "fe80::1", "203.0.113.0/24"})),
            networks({}));
  // Each once, the widest alone; one that holds a known one is further.
  EXPECT_EQ(not_refused_yet(known, networks({"7.7.7.7", "9.9.0.0/16", "7.7.7.0/24", "9.9.8.1",
                                             "7.7.7.7", "2600:1234:0:1::/64", "7.7.8.1"})),
            networks({"9.9.0.0/16", "7.7.7.0/24", "7.7.8.1", "2600:1234:0:1::/64"}));
}

// --- What a program inside gets ---

Verdict inside(NetworkMode mode, const char* asked) {
  static Policy policy;
  static SandboxNetwork network;
  policy = {.network = mode,
            .allow_net = {rule("a.example", "--allow-net"), rule("10.0.0.5", "--allow-net")},
            .deny_net = {rule("9.9.9.9", "--deny-net")},
            .allow_udp = {rule("8.8.4.4:53", "--allow-udp")},
            .host_ports = {{5432, Origin::of_flag("--host-port")}}};
  network = sandbox_network(policy, {destination("7.7.7.0/24").network});
  return judge_inside(network, destination(asked), [](const Prefix& address) {
    std::optional<Forbidden> found = forbidden(address);
    if (address == destination("7.7.7.7").network) found = Forbidden{.machine = true};
    return found;
  });
}

TEST(JudgeInsideTest, EachModeHasItsReasons) {
  using enum NetworkMode;
  EXPECT_EQ(inside(host, "10.0.0.1").reason, Reason::shared_network);
  for (const NetworkMode mode : {none, allowlist, full, veth}) {
    EXPECT_EQ(inside(mode, "localhost:5432").reason, Reason::host_port);
    EXPECT_EQ(inside(mode, "127.0.0.1:5433").reason, Reason::inside);
    EXPECT_EQ(inside(mode, "0.0.0.0:5432").reason, Reason::host_port);
    EXPECT_EQ(inside(mode, "127.0.0.2:5432").reason, Reason::inside) << "nothing listens there";
    EXPECT_EQ(inside(mode, "9.9.9.9:80").reason, Reason::denied);
  }
  EXPECT_EQ(inside(none, "a.example").reason, Reason::no_network);
  EXPECT_EQ(inside(allowlist, "a.example").reason, Reason::allowed);
  EXPECT_EQ(inside(allowlist, "b.example").reason, Reason::unlisted);
  EXPECT_EQ(inside(allowlist, "10.0.0.5").reason, Reason::allowed);
  EXPECT_EQ(inside(allowlist, "198.18.1.1").reason, Reason::name_addresses);
  EXPECT_EQ(inside(allowlist, "8.8.4.4:53").reason, Reason::datagrams);
  for (const NetworkMode mode : {full, veth}) {
    EXPECT_EQ(inside(mode, "b.example").reason, Reason::open);
    EXPECT_EQ(inside(mode, "8.8.8.8").reason, Reason::open);
    EXPECT_EQ(inside(mode, "10.0.0.5").reason, Reason::allowed);
    EXPECT_EQ(inside(mode, "10.0.0.6").reason, Reason::guarded);
    EXPECT_EQ(inside(mode, "7.7.7.1").reason, Reason::guarded);
    EXPECT_EQ(inside(mode, "7.7.7.7").reason, Reason::machine);
  }
  EXPECT_EQ(inside(full, "2600::1").reason, Reason::open);
  EXPECT_EQ(inside(veth, "2600::1").reason, Reason::only_ipv4);
}

}  // namespace
}  // namespace coop::policy
