// A session of tools from the flags that `coop tool` and `coop mcp` share.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "cli/plain_flags.h"
#include "tools/session.h"

namespace coop::libexec {

struct Opened {
  std::unique_ptr<Logger> log{};  // null without -v
  std::unique_ptr<tools::Session> session{};
  Path workspace{};
};

// --config, --agent, --as, --channel, --group, --workspace, -v, --log-format
std::span<const cli::PlainFlag> session_flags();

// Without --as and --channel the caller is the agent itself: trust full, always sandboxed. A client is not
// the person at the terminal.
Result<Opened> open_session(const cli::PlainFlags& flags);

}  // namespace coop::libexec
