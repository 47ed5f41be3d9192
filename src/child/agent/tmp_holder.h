// Keeps one tmpfs for several sandboxes: a process in namespaces of its own that hands out copies of the mount. The file
// system has no name on the host, and ends with the holder and the last sandbox that has a copy.
#pragma once

#include <cstdint>

namespace coop::child {

// Written before the clone, read by the holder.
struct TmpHolder {
  int socket =
      -1;  // SOCK_SEQPACKET: first a HolderReport, then one for each message; its EOF ends the holder
  const char* uid_map = nullptr;
  const char* gid_map = nullptr;
  const char* options = nullptr;  // of the tmpfs: "key=value\0…\0"
  std::uint64_t attributes = 0;
};

// With a descriptor of a detached mount where one was asked for.
struct HolderReport {
  int error = 0;
};

// Its pid, or a negative errno. `pidfd` is filled.
long start_tmp_holder(const TmpHolder& holder, int& pidfd) noexcept;

}  // namespace coop::child
