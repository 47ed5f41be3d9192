// Sizes, counts and durations as people write them: "2g", "512", "1m30s", "1.5".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coop {

// "512", "64k", "2g", "2GiB", "1.5g": bytes. Units are powers of 1024, in either case.
Result<std::uint64_t> parse_size(std::string_view text);

// A whole number with nothing around it.
Result<std::uint64_t> parse_count(std::string_view text);

// Like parse_count with an optional leading minus.
Result<std::int64_t> parse_signed(std::string_view text);

// "250ms", "30s", "2m", "1h30m"; a bare number is seconds.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// "1.5", "2": a number of processors, kept in thousandths.
Result<std::uint64_t> parse_milli(std::string_view text);

std::string format_size(std::uint64_t bytes);
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace coop
