// A command on the host itself: for the owner only.
#pragma once

#include "coop/sandbox.h"

namespace coop::tools {

// Runs to the end and captures both streams, like coop::exec without a sandbox: no wall around it but a
// timeout and a limit on what is kept. Whatever it has started ends with it, daemons
// too. At the timeout and when it is cancelled it gets SIGTERM, and SIGKILL two seconds later.
Result<ExecOutput> exec_on_host(const Command& command, const Path& directory,
                                std::chrono::milliseconds timeout, std::uint64_t output_limit,
                                const ExecHooks& hooks);

}  // namespace coop::tools
