// Explains a policy's decision about a host: the rule, and what would change it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/options_policy.h"
#include "coop/path.h"

namespace coop::cli {

struct Answer {
  std::string subject{};
  std::string verdict{};  // "readable", "reachable", "denied", …
  std::string rule{};
  std::string reason{};
  std::string grant{};
  Path inside{};
};

// HOST, HOST:PORT, an address with or without a port, or a URL. Anything else is an error.
Result<Answer> explain_host(const Request& request, std::string_view text);

}  // namespace coop::cli
