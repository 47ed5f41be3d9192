// Sends messages to the kernel's network parts, of the namespace we are in.
#pragma once

#include "base/result.h"
#include "net/netlink_batch.h"
#include "sys/fd.h"

namespace coop::net {

class NetlinkSocket {
 public:
  static Result<NetlinkSocket> open(int protocol);
  // An error is that of the first message that has one.
  Result<void> send(const NetlinkBatch& batch, std::string_view what);

 private:
  UniqueFd socket_{};
};

}  // namespace coop::net
