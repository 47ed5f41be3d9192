// Answers of a name server outside, parsed as untrusted input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coop::egress {

struct DnsAsked {
  std::uint16_t id = 0;
  std::string name{};  // as host_name() spells it
  std::uint16_t type = 0;
};

struct DnsReply {
  enum class Kind : std::uint8_t {
    other,         // does not match the query: belongs to another query, or is forged
    broken,        // matches, but is malformed
    truncated,     // TC bit set: ask again over TCP
    failed,        // SERVFAIL, REFUSED and other errors
    no_such_name,  // NXDOMAIN
    found,         // possibly without an address of this type
  };
  Kind kind = Kind::other;
  std::vector<std::string> addresses{};  // 4 or 16 bytes each
  std::uint32_t ttl = 0;                 // seconds; the minimum of the CNAME and address records
  bool operator==(const DnsReply&) const = default;
};

// The query message, with RD set.
std::string dns_query(const DnsAsked& asked);

// Uses records of the queried name, and of the names its CNAMEs lead to (at most eight), in any
// order. Records of other names are ignored: a server could use them to poison the cache.
DnsReply read_dns_reply(std::string_view message, const DnsAsked& asked);

}  // namespace coop::egress
