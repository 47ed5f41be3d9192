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

Result<Request> read_request(const Parsed& parsed);

}  // namespace coop::cli
