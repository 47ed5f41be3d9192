// Messages with descriptors over a SOCK_SEQPACKET socket.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "base/result.h"
#include "sys/fd.h"

namespace coop {

Result<void> send_message(int socket, const void* data, std::size_t size,
                          std::span<const int> descriptors = {});

struct Received {
  ssize_t size = 0;  // 0: the peer has closed the socket; -1: see errno
  UniqueFd descriptor{};
};

// Without a buffer the contents are discarded. Takes at most one descriptor.
Received receive_message(int socket, void* data = nullptr, std::size_t size = 0);

}  // namespace coop
