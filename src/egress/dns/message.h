// DNS messages between a client inside and our server: one question in, one answer out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

// `addresses` are 4 or 16 bytes each, matching `question.type`.
std::string dns_answer(const DnsQuestion& question, DnsCode code,
                       std::span<const std::string> addresses = {}, std::uint32_t ttl = 1);

// For a message that could not be parsed; empty when it has no id, or is an answer itself.
std::string dns_failure(std::string_view message, DnsCode code);

}  // namespace coop::egress
