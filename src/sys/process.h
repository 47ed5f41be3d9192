// Waiting for processes by pidfd: a pid may have been reused by the time it is used.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

namespace coop {

Result<UniqueFd> open_pidfd(int pid);

// Waits for a child to exit and reaps it.
void collect(int pidfd);

void kill_at_once(int pidfd);

}  // namespace coop
