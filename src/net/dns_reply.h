// What a name server outside says: asked in one message, read from bytes that nobody vouches for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coop::net {

struct DnsAsked {
  std::uint16_t id = 0;
  std::string name{};  // as host_name() spells it
  std::uint16_t type = 0;
};

struct DnsReply {
  enum class Kind : std::uint8_t {
    other,         // no answer to what was asked: somebody else's, or a forged one
    broken,        // an answer, but not a well-formed one
    truncated,     // the whole one is to be had by TCP
    failed,        // the server cannot or will not say
    no_such_name,  // there are no addresses of any kind
    found,         // maybe without any address of this type
  };
  Kind kind = Kind::other;
  std::vector<std::string> addresses{};  // 4 or 16 bytes each
  std::uint32_t ttl = 0;                 // seconds; the least of all records that led to them
  bool operator==(const DnsReply&) const = default;
};

// The question, for a server that asks others for us.
std::string dns_query(const DnsAsked& asked);

// Takes records of the name that was asked, and of those its CNAMEs lead to (at most eight), in
// whichever order they are. Records of all other names are a server's gift, and not taken.
DnsReply read_dns_reply(std::string_view message, const DnsAsked& asked);

}  // namespace coop::net
