// Many sandboxes held by one process: how many start, and the memory of each.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "coop/path.h"

namespace coop::bench {

// One way to hold sandboxes. Each is measured in a fresh process: forking a large process would
// distort the figures.
struct Holding {
  std::string name{};     // "pool"
  std::string title{};    // for the report
  std::string helpers{};  // which processes are counted
};
const std::vector<Holding>& holdings();

struct AliveRow {
  std::string name{};
  std::size_t wanted = 0;
  std::size_t alive = 0;
  std::string trouble{};         // why fewer are alive, or why the helpers' memory cannot be read
  double seconds = 0;            // until all were up
  double helper_processes = 0;   // for each sandbox; so are the next four, in KiB
  bool helpers_readable = true;  // false: the next two are invalid
  double helper_private = 0;
  double helper_anonymous = 0;  // includes pages shared among the helpers of one sandbox
  double holder_resident = 0;   // growth of the process that holds them
  double machine = 0;           // MemAvailable lost: kernel memory and the command included
};

// In the fresh process: starts `count` sandboxes, measures, ends them; prints the row as JSON.
int hold(const std::string& name, std::size_t count, const Path& coop);

// Runs this program again for every holding and size, and collects the rows.
std::vector<AliveRow> measure_alive(const std::vector<std::size_t>& sizes, const Path& coop);

}  // namespace coop::bench
