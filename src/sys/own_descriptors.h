// A descriptor table of its own for a thread that serves a sandbox.
#pragma once

#include <vector>

#include "base/result.h"

namespace coop {

// Unshares the calling thread's descriptors and closes all but `keep`: the others are the program's, for example a pipe
// whose reader waits for EOF, or another sandbox's control socket.
Result<void> leave_program(std::vector<int> keep);

}  // namespace coop
