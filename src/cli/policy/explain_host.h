// What a policy says of a host: by which rule it is reached or not, and what would change that.
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

// HOST, HOST:PORT, an address with or without a port, or a URL. What is none of these is an error.
Result<Answer> explain_host(const Request& request, std::string_view text);

}  // namespace coop::cli
