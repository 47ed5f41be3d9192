// Explains a policy's decision about a host: the rule, and what would change it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/options_policy.h"
#include "report/explained.h"

namespace coop::cli {

// HOST, HOST:PORT, an address with or without a port, or a URL. Anything else is an error.
Result<report::Explained> explain_host(const Request& request, std::string_view text);

}  // namespace coop::cli
