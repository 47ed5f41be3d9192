// Every round runs every contender once, in a new random order, so that other load affects all of
// them alike.
#pragma once

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "contender.h"
#include "statistics.h"

namespace coop::bench {

using Random = std::mt19937_64;

// The values of one contender, in the unit of the measurement.
struct Row {
  std::string name{};
  std::string how{};
  std::string isolation{};
  std::string unavailable{};
  Summary summary{};
};

// Microseconds from start to end.
std::vector<Row> measure_latency(std::vector<Contender> contenders, std::size_t rounds,
                                 Random& random);

struct RateOptions {
  std::size_t threads = 1;
  std::size_t slices = 6;
  std::chrono::milliseconds warm_up{150};  // of each slice, not measured
  std::chrono::milliseconds slice{500};
};

// Complete runs per second, with `threads` threads. One value for each slice.
std::vector<Row> measure_rates(std::vector<Contender> contenders, const RateOptions& options,
                               Random& random);

// The row of that name if it was measured.
const Row* find_row(const std::vector<Row>& rows, std::string_view name);

}  // namespace coop::bench
