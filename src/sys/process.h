// Waiting for processes by pidfd: a pid may have been reused by the time it is used.
#pragma once

namespace coop {

// Waits for a child to exit and reaps it.
void collect(int pidfd);

// Waits for any process to exit.
void wait_for_end(int pidfd);

bool has_ended(int pidfd);

void kill_at_once(int pidfd);

}  // namespace coop
