// Processes by their descriptors: a number may belong to someone else by the time it is used.
#pragma once

namespace coop {

// Waits for the end of a child of ours and collects it.
void collect(int pidfd);

// Waits for the end of any process.
void wait_for_end(int pidfd);

bool has_ended(int pidfd);

void kill_at_once(int pidfd);

}  // namespace coop
