// One tool call of an agent: through coop's MCP server, and by starting another tool for it.
#pragma once

#include <vector>

#include "contender.h"

namespace coop::bench {

// `sh -c true`, from the request to its answer.
std::vector<Contender> tool_contenders(const Ring& ring);

}  // namespace coop::bench
