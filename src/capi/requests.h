// Requests of programs to libcoop, as JSON.
#pragma once

#include <optional>
#include <string_view>

#include "coop/sandbox.h"
#include "tools/open_tools.h"

namespace coop::capi {

struct ExecRequest {
  Policy policy{};
  Command command{};
  std::optional<std::chrono::milliseconds> timeout{};
};

// See include/coop/coop.h for both forms. Errors name the key.
Result<ExecRequest> read_exec_request(std::string_view text);
Result<tools::ToolsRequest> read_tools_request(std::string_view text);

}  // namespace coop::capi
