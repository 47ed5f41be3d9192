#include "policy/forbidden_addresses.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/address.h"

namespace coop::policy {

namespace {

struct Range {
  const char* first;
  unsigned bits;
  std::string_view reason;
};

// The first that fits names the reason: single addresses before the ranges around them.
constexpr std::array kForbidden4{
    Range{"169.254.169.254", 32, "link-local (cloud metadata)"},
    Range{"169.254.170.2", 32, "link-local (credentials of AWS containers)"},
    Range{"100.100.100.200", 32, "shared (cloud metadata of Alibaba)"},
    Range{"168.63.129.16", 32, "cloud metadata (of Azure)"},
    Range{"0.0.0.0", 32, "unspecified: this machine"},
    Range{"0.0.0.0", 8, "reserved: this network"},
    Range{"10.0.0.0", 8, "private"},
    Range{"100.64.0.0", 10, "shared (carrier-grade NAT)"},
    Range{"127.0.0.0", 8, "loopback: this machine"},
    Range{"169.254.0.0", 16, "link-local"},
    Range{"172.16.0.0", 12, "private"},
    Range{"192.0.0.0", 24, "reserved for protocols"},
    Range{"192.0.2.0", 24, "for documentation"},
    Range{"192.88.99.0", 24, "a 6to4 relay"},
    Range{"192.168.0.0", 16, "private"},
    Range{"198.18.0.0", 15, "for benchmarks"},
    Range{"198.51.100.0", 24, "for documentation"},
    Range{"203.0.113.0", 24, "for documentation"},
    Range{"224.0.0.0", 4, "multicast"},
    Range{"255.255.255.255", 32, "broadcast"},
    Range{"240.0.0.0", 4, "reserved"},
};

constexpr std::array kForbidden6{
    Range{"fd00:ec2::254", 128, "private (cloud metadata of AWS)"},
    Range{"fd20:ce::254", 128, "private (cloud metadata of Google)"},
    Range{"::", 128, "unspecified: this machine"},
    Range{"::1", 128, "loopback: this machine"},
    Range{"::", 96, "an IPv4 address in IPv6 form (compatible)"},
    Range{"::ffff:0:0", 96, "an IPv4 address in IPv6 form (mapped)"},
    Range{"::ffff:0:0:0", 96, "an IPv4 address in IPv6 form (translated)"},
    Range{"64:ff9b::", 96, "an IPv4 address in IPv6 form (NAT64)"},
    Range{"64:ff9b:1::", 48, "an IPv4 address in IPv6 form (NAT64)"},
    Range{"100::", 64, "discarded"},
    Range{"2001::", 32, "an IPv4 address in IPv6 form (Teredo)"},
    Range{"2001::", 23, "reserved for protocols"},
    Range{"2001:db8::", 32, "for documentation"},
    Range{"2002::", 16, "an IPv4 address in IPv6 form (6to4)"},
    Range{"3fff::", 20, "for documentation"},
    Range{"fc00::", 7, "private (unique local)"},
    Range{"fe80::", 10, "link-local"},
    Range{"fec0::", 10, "private (site-local)"},
    Range{"ff00::", 8, "multicast"},
};

// Only this much of IPv6 has been given out for the internet; the others are what is left of it.
constexpr Range kGlobal6{"2000::", 3, "reserved"};
constexpr std::array kOthers6{Range{"::", 3, "reserved"}, Range{"4000::", 2, "reserved"},
                              Range{"8000::", 1, "reserved"}};

bool is_in(std::string_view address, const Range& range) {
  const std::optional<std::string> first = address_bytes(range.first);
  if (!first || first->size() != address.size())
    return true;  // a slip in the table must not open anything
  for (unsigned bit = 0; bit < range.bits; bit += 8) {
    const unsigned left = std::min(range.bits - bit, 8U);
    const unsigned mask = 0xffU << (8U - left) & 0xffU;
    const auto differing = static_cast<unsigned char>(address[bit / 8] ^ (*first)[bit / 8]);
    if ((differing & mask) != 0) return false;
  }
  return true;
}

std::string reason_in(std::span<const Range> ranges, std::string_view address) {
  const auto found =
      std::ranges::find_if(ranges, [&](const Range& range) { return is_in(address, range); });
  return found == ranges.end() ? std::string() : std::string(found->reason);
}

bool is_within(const Range& inner, const Range& outer) {
  return outer.bits < inner.bits && is_in(address_bytes(inner.first).value_or(""), outer);
}

}  // namespace

std::string why_forbidden(std::string_view address) {
  const std::optional<std::string> bytes = address_bytes(address);
  if (!bytes) return "not an address";
  if (bytes->size() == 4) return reason_in(kForbidden4, *bytes);
  std::string reason = reason_in(kForbidden6, *bytes);
  if (reason.empty() && !is_in(*bytes, kGlobal6)) reason = kGlobal6.reason;
  return reason;
}

std::vector<std::pair<std::string, unsigned>> forbidden_networks(int family) {
  std::vector<Range> all(kForbidden4.begin(), kForbidden4.end());
  if (family == AF_INET6) {
    all.assign(kForbidden6.begin(), kForbidden6.end());
    all.insert(all.end(), kOthers6.begin(), kOthers6.end());
  }
  std::vector<std::pair<std::string, unsigned>> networks;
  for (const Range& range : all) {
    const bool covered =
        std::ranges::any_of(all, [&range](const Range& other) { return is_within(range, other); });
    if (!covered) networks.emplace_back(range.first, range.bits);
  }
  return networks;
}

}  // namespace coop::policy
