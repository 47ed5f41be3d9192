// A command on the host whose descendants never outlive it. Between it and its supervisor there is a process, the keeper,
// that adopts what the command leaves behind (PR_SET_CHILD_SUBREAPER), and ends that when the command has ended or the
// supervisor is gone: a process group does not reach what called setsid(2).
#pragma once

#include <cstdint>

namespace coop::child {

// Written before the clone, read by the children.
struct Keeper {
  const char* program = nullptr;  // a path
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const int* keep = nullptr;  // the descriptors below, ascending: all others are closed
  std::uint32_t keep_count = 0;
  int lifeline = -1;   // the read end of a pipe; at its EOF the command gets SIGTERM
  int report = -1;     // for a KeeperReport, close-on-exec
  int directory = -1;  // where the command starts
  int output = -1;
  int error = -1;
  int grace_milliseconds = 0;  // from SIGTERM to SIGKILL
};

struct KeeperReport {
  int error = 0;   // errno of a start that failed
  int status = 0;  // of wait(2)
  int others = 0;  // 1: other processes still ran, and were killed
};

// `pidfd` is that of the keeper, which ends last. Its pid, or a negative errno.
long start_keeper(const Keeper& keeper, int& pidfd) noexcept;

}  // namespace coop::child
