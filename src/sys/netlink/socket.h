// Sends netlink messages to the kernel, in the network namespace in which the socket was opened.
#pragma once

#include <utility>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/netlink/batch.h"

namespace coop::netlink {

class NetlinkSocket {
 public:
  static Result<NetlinkSocket> open(int protocol);
  // One that was opened in another network namespace: messages go there.
  explicit NetlinkSocket(UniqueFd socket) : socket_(std::move(socket)) {}
  // Returns the error of the first message that failed.
  Result<void> send(const NetlinkBatch& batch, std::string_view what);

 private:
  UniqueFd socket_{};
};

}  // namespace coop::netlink
