// coop as people use it: all defaults, in repositories of several sizes, beside bubblewrap's usual call.
#pragma once

#include <vector>

#include "contender.h"
#include "interleaved.h"

namespace coop::bench {

struct RepositoryRows {
  std::size_t files = 0;
  std::size_t directories = 0;
  std::string trouble{};
  std::vector<Row> rows{};  // microseconds
};

inline constexpr const char* kUsualBwrap = "bwrap, its usual call";
inline constexpr const char* kDefaultRun = "coop run";
inline constexpr const char* kWarmCall = "coop mcp: bash true, warm";
inline constexpr const char* kBareShell = "bare sh -c true";

std::vector<RepositoryRows> measure_repositories(const Ring& ring,
                                                 const std::vector<std::size_t>& sizes,
                                                 std::size_t rounds, Random& random);

}  // namespace coop::bench
