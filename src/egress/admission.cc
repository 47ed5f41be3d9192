#include "egress/admission.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

namespace coop::egress {

namespace {

constexpr int kBuffer = 200 << 10;

// Errors of the one connection being accepted, not of the listener (accept(2)).
bool concerns_one(int error) {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM ||
         error == ENETDOWN || error == EHOSTDOWN || error == EHOSTUNREACH || error == ENETUNREACH;
}

}  // namespace

void reset_on_close(const UniqueFd& socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

Admission::Admission(EventLoop& loop, Budget& budget, std::size_t most, std::function<void()> full)
    : loop_(loop), budget_(budget), most_(most), full_(std::move(full)) {}

Admission::~Admission() {
  loop_.cancel(rest_);
  shut_all();
}

Result<void> Admission::serve(UniqueFd listener, Arrived arrived) {
  if (::fcntl(listener.get(), F_SETFL, O_NONBLOCK) < 0) return system_error("fcntl", "listener");
  // Inherited by accepted sockets. The client is on the same machine: larger buffers would leave
  // the processor's caches before they are read, and use kernel memory for clients that do not
  // read.
  const int yes = 1;
  ::setsockopt(listener.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // There is no packet loss inside the namespace and pacing only costs time, so use Reno.
  ::setsockopt(listener.get(), IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
  ::setsockopt(listener.get(), SOL_SOCKET, SO_RCVBUF, &kBuffer, sizeof kBuffer);
  ::setsockopt(listener.get(), SOL_SOCKET, SO_SNDBUF, &kBuffer, sizeof kBuffer);
  auto door = std::make_unique<Door>(std::move(listener), std::move(arrived));
  if (state_ == State::open) TRY(open(*door));
  doors_.push_back(std::move(door));
  return {};
}

Result<void> Admission::open(const Door& door) {
  // EPOLLEXCLUSIVE: the workers share their listeners, and one connection need not wake all of
  // them.
  return loop_.watch(door.listener.get(), EPOLLIN | EPOLLEXCLUSIVE,
                     [this, &door](std::uint32_t) { accept(door); });
}

void Admission::open_all() {
  state_ = State::open;
  for (const auto& door : doors_)
    if (!open(*door)) return shut_for_a_while();
}

void Admission::shut_all() {
  for (const auto& door : doors_) loop_.forget(door->listener.get());
}

// After EMFILE the listener stays readable and accept() fails again: pause it.
void Admission::shut_for_a_while() {
  shut_all();
  state_ = State::resting;
  rest_ = loop_.after(kRest, [this] { open_all(); });
}

void Admission::leave() {
  --connections_;
  --budget_.connections;
  if (state_ == State::full && connections_ < most_ - most_ / 16) open_all();
}

void Admission::accept(const Door& door) {
  for (int count = 0; count < kMostAccepted && state_ == State::open; ++count) {
    if (connections_ >= most_) {
      shut_all();
      state_ = State::full;
      if (full_) full_();
      return;
    }
    UniqueFd client(::accept4(door.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.valid() && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (!client.valid() && concerns_one(errno)) continue;
    if (!client.valid()) return shut_for_a_while();
    if (++budget_.connections > budget_.most_total) {
      --budget_.connections;
      reset_on_close(client);
      continue;
    }
    ++connections_;
    door.arrived(std::move(client), Slot(this));
  }
}

}  // namespace coop::egress
