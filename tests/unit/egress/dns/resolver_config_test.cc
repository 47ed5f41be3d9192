// What the host's files say about names.
#include "egress/dns/resolver_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temp_tree.h"

namespace coop::egress {
namespace {

using Texts = std::vector<std::string>;

TEST(ResolverConfigTest, TheFirstThreeServersCount) {
  EXPECT_EQ(parse_name_servers("# nameserver 9.9.9.9\n; nameserver 9.9.9.8\n"
                               "search example.com\noptions ndots:5 timeout:9\n"
                               "nameserver 192.0.2.1\n\tnameserver\t2001:db8::1 # a comment\r\n"
                               "nameserver\nnameserver none\nnameserver 192.0.2.1.5\n"
                               "nameserver fe80::1%eth0\nnameserver 192.0.2.4"),
            (Texts{"192.0.2.1", "2001:db8::1", "fe80::1%eth0"}));
  EXPECT_EQ(parse_name_servers(""), Texts{});
}

TEST(ResolverConfigTest, HostsAreReadInAnyCaseAndWithComments) {
  EXPECT_EQ(parse_hosts("127.0.0.1 localhost\n# 192.0.2.9 hidden\n"
                        "192.0.2.1\tBox.Example box # second\n2001:DB8::0:1 box.example\r\n"
                        "192.0.2.1 box\nnot-an-address name\n192.0.2.3 a/b 127.1 last."),
            (ResolverConfig::Hosts{{"localhost", {"127.0.0.1"}},
                                   {"box.example", {"192.0.2.1", "2001:db8::1"}},
                                   {"box", {"192.0.2.1"}},
                                   {"last", {"192.0.2.3"}}}));
}

TEST(ResolverConfigTest, WithoutFilesThisMachineIsAsked) {
  const Path nowhere = "/nowhere/at/all";
  const Result<ResolverConfig> config =
      read_resolver_config({.name_servers = nowhere, .hosts = nowhere});
  ASSERT_TRUE(config.has_value()) << to_text(config.error());
  EXPECT_EQ(config->servers, Texts{"127.0.0.1"});
  EXPECT_TRUE(config->hosts.empty());
}

TEST(ResolverConfigTest, AFileThatIsReplacedHasAnotherStamp) {
  const test::TempTree tree;
  const ResolverFiles files{.name_servers = tree / "resolv.conf", .hosts = tree / "hosts"};
  const std::vector<FileStamp> missing = stamps_of(files);
  std::ofstream(files.name_servers) << "nameserver 192.0.2.1\n";
  const Result<ResolverConfig> config = read_resolver_config(files);
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->servers, Texts{"192.0.2.1"});
  EXPECT_NE(config->stamps, missing);
  EXPECT_EQ(config->stamps, stamps_of(files));
  std::ofstream(tree / "new") << "nameserver 192.0.2.2\n";
  std::filesystem::rename(tree / "new", files.name_servers);
  EXPECT_NE(config->stamps, stamps_of(files));
}

}  // namespace
}  // namespace coop::egress
