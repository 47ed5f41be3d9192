// Opens the tools of one principal, for a command line or a program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "request/resolve.h"
#include "tools/toolbox.h"

namespace coop::tools {

struct ToolsRequest {
  request::Wanted wanted{};
  OnLeak on_leak = OnLeak::redact;
  Reach first = Reach::command;  // of the call that follows
  Calls calls = Calls::many;
  KeptTmp tmp = KeptTmp::none;
  Logger* log = nullptr;  // outlives the tools
  std::shared_ptr<SharedState> shared = std::make_shared<SharedState>();
};

struct OpenedTools {
  std::unique_ptr<Toolbox> toolbox{};
  std::vector<Path> files{};  // that decided what the tools may do, existing or not
  Path project_file{};        // the one of these that is in the workspace
};

// Without a user or sender the caller is the agent itself: trust full, always sandboxed unless a
// configuration switches that off. A client is not the person at the terminal.
Result<OpenedTools> open_tools(const ToolsRequest& request);

Result<OnLeak> parse_on_leak(const std::string& word);

}  // namespace coop::tools
