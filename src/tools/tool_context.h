// The context of one tool call.
#pragma once

#include <functional>

#include "tools/files/view.h"
#include "tools/shell/shell_tools.h"

namespace coop::tools {

// Functions, so that a tool pays only for what it asks for.
struct ToolContext {
  std::function<Result<FileView>()> view{};
  std::function<ShellPlace()> place{};
  Runner runner{};
  Limits limits{};  // timeout and output limit of the policy, the organisation's included
  const Policy* sandbox = nullptr;  // null: the tool runs on the host
};

}  // namespace coop::tools
