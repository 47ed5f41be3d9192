#include "sys/netlink/socket.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace coop::netlink {

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!socket.valid()) return system_error("socket", "netlink");
  return NetlinkSocket(std::move(socket));
}

Result<void> NetlinkSocket::send(const NetlinkBatch& batch, std::string_view what) {
  if (::send(socket_.get(), batch.bytes().data(), batch.bytes().size(), 0) < 0)
    return system_error("send", what);
  std::array<char, 16384> buffer;
  for (std::uint32_t seen = 0; seen < batch.acknowledgements();) {
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_error("recv", what);
    for (std::size_t at = 0; at + sizeof(nlmsghdr) <= static_cast<std::size_t>(size);) {
      nlmsghdr header;
      std::memcpy(&header, buffer.data() + at, sizeof header);
      if (header.nlmsg_len < sizeof header) return system_error_of(EBADMSG, "recv", what);
      if (header.nlmsg_type == NLMSG_ERROR) {
        int error = 0;
        std::memcpy(&error, buffer.data() + at + sizeof header, sizeof error);
        if (error != 0) return system_error_of(-error, what);
        ++seen;
      }
      at += NLMSG_ALIGN(header.nlmsg_len);
    }
  }
  return {};
}

}  // namespace coop::netlink
