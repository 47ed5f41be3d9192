// A command line and its policy.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "request/resolve.h"

namespace coop::cli {

struct Request : request::Resolved {
  Options options{};
};

// Without --workspace in `workspace`, read-only, if that is given: for a question about a sandbox.
Result<Request> read_request(const Parsed& parsed, const Path& workspace = {});

}  // namespace coop::cli
