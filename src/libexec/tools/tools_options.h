// What the flags ask for that `coop tool` and `coop mcp` share.
#pragma once

#include <memory>

#include "base/log.h"
#include "cli/usage/usage.h"
#include "tools/open_tools.h"

namespace coop::libexec {

struct ToolsOptions {
  std::unique_ptr<Logger> log{};  // the tools write to it
  tools::ToolsRequest request{};
};

Result<ToolsOptions> tools_options(const cli::Parsed& flags);

}  // namespace coop::libexec
