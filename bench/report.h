// Measurements, targets, and their text forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alive.h"
#include "interleaved.h"
#include "machine.h"
#include "network.h"
#include "repositories.h"

namespace coop::bench {

struct Results {
  Machine machine{};
  std::uint64_t seed = 0;
  std::size_t rounds = 0;
  std::size_t threads = 0;
  std::vector<Row> latency{};  // microseconds
  std::vector<Row> tools{};    // microseconds
  std::vector<RepositoryRows> repositories{};
  std::vector<Row> rates{};  // runs per second
  std::vector<AliveRow> alive{};
  std::vector<Row> compile{};  // microseconds
  std::string compile_trouble{};
  NetworkResults network{};
};

struct Target {
  std::string wanted{};
  std::string measured{};
  std::optional<bool> reached{};  // nothing: could not be measured here
};
std::vector<Target> judge(const Results& results);

std::string to_json(const Results& results);
// One section, with a heading that names the user.
std::string to_markdown(const Results& results);

std::string fixed(double value, int digits);

}  // namespace coop::bench
