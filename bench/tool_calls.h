// One tool call of an agent: through coop's MCP server, and by starting another tool for it.
#pragma once

#include <vector>

#include "contender.h"

namespace coop::bench {

// `sh -c true`, from the request to its answer.
std::vector<Contender> tool_contenders(const Ring& ring);

// A call of `true` through a server that runs already.
Contender through_mcp(const Ring& ring, const Path& workspace, std::string name,
                      const std::vector<std::string>& flags);

}  // namespace coop::bench
