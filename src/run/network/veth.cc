#include "run/network/veth.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/address.h"
#include "run/network/freeze.h"
#include "sys/netlink/addressing.h"
#include "sys/netlink/nftables.h"
#include "sys/netlink/socket.h"

namespace coop::run {

namespace {

constexpr std::int32_t kAfterRouting = 100;
constexpr std::string_view kLinkPrefix = "coop-";  // as the plan names them
constexpr std::uint32_t kFirstLink = 1'000'000;    // our range of ifindex values, far above others
constexpr std::uint32_t kInsideLink = 100;         // as in the plan's ConfigureLink

// The kernel accepts an ifindex for the peer only together with one for this end.
void make_link(netlink::NetlinkBatch& batch, const std::string& name, std::uint32_t index,
               int pid) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  batch.begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, netlink::bytes_of(header));
  batch.text(IFLA_IFNAME, name);
  batch.open(IFLA_LINKINFO);
  batch.text(IFLA_INFO_KIND, "veth");
  batch.open(IFLA_INFO_DATA);
  batch.open(VETH_INFO_PEER);
  ifinfomsg peer{};
  peer.ifi_index = kInsideLink;
  batch.raw(netlink::bytes_of(peer));
  batch.text(IFLA_IFNAME, "eth0");
  batch.number(IFLA_NET_NS_PID, static_cast<std::uint32_t>(pid));
  batch.close();
  batch.close();
  batch.close();
  batch.end();
}

Result<void> check_forwarding() {
  const Result<std::string> on = read_file("/proc/sys/net/ipv4/ip_forward");
  if (on && on->starts_with('1')) return {};
  return unsupported("--network veth", "this host forwards no packets",
                     "sysctl -w net.ipv4.ip_forward=1, or use --network full");
}

// The kernel removes it with the sandbox's network namespace too, but later; so it may be gone.
void remove_link(netlink::NetlinkSocket& links, std::uint32_t index) {
  netlink::NetlinkBatch batch;
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  batch.begin(RTM_DELLINK, 0, netlink::bytes_of(header));
  batch.end();
  [[maybe_unused]] const Result<void> ignored = links.send(batch, "remove the link");
}

class Link final : public Provider {
 public:
  Link(const NetworkPlan& plan, netlink::NetlinkSocket rules, netlink::NetlinkSocket links,
       std::uint32_t index)
      : name_(plan.link),
        allowed_(plan.allow),
        rules_(std::move(rules)),
        links_(std::move(links)),
        index_(index) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() override { remove_link(links_, index_); }

  // Over IPv6 nothing passes.
  Result<void> refuse(const std::vector<Prefix>& further) override {
    netlink::Ruleset rules(AF_INET, name_, netlink::Ruleset::Life::of_socket);
    add_further_rules(rules, AF_INET, "forward", name_, {further, allowed_, {}});
    for (const netlink::NetlinkBatch& batch : rules.finish())
      TRY(rules_.send(batch, "add to the rules of the link"));
    return {};
  }

 private:
  std::string name_;
  std::vector<DestinationRule> allowed_;
  netlink::NetlinkSocket rules_;  // closing it removes the rules
  netlink::NetlinkSocket links_;
  std::uint32_t index_;
};

// Packets from the sandbox go to the internet only: not to this machine, not to its local networks.
// And no connection from outside reaches the sandbox.
Result<void> make_rules(netlink::NetlinkSocket& socket, const NetworkPlan& plan,
                        const std::string& name, const Prefix& subnet) {
  netlink::Ruleset rules(AF_INET, name, netlink::Ruleset::Life::of_socket);
  rules.add_chain("postrouting", {"nat", NF_INET_POST_ROUTING, kAfterRouting});
  rules.masquerade("postrouting", {.source = subnet});
  rules.add_chain("input", {"filter", NF_INET_LOCAL_IN, 0});
  rules.accept("input", {.in = name, .answer = true});
  rules.reject("input", {.in = name});
  rules.add_chain("forward", {"filter", NF_INET_FORWARD, 0});
  rules.accept("forward", {.in = name, .answer = true});
  rules.accept("forward", {.out = name, .answer = true});
  rules.drop("forward", {.out = name});
  add_neighbour_rules(rules, AF_INET, "forward", name, {plan.neighbours, plan.allow, plan.deny});
  for (const netlink::NetlinkBatch& batch : rules.finish())
    TRY(socket.send(batch, "make the rules of the link"));
  if (!plan.ipv6) return {};
  // Both ends get IPv6 link-local addresses automatically. Drop all IPv6.
  netlink::Ruleset six(AF_INET6, name, netlink::Ruleset::Life::of_socket);
  six.add_chain("input", {"filter", NF_INET_LOCAL_IN, 0});
  six.drop("input", {.in = name});
  six.add_chain("forward", {"filter", NF_INET_FORWARD, 0});
  six.drop("forward", {.in = name});
  six.drop("forward", {.out = name});
  for (const netlink::NetlinkBatch& batch : six.finish())
    TRY(socket.send(batch, "make the rules of the link for IPv6"));
  return {};
}

bool has_rules(netlink::NetlinkSocket& tables, const std::string& name) {
  const nfgenmsg header{.nfgen_family = AF_INET, .version = NFNETLINK_V0, .res_id = 0};
  netlink::NetlinkBatch batch;
  batch.begin(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE, 0, netlink::bytes_of(header));
  batch.text(NFTA_TABLE_NAME, name);
  batch.end();
  const Result<void> found = tables.send(batch, "find the rules of a link");
  return found || found.error().errno_value != ENOENT;
}

// If coop was killed, connections that are closing keep their namespace, and with it the veth pair,
// for minutes. The rules were removed with coop's socket, and a pair in use always has rules: they
// are added first and removed last. So remove pairs without rules.
Result<void> remove_links_without_rules(netlink::NetlinkSocket& links) {
  netlink::NetlinkSocket tables = TRY(netlink::NetlinkSocket::open(NETLINK_NETFILTER));
  const std::unique_ptr<struct if_nameindex, decltype(&::if_freenameindex)> all(
      ::if_nameindex(), &::if_freenameindex);
  for (const struct if_nameindex* one = all.get(); one != nullptr && one->if_index != 0; ++one) {
    const std::string name = one->if_name;
    if (one->if_index < kFirstLink || !name.starts_with(kLinkPrefix)) continue;  // not ours
    if (!has_rules(tables, name)) remove_link(links, one->if_index);
  }
  return {};
}

// An ifindex in use is an error; try the next one.
Result<std::uint32_t> make_numbered_link(netlink::NetlinkSocket& links, const std::string& name,
                                         int pid) {
  constexpr int kAttempts = 16;
  std::uint32_t index = kFirstLink + static_cast<std::uint32_t>(pid) * 16;
  for (int attempt = 1;; ++attempt, ++index) {
    netlink::NetlinkBatch batch;
    make_link(batch, name, index, pid);
    Result<void> made = links.send(batch, "make the link " + name);
    if (made) return index;
    const int error = made.error().errno_value;
    if ((error != EBUSY && error != EEXIST) || attempt == kAttempts)
      return std::unexpected(std::move(made).error());
  }
}

}  // namespace

Result<std::unique_ptr<Provider>> lay_link(const NetworkPlan& plan, int pid) {
  TRY(check_forwarding());
  const std::string name = plan.link;
  const std::string address = address_bytes(plan.subnet).value_or(std::string(4, '\0'));
  const Prefix subnet = prefix_of(address, 30);
  netlink::NetlinkSocket rules = TRY(netlink::NetlinkSocket::open(NETLINK_NETFILTER));
  netlink::NetlinkSocket links = TRY(netlink::NetlinkSocket::open(NETLINK_ROUTE));
  TRY(remove_links_without_rules(links));
  // The rules come first: at no moment is the link unfiltered.
  TRY(make_rules(rules, plan, name, subnet));
  const std::uint32_t index = TRY(make_numbered_link(links, name, pid));
  auto link = std::make_unique<Link>(plan, std::move(rules), std::move(links), index);
  netlink::NetlinkSocket addresses = TRY(netlink::NetlinkSocket::open(NETLINK_ROUTE));
  netlink::NetlinkBatch batch;
  netlink::add_address(batch, index, address, 30);
  netlink::raise_link(batch, index);
  TRY(addresses.send(batch, "give the link its address"));
  return link;
}

}  // namespace coop::run
