// Groups of hosts: what each stands for, and what is refused.
#include "policy/destinations/host_groups.h"

#include <gmock/gmock.h>

#include "coop/destination.h"
#include "policy/builtin.h"
#include "policy/destinations/judge.h"

namespace coop::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> hosts(std::string_view text, Portless portless = Portless::usual) {
  std::vector<std::string> result;
  const Result<HostGroup> group = parse_group(text, portless);
  EXPECT_TRUE(group.has_value()) << text;
  if (group)
    for (const Destination& host : group->hosts) result.push_back(to_text(host));
  return result;
}

std::string refused(std::string_view text) {
  const Result<HostGroup> group = parse_group(text, Portless::usual);
  return group ? "accepted" : group.error().subject + " [" + group.error().hint + "]";
}

TEST(HostGroupsTest, AGroupIsItsLinesInTheList) {
  std::vector<std::string> listed;
  for (const HostEntry& entry : host_list())
    if (entry.group == "gitlab") listed.emplace_back(entry.host);
  EXPECT_EQ(hosts("@gitlab"), listed);
  EXPECT_EQ(hosts("@GitLab"), listed);
  EXPECT_EQ(parse_group("@GitLab:22", Portless::usual)->text, "@gitlab:22");
}

TEST(HostGroupsTest, APortIsWhatTheGroupCoversOfIt) {
  EXPECT_THAT(hosts("@github:22"), ElementsAre("github.com:22"));
  EXPECT_THAT(hosts("@bitbucket:443"), ElementsAre("bitbucket.org:443", "api.bitbucket.org:443"));
  // A host that is denied without a port is denied at every port.
  EXPECT_THAT(hosts("@bitbucket:22", Portless::every),
              ElementsAre("bitbucket.org:22", "api.bitbucket.org:22"));
  EXPECT_THAT(hosts("@rust:8080", Portless::every), ElementsAre("static.rust-lang.org:8080"));
}

TEST(HostGroupsTest, OtherTextsAreRefused) {
  const std::string list = "`coop policy hosts` lists all groups]";
  EXPECT_EQ(refused("@githb"),
            "\"@githb\" is not a group of hosts [did you mean \"@github\"? " + list);
  EXPECT_EQ(refused("@githb:22"),
            "\"@githb\" is not a group of hosts [did you mean \"@github\"? " + list);
  EXPECT_EQ(refused("@"), "\"@\" is not a group of hosts [" + list);
  EXPECT_EQ(refused(""), "\"\" is not a group of hosts [" + list);
  EXPECT_EQ(refused("github"),
            "\"github\" is not a group of hosts [did you mean \"@github\"? " + list);
  EXPECT_EQ(refused("@github.com"), "\"@github.com\" is not a group of hosts [" + list);
  EXPECT_EQ(refused("@*"), "\"@*\" is not a group of hosts [" + list);
  EXPECT_EQ(refused("@npm:22"),
            "\"@npm:22\" stands for nothing: the group has no host at port 22 "
            "[`coop policy hosts @npm` lists its hosts]");
  for (const char* text : {"@npm:", "@npm:0", "@npm:x", "@npm:443:443", "@npm:65536"})
    EXPECT_THAT(refused(text), testing::HasSubstr("needs a port from 1 to 65535")) << text;
  EXPECT_THAT(refused("@" + std::string(100000, 'a')), testing::HasSubstr("is not a group"));
}

// One host is expected: of a program's own rule, of UDP, of `policy explain`.
TEST(HostGroupsTest, AGroupIsNotADestination) {
  EXPECT_EQ(parse_destination("@github").error().subject,
            "\"@github\" stands for a group of hosts, and one host is expected");
  EXPECT_EQ(parse_udp_destination("@github:53").error().subject,
            "\"@github:53\" stands for names of hosts, and UDP needs an address");
}

TEST(HostGroupsTest, TheListNamesHostsOfTheInternetOnly) {
  for (const HostEntry& entry : host_list()) {
    const Result<Destination> host = parse_destination(entry.host);
    ASSERT_TRUE(host.has_value()) << entry.host;
    EXPECT_EQ(to_text(*host), entry.host);
    EXPECT_NE(host->kind, Destination::Kind::network) << entry.host;
    EXPECT_TRUE(host->name.contains('.')) << entry.host << ": everything of a top-level domain";
    EXPECT_TRUE(!host->port || *host->port == 22) << entry.host << ": write no usual port";
  }
}

// What the rules of a group reach is what the list says, port by port, and nothing beside it.
TEST(HostGroupsTest, AGroupOpensExactlyWhatItLists) {
  for (const std::string_view name : group_names()) {
    const Result<HostGroup> group = parse_group("@" + std::string(name), Portless::usual);
    ASSERT_TRUE(group.has_value()) << name;
    DestinationRules rules;
    for (const Destination& host : group->hosts) rules.allowed.push_back({host, {}});
    const auto reached = [&](const std::string& text) {
      const Destination asked = parse_destination(text).value();
      return judge(rules, asked, forbidden).allowed();
    };
    for (const Destination& host : group->hosts) {
      const bool below = host.kind == Destination::Kind::wildcard;
      const std::string one = (below ? "any." : "") + host.name;
      EXPECT_EQ(reached(one + ":443"), !host.port || reached(one)) << one;
      EXPECT_TRUE(reached(one + ":" + std::to_string(host.port.value_or(80)))) << one;
      EXPECT_FALSE(reached(one + ":8443")) << one;
      EXPECT_FALSE(reached("evil" + host.name)) << one;
      EXPECT_FALSE(reached(one + ".evil.example")) << one;
    }
    EXPECT_FALSE(reached("evil.example")) << name;
    EXPECT_FALSE(reached("93.184.216.34:443")) << name;
  }
}

TEST(HostGroupsTest, AnOriginSaysItsGroup) {
  const Origin line{.scope = Scope::user, .file = "p.toml", .at = {3, 1}};
  EXPECT_EQ(group_of(line), "");
  EXPECT_EQ(in_group(line, ""), line);
  EXPECT_EQ(group_of(in_group(line, "@npm")), "@npm");
  // The name of a flag's value, of a cache or a guard is no group.
  EXPECT_THAT(group_of(Origin::of_flag("--cache", "@npm", Part::cache)), IsEmpty());
}

}  // namespace
}  // namespace coop::policy
