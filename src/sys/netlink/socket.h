// Sends netlink messages to the kernel, in the current network namespace.
#pragma once

#include "base/result.h"
#include "sys/fd.h"
#include "sys/netlink/batch.h"

namespace coop::netlink {

class NetlinkSocket {
 public:
  static Result<NetlinkSocket> open(int protocol);
  // Returns the error of the first message that failed.
  Result<void> send(const NetlinkBatch& batch, std::string_view what);

 private:
  UniqueFd socket_{};
};

}  // namespace coop::netlink
