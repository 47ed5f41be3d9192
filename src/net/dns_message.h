// DNS as a resolver inside speaks it: one question in, one answer out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::net {

inline constexpr std::uint16_t kDnsA = 1;
inline constexpr std::uint16_t kDnsAaaa = 28;

struct DnsQuestion {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  std::string name{};  // as host_name() spells it
  std::uint16_t type = 0;
  std::string
      asked{};  // the question as it was sent: letters of either case come back as they were
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

// One plain question of class IN, with or without EDNS behind it. Everything else is an error: several questions, answers,
// compressed names, names that are none.
Result<DnsQuestion> parse_question(std::string_view message);

// `addresses` are 4 or 16 bytes each, as `question.type` wants them.
std::string dns_answer(const DnsQuestion& question, DnsCode code,
                       std::span<const std::string> addresses = {}, std::uint32_t ttl = 1);

// For a message that was not understood; empty when there is not even an id to answer to, or when it is an answer itself.
std::string dns_failure(std::string_view message, DnsCode code);

}  // namespace coop::net
