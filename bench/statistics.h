// Medians and quartiles: means would include the noise of other load.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace coop::bench {

struct Summary {
  std::size_t count = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
};

// All zero without values.
Summary summarize(std::vector<double> values);

// CLOCK_MONOTONIC.
using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start);

}  // namespace coop::bench
