// The flags about the network and sockets: what each of them adds, and what they amount to together.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/flags.h"

namespace coop::cli {

Result<void> choose_network(Options& options, std::string_view value);
Result<void> allow_host(Options& options, std::string_view value);
Result<void> deny_host(Options& options, std::string_view value);
Result<void> allow_udp(Options& options, std::string_view value);
Result<void> publish(Options& options, std::string_view value);
Result<void> allow_host_port(Options& options, std::string_view value);
Result<void> add_socket(Options& options, std::string_view value);
Result<void> confirm_grant(Options& options, std::string_view word);

enum class HostNetwork : std::uint8_t { not_granted, granted_by_file };

// After the last flag, since their order means nothing: hosts to be reached turn "none" into "allowlist".
// Flags that would do nothing, or not what they say, are errors, as are dangerous grants without their word.
Result<void> settle_network(Options& options, HostNetwork host_network);

}  // namespace coop::cli
