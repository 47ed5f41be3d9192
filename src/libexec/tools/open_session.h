// A session of tools from the flags that `coop tool` and `coop mcp` share.
#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "cli/plain_flags.h"
#include "tools/session.h"

namespace coop::libexec {

struct Opened {
  std::unique_ptr<Logger> log{};  // the session writes to it
  std::unique_ptr<tools::Session> session{};
};

// --on-leak, -v, --log-format, --json, and every flag of `coop run` that says what a sandbox is like.
std::vector<cli::PlainFlag> session_flags();

// Says on standard error when tools will not run in a sandbox.
Result<Opened> open_session(const cli::PlainFlags& flags);

}  // namespace coop::libexec
