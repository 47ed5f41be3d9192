// What programs ask of libcoop, as JSON.
#pragma once

#include <optional>
#include <string_view>

#include "coop/sandbox.h"
#include "embed/open_session.h"

namespace coop::embed {

struct ExecRequest {
  Policy policy{};
  Command command{};
  std::optional<std::chrono::milliseconds> timeout{};
};

// See include/coop/coop.h for both forms. Every mistake names its key.
Result<ExecRequest> read_exec_request(std::string_view text);
Result<SessionRequest> read_session_request(std::string_view text);

}  // namespace coop::embed
