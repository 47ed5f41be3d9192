#include "sys/dbus/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/path.h"

namespace coop::dbus {

namespace {

constexpr std::string_view kBus = "org.freedesktop.DBus";

// One descriptor up to a deadline, inside calls that are synchronous.
Result<void> wait(int fd, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd watched{fd, events, 0};
    const int ready = left.count() <= 0
                          ? 0
                          : ::poll(&watched, 1, static_cast<int>(std::min(left.count(), 60000L)));
    if (ready > 0) return {};
    if (ready == 0) return system_error_of(ETIMEDOUT, "wait for D-Bus");
    if (errno != EINTR) return system_error("poll");
  }
}

Result<UniqueFd> connect_to(const Path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return system_error_of(ENAMETOOLONG, "connect", path);
  std::ranges::copy(path, address.sun_path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return system_error("socket");
  // A full queue is EAGAIN at once, and an error.
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return system_error("connect", path);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
    return system_error("getsockopt", path);
  if (peer.uid != ::getuid() && peer.uid != 0)
    return invalid("connect", in_quotes(path) + " belongs to another user");
  return fd;
}

}  // namespace

Result<Connection> Connection::open(const Path& socket, Peer peer, Deadline deadline) {
  Connection connection;
  connection.fd_ = TRY(connect_to(socket));
  TRY(connection.authenticate(deadline));
  if (peer == Peer::direct) return connection;
  TRY(connection.call({.destination = std::string(kBus),
                       .path = "/org/freedesktop/DBus",
                       .interface = std::string(kBus),
                       .member = "Hello"},
                      deadline));
  return connection;
}

// SASL EXTERNAL: the kernel tells who we are; the name is our uid, each digit in hexadecimal. BEGIN goes along, and nothing after
// it before the answer: systemd 252 does not look at a message that it has read together with BEGIN until more bytes come.
Result<void> Connection::authenticate(Deadline deadline) {
  std::string hello("\0AUTH EXTERNAL ", 15);
  for (const char digit : std::to_string(::getuid())) hello += std::string("3") + digit;
  TRY(send(hello + "\r\nBEGIN\r\n", deadline));
  const std::string answer = TRY(read_line(deadline));
  if (!answer.starts_with("OK ")) return invalid("D-Bus", "authentication was refused");
  return {};
}

Result<std::string> Connection::read_line(Deadline deadline) {
  constexpr std::size_t kLongest = 512;
  for (;;) {
    if (const std::size_t end = received_.find("\r\n"); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 2);
      return line;
    }
    if (received_.size() > kLongest) return invalid("D-Bus", "a line is too long");
    TRY(receive(deadline));
  }
}

Result<void> Connection::send(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    else if (errno == EAGAIN) TRY(wait(fd_.get(), POLLOUT, deadline));
    else if (errno != EINTR) return system_error("send", "D-Bus");
  }
  return {};
}

Result<void> Connection::receive(Deadline deadline) {
  TRY(wait(fd_.get(), POLLIN, deadline));
  std::array<char, 4096> buffer;
  const ssize_t count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (count < 0) return system_error("recv", "D-Bus");
  if (count == 0) return system_error_of(ECONNRESET, "recv", "D-Bus");
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return {};
}

Result<Message> Connection::call(Message message, Deadline deadline) {
  message.serial = ++serial_;
  TRY(send(encode(message), deadline));
  for (;;) {
    std::optional<Message> answer = TRY(take_message(received_));
    if (!answer) {
      TRY(receive(deadline));
      continue;
    }
    if (answer->reply_to != serial_) continue;
    if (answer->kind == Kind::reply) return *std::move(answer);
    if (answer->kind != Kind::error) continue;
    Result<std::string> text = answer->signature.starts_with('s')
                                   ? Reader(answer->body).text()
                                   : Result<std::string>(answer->error);
    return invalid(message.member, printable(text ? *text : answer->error));
  }
}

}  // namespace coop::dbus
