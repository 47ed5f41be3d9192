#include "sys/message.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace coop {

namespace {

// The kernel compares the descriptors that all processes of this user have in flight with the soft limit of the sender. A
// sandbox may have that many; we may have more.
bool send_with_raised_limit(int socket, const msghdr& message) {
  rlimit before{};
  if (::getrlimit(RLIMIT_NOFILE, &before) < 0) return false;
  const rlimit raised{before.rlim_max, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  const bool sent = ::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
  const int error = errno;
  ::setrlimit(RLIMIT_NOFILE, &before);
  errno = error;
  return sent;
}

}  // namespace

Result<void> send_message(int socket, const void* data, std::size_t size,
                          std::span<const int> descriptors) {
  constexpr std::size_t kMost = 4;
  if (descriptors.size() > kMost) return system_error_of(E2BIG, "sendmsg");
  iovec part{const_cast<void*>(data), size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMost * sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
  if (errno == ETOOMANYREFS && send_with_raised_limit(socket, message)) return {};
  return system_error("sendmsg");
}

Received receive_message(int socket, void* data, std::size_t size) {
  char dropped = 0;
  iovec part{data == nullptr ? &dropped : data, data == nullptr ? 1 : size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  Received received;
  received.size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (received.size < 0) return received;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    received.descriptor.reset(fd);
  }
  return received;
}

}  // namespace coop
