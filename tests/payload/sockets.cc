// Sockets: kinds that should not exist inside, and host services.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "payload/payload.h"

namespace payload {
namespace {

// socket FAMILY TYPE PROTOCOL
int make_socket(Arguments a) {
  return judge(::socket(static_cast<int>(number(a[0])), static_cast<int>(number(a[1])),
                        static_cast<int>(number(a[2]))));
}

// ulp NAME: another protocol in the kernel's TCP, on a connection to ourselves. A wrong name shows
// that the kernel was asked (ENOENT, or EEXIST and the like): only the filter answers EPERM.
int tcp_protocol(Arguments a) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* place = reinterpret_cast<sockaddr*>(&address);
  if (::bind(server, place, size) < 0 || ::listen(server, 1) < 0 ||
      ::getsockname(server, place, &size) < 0 || ::connect(client, place, size) < 0)
    return cannot_try("a connection to ourselves");
  return judge(::setsockopt(client, IPPROTO_TCP, 31, a[0], std::strlen(a[0])));  // TCP_ULP
}

// encapsulation KIND: packets of a UDP socket go to a protocol in the kernel
int udp_encapsulation(Arguments a) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto kind = static_cast<int>(number(a[0]));
  if (fd < 0) return cannot_try("socket");
  return judge(::setsockopt(fd, IPPROTO_UDP, 100, &kind, sizeof kind));  // UDP_ENCAP
}

int connect_local(const char* name, std::size_t offset) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(name);
  if (length + offset >= sizeof address.sun_path) return cannot_try("name too long");
  std::memcpy(address.sun_path + offset, name, length);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return cannot_try("socket");
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + offset + length);
  return judge(::connect(fd, reinterpret_cast<const sockaddr*>(&address), size));
}

int connect_path(Arguments a) { return connect_local(a[0], 0); }
int connect_abstract(Arguments a) { return connect_local(a[0], 1); }

// tcp ADDRESS PORT
int connect_tcp(Arguments a) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number(a[1])));
  if (::inet_pton(AF_INET, a[0], &address.sin_addr) != 1) return cannot_try("address");
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return blocked(errno);
  return judge(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

// udp ADDRESS PORT: one packet, as a name lookup would send
int send_udp(Arguments a) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number(a[1])));
  if (::inet_pton(AF_INET, a[0], &address.sin_addr) != 1) return cannot_try("address");
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return blocked(errno);
  return judge(
      ::sendto(fd, "secret", 6, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

// shared-memory KEY: a System V segment of the host
int shared_memory(Arguments a) { return judge(::shmget(static_cast<key_t>(number(a[0])), 0, 0)); }

constexpr std::array kAttacks{
    Attack{"socket", 3, make_socket},
    Attack{"ulp", 1, tcp_protocol},
    Attack{"encapsulation", 1, udp_encapsulation},
    Attack{"connect", 1, connect_path},
    Attack{"abstract", 1, connect_abstract},
    Attack{"tcp", 2, connect_tcp},
    Attack{"udp", 2, send_udp},
    Attack{"shared-memory", 1, shared_memory},
};

}  // namespace

std::span<const Attack> socket_attacks() { return kAttacks; }

}  // namespace payload
