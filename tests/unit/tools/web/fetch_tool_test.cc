// The output of fetch_url for the model.
#include "tools/web/fetch_tool.h"

#include <gmock/gmock.h>

#include "egress/machine_addresses.h"
#include "loopback_server.h"
#include "policy/policy.h"
#include "support/destination_rule.h"

namespace coop::tools {
namespace {

using namespace coop::test;
using testing::HasSubstr;
using testing::StartsWith;

TEST(FetchUrlTest, GivesTheTextAndItsFacts) {
  Server server(
      always(response("404 Not Found", "Content-Type: text/html\r\n", "caf\xc3\xa9\x1b[2J\xe9")));
  const ToolOutput output = fetch_url({{"url", server.url("/")}}, no_resolver, kLoopback);
  EXPECT_EQ(output.text, "HTTP 404\nurl: " + server.url("/") +
                             "\ncontent type: text/html\n\ncafé\xef\xbf\xbd[2J\xef\xbf\xbd");
  const Json expected{{"outcome", "ok"},        {"status", 404},
                      {"url", server.url("/")}, {"content_type", "text/html"},
                      {"truncated", false},     {"size", 10}};
  EXPECT_EQ(output.structured, expected);
  EXPECT_FALSE(output.failed);
}

TEST(FetchUrlTest, SaysWhatWasCut) {
  Server server(always(response("200 OK", "", "h\xc3\xa9llo")));
  const ToolOutput output =
      fetch_url({{"url", server.url("/")}, {"max_bytes", 2}}, no_resolver, kLoopback);
  EXPECT_EQ(output.text, "HTTP 200\nurl: " + server.url("/") +
                             "\ncontent type: not given\ncut after 2 bytes\n\nh\xef\xbf\xbd");
  const Json expected{{"outcome", "ok"},    {"status", 200},     {"url", server.url("/")},
                      {"content_type", ""}, {"truncated", true}, {"size", 2}};
  EXPECT_EQ(output.structured, expected);
}

TEST(FetchUrlTest, OfWhatIsNotTextOnlyTypeAndSizeAreGiven) {
  using namespace std::literals;
  for (const std::string& body :
       {"\x89PNG\r\n\x1a\n\0\0"s, "\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe"s}) {
    Server server(always(response("200 OK", "Content-Type: image/png\r\n", body)));
    const ToolOutput output = fetch_url({{"url", server.url("/")}}, no_resolver, kLoopback);
    EXPECT_EQ(output.text, "HTTP 200\nurl: " + server.url("/") +
                               "\ncontent type: image/png\n\n[not text: image/png, 10 bytes]\n");
  }
}

TEST(FetchUrlTest, RefusalsNameTheGuard) {
  const ToolOutput address = fetch_url({{"url", "http://169.254.169.254/"}}, no_resolver);
  EXPECT_TRUE(address.failed);
  EXPECT_THAT(address.text,
              HasSubstr("address guard: 169.254.169.254 is link-local (cloud metadata)"));
  EXPECT_EQ(address.structured["outcome"], "refused");
  EXPECT_EQ(address.structured["denials"][0]["rule"], "address guard");
  const ToolOutput url = fetch_url({{"url", "http://127.1/"}}, no_resolver);
  EXPECT_TRUE(url.failed);
  EXPECT_THAT(url.text, HasSubstr("url guard: \"127.1\" is an odd form of an address"));
}

Policy policy_with(NetworkMode mode, std::vector<DestinationRule> allowed,
                   std::vector<DestinationRule> denied = {}) {
  Policy policy;
  policy.network = mode;
  policy.allow_net = std::move(allowed);
  policy.deny_net = std::move(denied);
  return policy;
}

// Every name resolves to this machine, as with DNS rebinding; counts each query.
struct EveryName {
  std::vector<std::string> asked{};
  Resolver resolver() {
    return [this](const std::string& host) -> Result<std::vector<std::string>> {
      asked.push_back(host);
      return std::vector<std::string>{"127.0.0.1"};
    };
  }
};

Json denials(std::string_view what, std::string_view rule, std::string_view grant) {
  return Json::array({{{"what", what}, {"rule", rule}, {"grant", grant}}});
}

TEST(FetchUrlTest, OnlyListedHostsAreFetchedFromWhereThereIsAList) {
  Server server(always(response("200 OK", "", "hello")));
  const std::string port = ":" + std::to_string(server.port());
  const FetchRules rules = fetch_rules(
      policy_with(
          NetworkMode::allowlist,
          {{tests::destination("a.example" + port), Origin{Scope::user, "policy.toml", {3, 0}}},
           {tests::destination("127.0.0.1" + port), Origin{Scope::user, "policy.toml", {4, 0}}}},
          {{tests::destination("c.example"), Origin{Scope::user, "policy.toml", {9, 0}}}}),
      {});
  EveryName names;
  const auto fetched = [&](const std::string& url) {
    return fetch_url({{"url", url}}, names.resolver(), rules);
  };
  EXPECT_FALSE(fetched(server.url("/", "a.example")).failed);
  EXPECT_EQ(names.asked, std::vector<std::string>{"a.example"});

  const ToolOutput other = fetched(server.url("/", "b.example"));
  EXPECT_EQ(other.structured["outcome"], "refused");
  EXPECT_EQ(other.structured["denials"],
            denials("fetch http://b.example" + port + "/: b.example port " + port.substr(1) +
                        " is not on the list of allowed hosts",
                    "no rule allows it", "--allow-net b.example" + port));
  const ToolOutput denied = fetched("https://c.example/");
  EXPECT_EQ(denied.structured["denials"][0]["rule"], "policy.toml:9 c.example");
  EXPECT_TRUE(fetched("http://a.example/").failed);  // another port
  EXPECT_EQ(names.asked.size(), 1U);                 // refused names are not queried
}

TEST(FetchUrlTest, RedirectsAreHeldToTheListToo) {
  Server server(always(response("302 Found", "Location: http://b.example/\r\n", "")));
  const std::string port = ":" + std::to_string(server.port());
  EveryName names;
  const DestinationRule name{tests::destination("a.example" + port), {}};
  const DestinationRule address{tests::destination("127.0.0.1" + port), {}};
  const ToolOutput output =
      fetch_url({{"url", server.url("/", "a.example")}}, names.resolver(),
                fetch_rules(policy_with(NetworkMode::allowlist, {name, address}), {}));
  EXPECT_EQ(output.structured["denials"][0]["grant"], "--allow-net b.example");
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(names.asked, std::vector<std::string>{"a.example"});
}

TEST(FetchUrlTest, ListedNamesDoNotLeadToAddressesNearbyOrDenied) {
  Server server(always(response("200 OK", "", "hello")));
  const std::string port = ":" + std::to_string(server.port());
  EveryName names;
  const auto rule = [&](const Policy& policy) {
    const ToolOutput output = fetch_url({{"url", server.url("/", "a.example")}}, names.resolver(),
                                        fetch_rules(policy, {}));
    return output.failed ? output.structured["denials"][0]["rule"].get<std::string>() : "";
  };
  const DestinationRule name{tests::destination("a.example" + port),
                             Origin::of_flag("--allow-net")};
  const DestinationRule address{tests::destination("127.0.0.0/8"),
                                Origin::of_flag("--allow-net")};  // of the usual ports
  EXPECT_EQ(rule(policy_with(NetworkMode::allowlist, {name})), "address guard");
  EXPECT_EQ(rule(policy_with(NetworkMode::allowlist, {name, address})), "address guard");
  EXPECT_EQ(rule(policy_with(NetworkMode::full, {})), "no rule allows it");
  const DestinationRule this_one{tests::destination("127.0.0.1" + port),
                                 Origin::of_flag("--allow-net")};
  EXPECT_EQ(rule(policy_with(NetworkMode::allowlist, {name, this_one})), "");
  // There, a program connects to its own loopback.
  EXPECT_EQ(rule(policy_with(NetworkMode::veth, {this_one})), "no rule allows it");
  EXPECT_EQ(rule(policy_with(NetworkMode::full, {},
                             {{tests::destination("*.example"), Origin::of_flag("--deny-net")}})),
            "--deny-net *.example");
  EXPECT_EQ(rule(policy_with(NetworkMode::host, {{tests::destination("127.0.0.1" + port),
                                                  Origin::of_flag("--allow-net")}})),
            "address guard");
  EXPECT_EQ(rule(policy_with(NetworkMode::none, {name})), "network = \"none\"");
  EXPECT_EQ(server.connections(), 1);
  // A public address that a rule denies.
  const ToolOutput denied = fetch_url(
      {{"url", "http://a.example/"}},
      [](const std::string&) -> Result<std::vector<std::string>> {
        return std::vector<std::string>{"1.2.3.4"};
      },
      fetch_rules(policy_with(NetworkMode::allowlist,
                              {{tests::destination("a.example"), Origin::of_flag("--allow-net")}},
                              {{tests::destination("1.2.0.0/16"), Origin::of_flag("--deny-net")}}),
                  {}));
  EXPECT_EQ(denied.structured["denials"][0]["rule"], "--deny-net 1.2.0.0/16");
}

// Addresses of this machine, a private network, the internet, and names for each.
TEST(FetchUrlTest, JudgesEveryAddressAsAProgramInsideIsJudged) {
  const auto machine = egress::MachineAddresses::open().value();
  const std::vector<Prefix> neighbours{tests::destination("9.9.9.0/24").network};
  std::vector<DestinationRule> allowed;
  for (const char* text : {"127.0.0.1", "127.0.0.0/8:81", "10.0.0.5", "2600::1", "198.18.0.0/15",
                           "9.9.9.7", "0.0.0.0/0", "[::1]:8080", "8.8.8.0/24:81"})
    allowed.push_back({tests::destination(text), Origin::of_flag("--allow-net")});
  for (const NetworkMode mode :
       {NetworkMode::none, NetworkMode::allowlist, NetworkMode::full, NetworkMode::veth}) {
    Policy policy = policy_with(mode, allowed,
                                {{tests::destination("8.8.8.8"), Origin::of_flag("--deny-net")}});
    policy.host_ports = {{8080, Origin::of_flag("--host-port")}};
    policy.allow_udp = {{tests::destination("9.9.9.10:81"), Origin::of_flag("--allow-udp")}};
    const policy::SandboxNetwork network = policy::sandbox_network(policy, neighbours);
    for (const char* host : {"127.0.0.1", "127.0.0.2", "0.0.0.0", "[::1]", "10.0.0.5", "10.0.0.6",
                             "[2600::1]", "[2600::2]", "198.18.7.7", "9.9.9.7", "9.9.9.10",
                             "8.8.8.8", "8.8.8.9", "169.254.169.254", "[fd00::1]"})
      for (const char* port : {":80", ":81", ":8080"}) {
        const Destination asked = tests::destination(std::string(host) + port);
        const policy::Verdict verdict = policy::judge_inside(
            network, asked, [&](const Prefix& address) { return machine.forbidden(address); });
        const ToolOutput output =
            fetch_url({{"url", "http://" + std::string(host) + port}}, no_resolver,
                      fetch_rules(policy, neighbours), {.time = std::chrono::milliseconds(0)});
        const bool reachable = verdict.allowed() && verdict.reason != policy::Reason::datagrams;
        EXPECT_EQ(output.structured.value("outcome", "") != "refused", reachable)
            << to_text(mode) << " " << host << port << ": " << output.text;
      }
  }
}

TEST(FetchUrlTest, APortOfTheHostIsFetchedFromAsLocalhost) {
  Server server(always(response("200 OK", "", "hello")));
  Policy policy = policy_with(NetworkMode::none, {});
  const std::string url = server.url("/", "localhost");
  EXPECT_TRUE(fetch_url({{"url", url}}, no_resolver, fetch_rules(policy, {})).failed);
  policy.host_ports = {{server.port(), Origin::of_flag("--host-port")}};
  EXPECT_FALSE(fetch_url({{"url", url}}, no_resolver, fetch_rules(policy, {})).failed);
  EXPECT_FALSE(fetch_url({{"url", server.url("/")}}, no_resolver, fetch_rules(policy, {})).failed);
  policy.network = NetworkMode::full;
  EXPECT_FALSE(fetch_url({{"url", url}}, no_resolver, fetch_rules(policy, {})).failed);
  EXPECT_EQ(server.connections(), 3);
  // Not by another name, which may be an attacker's.
  EveryName names;
  EXPECT_TRUE(
      fetch_url({{"url", server.url("/", "a.example")}}, names.resolver(), fetch_rules(policy, {}))
          .failed);
  EXPECT_EQ(server.connections(), 3);
}

TEST(FetchUrlTest, ALocalNameIsFetchedFromWhereARuleNamesIt) {
  Server server(always(response("200 OK", "", "hello")));
  const std::string port = ":" + std::to_string(server.port());
  const auto asked_for = [&](const std::string& host, std::vector<DestinationRule> allowed,
                             NetworkMode mode) {
    EveryName names;
    allowed.push_back({tests::destination("127.0.0.1" + port), Origin::of_flag("--allow-net")});
    fetch_url({{"url", server.url("/", host)}}, names.resolver(),
              fetch_rules(policy_with(mode, std::move(allowed)), {}));
    return !names.asked.empty();
  };
  for (const char* host : {"db.internal", "printer.local", "intranet"}) {
    const DestinationRule rule{tests::destination(host + port), Origin::of_flag("--allow-net")};
    for (const NetworkMode mode : {NetworkMode::allowlist, NetworkMode::full}) {
      EXPECT_FALSE(asked_for(host, {}, mode)) << host;
      EXPECT_TRUE(asked_for(host, {rule}, mode)) << host;
    }
  }
  EXPECT_EQ(server.connections(), 3);
  const DestinationRule metadata{tests::destination("metadata.google.internal" + port), {}};
  EXPECT_FALSE(asked_for("metadata.google.internal", {metadata}, NetworkMode::allowlist));
  const DestinationRule localhost{tests::destination("localhost" + port), {}};
  EXPECT_FALSE(asked_for("localhost", {localhost}, NetworkMode::allowlist));
}

TEST(FetchUrlTest, OverVethOnlyTheIpv4AddressesOfANameAreUsed) {
  const auto fetched = [](std::vector<std::string> addresses) {
    return fetch_url(
        {{"url", "http://a.example/"}},
        [&](const std::string&) -> Result<std::vector<std::string>> { return addresses; },
        fetch_rules(policy_with(NetworkMode::veth, {}), {}),
        {.time = std::chrono::milliseconds(0)});
  };
  EXPECT_EQ(fetched({"2600::1"}).structured.value("outcome", ""), "refused");
  EXPECT_EQ(fetched({"2600::1", "8.8.8.8"}).structured.value("outcome", ""), "failed");
}

TEST(FetchUrlTest, AServerThatGivesNoAnswerIsAFailureAndNoRefusal) {
  Server server(always(""));
  const ToolOutput output = fetch_url({{"url", server.url("/")}}, no_resolver, kLoopback);
  EXPECT_TRUE(output.failed);
  EXPECT_THAT(output.text, StartsWith("fetch " + server.url("/") + ": "));
  EXPECT_EQ(output.structured.value("outcome", ""), "failed");
}

TEST(FetchUrlTest, OddArgumentsAreRefusedNotThrown) {
  const std::vector<Json> odd{Json::object(),
                              Json::array(),
                              Json(),
                              Json{{"url", 5}},
                              Json{{"url", "http://8.8.8.8/"}, {"max_bytes", "many"}},
                              Json{{"url", "http://8.8.8.8/"}, {"max_bytes", -1}},
                              Json{{"url", "http://8.8.8.8/"}, {"max_bytes", 0}}};
  for (const Json& arguments : odd) {
    const ToolOutput output = fetch_url(arguments, no_resolver);
    EXPECT_TRUE(output.failed);
    EXPECT_THAT(output.text, HasSubstr("fetch_url: "));
  }
}

}  // namespace
}  // namespace coop::tools
