// A real workload: a compiler inside and outside.
#pragma once

#include "contender.h"

namespace coop::bench {

// g++ on two generated sources, bare, in coop and in bubblewrap. About a second each.
Result<std::vector<Contender>> compile_contenders(const Ring& ring);

}  // namespace coop::bench
