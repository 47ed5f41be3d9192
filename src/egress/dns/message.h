// DNS messages: questions of clients inside and our answers, our questions to servers outside and their answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coop::egress {

inline constexpr std::uint16_t kDnsA = 1;
inline constexpr std::uint16_t kDnsAaaa = 28;

struct DnsQuestion {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  std::string name{};  // as host_name() spells it
  std::uint16_t type = 0;
  std::string asked{};  // the question as sent: the answer must repeat its upper and lower case
  bool operator==(const DnsQuestion&) const = default;
};

enum class DnsCode : std::uint8_t {
  no_error = 0,
  format_error = 1,
  server_failure = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
};

// One question of class IN, with or without EDNS. Everything else is an error: several questions,
// answers, compressed or invalid names.
Result<DnsQuestion> parse_question(std::string_view message);

// One question of class IN and any uncompressed name, with or without EDNS, and nothing else: no answer, update,
// notification or zone transfer.
bool is_plain_query(std::string_view message);

// `addresses` are 4 or 16 bytes each, matching `question.type`.
std::string dns_answer(const DnsQuestion& question, DnsCode code,
                       std::span<const std::string> addresses = {}, std::uint32_t ttl = 1);

// For a message that could not be parsed; empty when it has no id, or is an answer itself.
std::string dns_failure(std::string_view message, DnsCode code);

struct DnsAsked {
  std::uint16_t id = 0;
  std::string name{};  // as host_name() spells it
  std::uint16_t type = 0;
};

// Answers of a name server outside are untrusted input.
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

// Over TCP a message has its length in front.
std::string dns_frame(const std::string& message);
// The first message of what was received; nothing while it is incomplete.
std::optional<std::string_view> first_dns_frame(std::string_view received);

}  // namespace coop::egress
