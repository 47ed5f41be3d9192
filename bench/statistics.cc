#include "statistics.h"

#include <algorithm>
#include <cmath>

namespace coop::bench {

namespace {

// Linear interpolation between neighbours.
double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return Summary{.count = values.size(),
                 .lower_quartile = quantile(values, 0.25),
                 .median = quantile(values, 0.5),
                 .upper_quartile = quantile(values, 0.75)};
}

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace coop::bench
