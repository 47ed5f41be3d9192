// A session of tools, from what a command line or a program says of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "policy/settings.h"
#include "tools/session.h"

namespace coop::embed {

struct SessionRequest {
  std::vector<std::string> flags{};  // those of `coop run`: --workspace, --as, --rw, …
  policy::Settings added{};          // what a program says besides
  tools::OnLeak on_leak = tools::OnLeak::redact;
  Logger* log = nullptr;  // outlives the session
};

// Without --as and --channel the caller is the agent itself: trust full, always sandboxed unless a
// configuration switches that off. A client is not the person at the terminal.
Result<std::unique_ptr<tools::Session>> open_session(const SessionRequest& request);

Result<tools::OnLeak> parse_on_leak(const std::string& word);

}  // namespace coop::embed
