#include "policy/destinations/forbidden_addresses.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/address.h"

namespace coop::policy {

namespace {

// No grant is suggested for credentials of the machine, nor for addresses that lead nowhere.
struct Row {
  const char* network;
  std::string_view reason;
  Remedy remedy = Remedy::allow_net;
};

// The first match names the reason: single addresses before the ranges around them.
constexpr std::array kRows4{
    Row{"169.254.169.254/32", "link-local (cloud metadata)", Remedy::none},
    Row{"169.254.170.2/32", "link-local (credentials of AWS containers)", Remedy::none},
    Row{"100.100.100.200/32", "shared (cloud metadata of Alibaba)", Remedy::none},
    Row{"168.63.129.16/32", "cloud metadata (of Azure)", Remedy::none},
    Row{"0.0.0.0/32", "unspecified: this machine", Remedy::host_port},
    Row{"0.0.0.0/8", "reserved: this network"},
    Row{"10.0.0.0/8", "private"},
    Row{"100.64.0.0/10", "shared (carrier-grade NAT)"},
    Row{"127.0.0.0/8", "loopback: this machine", Remedy::host_port},
    Row{"169.254.0.0/16", "link-local"},
    Row{"172.16.0.0/12", "private"},
    Row{"192.0.0.0/24", "reserved for protocols"},
    Row{"192.0.2.0/24", "for documentation"},
    Row{"192.88.99.0/24", "a 6to4 relay"},
    Row{"192.168.0.0/16", "private"},
    Row{"198.18.0.0/15", "for benchmarks", Remedy::none},
    Row{"198.51.100.0/24", "for documentation"},
    Row{"203.0.113.0/24", "for documentation"},
    Row{"224.0.0.0/4", "multicast"},
    Row{"255.255.255.255/32", "broadcast"},
    Row{"240.0.0.0/4", "reserved"},
};

constexpr std::array kRows6{
    Row{"fd00:ec2::254/128", "private (cloud metadata of AWS)", Remedy::none},
    Row{"fd20:ce::254/128", "private (cloud metadata of Google)", Remedy::none},
    Row{"::/128", "unspecified: this machine", Remedy::host_port},
    Row{"::1/128", "loopback: this machine", Remedy::host_port},
    Row{"::/96", "an IPv4 address in IPv6 form (compatible)", Remedy::none},
    Row{"::ffff:0:0/96", "an IPv4 address in IPv6 form (mapped)", Remedy::none},
    Row{"::ffff:0:0:0/96", "an IPv4 address in IPv6 form (translated)", Remedy::none},
    Row{"64:ff9b::/96", "an IPv4 address in IPv6 form (NAT64)", Remedy::none},
    Row{"64:ff9b:1::/48", "an IPv4 address in IPv6 form (NAT64)", Remedy::none},
    Row{"100::/64", "discarded"},
    Row{"2001::/32", "an IPv4 address in IPv6 form (Teredo)", Remedy::none},
    Row{"2001::/23", "reserved for protocols"},
    Row{"2001:db8::/32", "for documentation"},
    Row{"2002::/16", "an IPv4 address in IPv6 form (6to4)", Remedy::none},
    Row{"3fff::/20", "for documentation"},
    Row{"fc00::/7", "private (unique local)"},
    Row{"fe80::/10", "link-local"},
    Row{"fec0::/10", "private (site-local)"},
    Row{"ff00::/8", "multicast"},
    // Only 2000::/3 has been given out for the internet.
    Row{"::/3", "reserved"},
    Row{"4000::/2", "reserved"},
    Row{"8000::/1", "reserved"},
};

struct Range {
  Prefix prefix;
  Forbidden forbidden;
};

// A row that cannot be read forbids everything of its family: a mistake in the table must not open anything.
std::vector<Range> read(std::span<const Row> rows, std::size_t size) {
  std::vector<Range> ranges;
  for (const Row& row : rows) {
    const Prefix everything = prefix_of(std::string(size, '\0'), 0);
    ranges.push_back({parse_prefix(row.network).value_or(everything),
                      {.reason = row.reason, .remedy = row.remedy}});
  }
  return ranges;
}

const std::vector<Range>& ranges(int family) {
  static const std::vector<Range> kFour = read(kRows4, 4);
  static const std::vector<Range> kSix = read(kRows6, 16);
  return family == AF_INET ? kFour : kSix;
}

std::vector<Prefix> outermost(const std::vector<Range>& all) {
  std::vector<Prefix> networks;
  for (const Range& range : all)
    if (std::ranges::none_of(all, [&range](const Range& other) {
          return other.prefix != range.prefix && is_within(range.prefix, other.prefix);
        }))
      networks.push_back(range.prefix);
  return networks;
}

}  // namespace

std::optional<Forbidden> forbidden(const Prefix& network) {
  const std::vector<Range>& all = ranges(network.address.size() == 4 ? AF_INET : AF_INET6);
  const auto found =
      std::ranges::find_if(all, [&](const Range& range) { return overlap(network, range.prefix); });
  return found == all.end() ? std::nullopt : std::optional(found->forbidden);
}

const std::vector<Prefix>& forbidden_networks(int family) {
  static const std::vector<Prefix> kFour = outermost(ranges(AF_INET));
  static const std::vector<Prefix> kSix = outermost(ranges(AF_INET6));
  return family == AF_INET ? kFour : kSix;
}

}  // namespace coop::policy
