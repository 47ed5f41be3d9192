// The flags about the network and sockets: what each of them adds, and how they go together.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/flags.h"

namespace coop::cli {

// One more item of a list of settings.
void add_item(Options& options, policy::Key key, std::string_view flag, policy::Item item);

Result<void> choose_network(Options& options, std::string_view flag, std::string_view value);
Result<void> allow_host(Options& options, std::string_view flag, std::string_view value);
Result<void> deny_host(Options& options, std::string_view flag, std::string_view value);
Result<void> allow_udp(Options& options, std::string_view flag, std::string_view value);
Result<void> publish(Options& options, std::string_view flag, std::string_view value);
Result<void> allow_host_port(Options& options, std::string_view flag, std::string_view value);
Result<void> add_socket(Options& options, std::string_view flag, std::string_view value);
Result<void> confirm_grant(Options& options, std::string_view flag, std::string_view word);

// Refuses hosts that a flag lists without effect, under the effective mode of flags and files.
Result<void> check_lists(const Options& options, NetworkMode mode);

}  // namespace coop::cli
