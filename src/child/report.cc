#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "child/state.h"

namespace coop::child {

long send_with_descriptor(int socket, const void* data, std::size_t size, int fd,
                          int flags) noexcept {
  iovec part{const_cast<void*>(data), size};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    *reinterpret_cast<int*>(CMSG_DATA(header)) = fd;
  }
  const long sent = raw::call(SYS_sendmsg, socket, &message, flags);
  if (sent != -ETOOMANYREFS) return sent;
  // The kernel compares what all processes of this user have in flight with the soft limit of the sender.
  rlimit64 limit{};
  raw::call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit);
  limit.rlim_cur = limit.rlim_max;
  raw::call(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, nullptr);
  return raw::call(SYS_sendmsg, socket, &message, flags);
}

long receive_with_descriptors(int socket, void* data, std::size_t size, int* descriptors,
                              std::size_t room, std::size_t& count) noexcept {
  iovec part{data, size};
  alignas(cmsghdr) char space[CMSG_SPACE(3 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = CMSG_LEN(room * sizeof(int));
  const long received = raw::call(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* header = received < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  count = header == nullptr ? 0 : (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t index = 0; index < count; ++index)
    descriptors[index] = reinterpret_cast<const int*>(CMSG_DATA(header))[index];
  return received;
}

// MSG_NOSIGNAL, and errors are ignored on purpose: if the supervisor has exited, EOF on the control
// socket tells init to exit anyway.
void send_report(int control, const Report& report, int fd) noexcept {
  send_with_descriptor(control, &report, sizeof report, fd, MSG_NOSIGNAL);
}

}  // namespace coop::child
