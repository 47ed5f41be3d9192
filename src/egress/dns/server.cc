#include "egress/dns/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "egress/admission.h"

namespace coop::egress {

namespace {

constexpr int kMostAtOnce = 64;  // datagrams per turn of the loop

}  // namespace

DnsServer::~DnsServer() {
  for (const UniqueFd& socket : sockets_) loop_.forget(socket.get());
}

Result<void> DnsServer::serve_udp(UniqueFd socket) {
  const int fd = socket.get();
  TRY(loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { receive(fd); }));
  sockets_.push_back(std::move(socket));
  return {};
}

Result<void> DnsServer::serve_tcp(UniqueFd listener) {
  const int fd = listener.get();
  TRY(loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) {
    UniqueFd client(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    client.valid() ? connected(std::move(client)) : loop_.rest(fd, kRest);
  }));
  sockets_.push_back(std::move(listener));
  return {};
}

void DnsServer::receive(int socket) {
  std::array<char, 4097> buffer;
  for (int count = 0; count < kMostAtOnce; ++count) {
    sockaddr_storage sender{};
    socklen_t length = sizeof sender;
    const ssize_t size = ::recvfrom(socket, buffer.data(), buffer.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&sender), &length);
    if (size < 0) return;
    asked({.socket = socket, .address = {reinterpret_cast<const char*>(&sender), length}},
          {buffer.data(), static_cast<std::size_t>(size)});
  }
}

void DnsServer::Client::tell(std::string_view answer) const {
  if (!answer.empty())
    ::sendto(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(address.data()),
             static_cast<socklen_t>(address.size()));
}

}  // namespace coop::egress
