// The sandbox's network, from inside: netlink messages, and sockets passed to the supervisor.
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>

#include "child/sandbox/operations.h"
#include "child/state.h"

namespace coop::child {

namespace {

// The first error among the answers, or 0 once every message was acknowledged.
int read_answers(long socket, std::uint64_t expected) noexcept {
  alignas(nlmsghdr) char buffer[8192];
  std::uint64_t seen = 0;
  while (seen < expected) {
    const long size = raw::call(SYS_recvfrom, socket, buffer, sizeof buffer, 0, nullptr, nullptr);
    if (size == -EINTR) continue;
    if (size < 0) return error_of(size);
    for (long at = 0; at + static_cast<long>(sizeof(nlmsghdr)) <= size;) {
      const auto* header = reinterpret_cast<const nlmsghdr*>(buffer + at);
      // The kernel has filled it. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
      if (header->nlmsg_len < sizeof(nlmsghdr)) return EPIPE;
      if (header->nlmsg_type == NLMSG_ERROR) {
        const auto* answer = reinterpret_cast<const nlmsgerr*>(buffer + at + sizeof(nlmsghdr));
        if (answer->error != 0) return -answer->error;
        ++seen;
      }
      at += static_cast<long>((header->nlmsg_len + 3U) & ~3U);
    }
  }
  return 0;
}

}  // namespace

namespace operation {

int netlink(State&, const Instruction& instruction) noexcept {
  const ScopedFd socket(
      raw::call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, instruction.third));
  if (socket.failed()) return socket.error();
  const long sent =
      raw::call(SYS_sendto, socket.get(), instruction.data, instruction.first, 0, nullptr, 0);
  if (sent < 0) return error_of(sent);
  return read_answers(socket.get(), instruction.second);
}

// For each message the kernel asks for CAP_NET_ADMIN over our user namespace twice: of the credentials with which the socket
// was opened, ours before we drop them, and of the sender. The supervisor has it as the owner of that namespace, but can
// neither enter it nor open such a socket. Nothing that runs inside ever has this one: it is closed here, before the
// workload exists.
int pass_netlink(State& state, const Instruction& instruction) noexcept {
  const ScopedFd socket(
      raw::call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, instruction.third));
  if (socket.failed()) return socket.error();
  const NetworkWord word = NetworkWord::netlink;
  const long sent = send_with_descriptor(state.network, &word, sizeof word,
                                         static_cast<int>(socket.get()), MSG_NOSIGNAL);
  return sent < 0 ? error_of(sent) : 0;
}

int listen(State& state, const Instruction& instruction) noexcept {
  const auto* address = static_cast<const sockaddr*>(instruction.data);
  const auto type = static_cast<int>(instruction.second);
  const ScopedFd socket(
      raw::call(SYS_socket, address->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.failed()) return socket.error();
  const int on = 1;
  // An IPv6 wildcard socket must not accept IPv4 as well.
  if (address->sa_family == AF_INET6)
    raw::call(SYS_setsockopt, socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (const int error = attempt(SYS_bind, socket.get(), address, instruction.first)) return error;
  constexpr int kBacklog = 4096;
  if (type == SOCK_STREAM)
    if (const int error = attempt(SYS_listen, socket.get(), kBacklog)) return error;
  const NetworkWord word = NetworkWord::listener;
  const long sent = send_with_descriptor(state.network, &word, sizeof word,
                                         static_cast<int>(socket.get()), MSG_NOSIGNAL);
  return sent < 0 ? error_of(sent) : 0;
}

// A command must not run in a network that is not served yet: it would look slow or broken.
int join_network(State& state, const Instruction&) noexcept {
  const NetworkWord word = NetworkWord::joined;
  const long sent =
      raw::call(SYS_sendto, state.network, &word, sizeof word, MSG_NOSIGNAL, nullptr, 0);
  if (sent < 0) return error_of(sent);
  NetworkWord answer{};
  long size = -EINTR;
  while (size == -EINTR)
    size = raw::call(SYS_recvfrom, state.network, &answer, sizeof answer, 0, nullptr, nullptr);
  return size == sizeof answer && answer == NetworkWord::ready ? 0 : EPERM;
}

}  // namespace operation

// A socket stays in the network namespace it was made in. This one is for the supervisor, which has a connection from
// outside and cannot enter our namespaces.
bool serve_socket(int network) noexcept {
  NetworkWord word{};
  const long size =
      raw::call(SYS_recvfrom, network, &word, sizeof word, MSG_DONTWAIT, nullptr, nullptr);
  if (size == -EINTR || size == -EAGAIN) return true;
  if (size <= 0) return false;
  if (size != sizeof word || word != NetworkWord::socket) return true;
  const ScopedFd socket(
      raw::call(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  const long sent =
      send_with_descriptor(network, &word, sizeof word, static_cast<int>(socket.get()), flags);
  // The kernel limits the descriptors in flight per user (ETOOMANYREFS), and the workload may have
  // exhausted that. Answer every request nevertheless.
  if (sent < 0) send_with_descriptor(network, &word, sizeof word, -1, flags);
  return true;
}

}  // namespace coop::child
