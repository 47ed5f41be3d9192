// The five fields of a cron job's schedule, validated and kept as bit sets.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace coop::policy {

struct CronExpression {
  std::uint64_t minutes = 0;  // bit n: at minute n
  std::uint64_t hours = 0;
  std::uint64_t days = 0;      // of the month; bits 1 to 31
  std::uint64_t months = 0;    // bits 1 to 12
  std::uint64_t weekdays = 0;  // bit 0 is Sunday; 7 is mapped to it
  bool operator==(const CronExpression&) const = default;
};

// "*/5 9-17 * jan,jul mon-fri", "@daily". Errors name the field, its text and the valid range; a
// date that never occurs (30 February) is an error too.
Result<CronExpression> parse_cron(std::string_view text);

}  // namespace coop::policy
