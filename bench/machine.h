// The machine that the figures come from.
#pragma once

#include <string>
#include <vector>

#include "coop/path.h"

namespace coop::bench {

struct Machine {
  std::string kernel{};
  std::string processor{};
  std::size_t cores = 1;
  std::string memory{};
  std::string user{};                   // "root" or "an ordinary user"
  std::vector<std::string> versions{};  // of coop and its peers, one line each
  double load_before = 0;               // load average at the start
  double load_after = 0;                // includes our own load
};

Machine look_at_machine(const Path& coop);
double load_average();

}  // namespace coop::bench
