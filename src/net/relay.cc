#include "net/relay.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace coop::net {

namespace {

constexpr std::size_t kPipeSize = std::size_t{256} << 10U;
constexpr std::size_t kMostIdlePipes = 64;
constexpr int kMostRounds = 16;  // of one connection, before others have their turn

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

Result<Pipe> PipePool::take() {
  if (!idle_.empty()) {
    Pipe pipe = std::move(idle_.back());
    idle_.pop_back();
    return pipe;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return system_error("pipe2");
  Pipe pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
  // Less is slower, and all that there is when the user has many already.
  ::fcntl(pipe.write.get(), F_SETPIPE_SZ, static_cast<int>(kPipeSize));
  return pipe;
}

void PipePool::give_back(Pipe pipe) {
  if (idle_.size() < kMostIdlePipes) idle_.push_back(std::move(pipe));
}

Relay::Relay(EventLoop& loop, PipePool& pipes, Sockets sockets, std::string first,
             std::function<void(const Relayed&)> ended)
    : loop_(loop), pipes_(pipes), sockets_(std::move(sockets)), ended_(std::move(ended)) {
  up_.from = down_.to = sockets_.client.get();
  up_.to = down_.from = sockets_.server.get();
  up_.first = std::move(first);
}

Relay::~Relay() {
  if (!watching_) return;
  loop_.forget(sockets_.client.get());
  loop_.forget(sockets_.server.get());
}

Result<void> Relay::start() {
  TRY(loop_.watch(sockets_.client.get(), EPOLLIN | EPOLLOUT,
                  [this](std::uint32_t events) { ready(events, sockets_.client.get()); }));
  const Result<void> both =
      loop_.watch(sockets_.server.get(), EPOLLIN | EPOLLOUT,
                  [this](std::uint32_t events) { ready(events, sockets_.server.get()); });
  if (!both) {
    loop_.forget(sockets_.client.get());
    return both;
  }
  watching_ = true;
  return {};
}

void Relay::give_back_pipe(Direction& way) {
  if (way.pipe.read.valid() && way.in_pipe == 0) pipes_.give_back(std::exchange(way.pipe, Pipe{}));
}

Relay::Pumped Relay::send_first(Direction& way) {
  const ssize_t sent = ::send(way.to, way.first.data(), way.first.size(), MSG_NOSIGNAL);
  if (sent < 0 && !would_block(errno)) return Pumped::broken;
  if (sent > 0) {
    way.total += static_cast<std::uint64_t>(sent);
    way.first.erase(0, static_cast<std::size_t>(sent));
  }
  way.wants_room = !way.first.empty();
  return Pumped::going;
}

Relay::Pumped Relay::fill(Direction& way) {
  if (!way.pipe.read.valid()) {
    Result<Pipe> pipe = pipes_.take();
    if (!pipe) return Pumped::broken;
    way.pipe = std::move(*pipe);
  }
  const ssize_t count = ::splice(way.from, nullptr, way.pipe.write.get(), nullptr, kPipeSize,
                                 SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  way.wants_input = count < 0 && would_block(errno);
  if (count < 0 && !way.wants_input) return Pumped::broken;
  if (count > 0) way.in_pipe = static_cast<std::size_t>(count);
  if (count == 0) {
    way.finished = true;
    ::shutdown(way.to, SHUT_WR);
  }
  if (count <= 0) give_back_pipe(way);
  return Pumped::going;
}

Relay::Pumped Relay::empty(Direction& way) {
  const ssize_t count = ::splice(way.pipe.read.get(), nullptr, way.to, nullptr, way.in_pipe,
                                 SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  way.wants_room = count < 0 && would_block(errno);
  if (count < 0 && !way.wants_room) return Pumped::broken;
  if (count > 0) {
    way.in_pipe -= static_cast<std::size_t>(count);
    way.total += static_cast<std::uint64_t>(count);
  }
  return Pumped::going;
}

Relay::Pumped Relay::pump(Direction& way) {
  way.wants_input = way.wants_room = false;
  for (int round = 0; round < kMostRounds && !way.finished; ++round) {
    const bool waiting = !way.first.empty();
    const Pumped pumped = waiting ? send_first(way) : (way.in_pipe > 0 ? empty(way) : fill(way));
    if (pumped == Pumped::broken) return pumped;
    if (way.wants_input || way.wants_room) return Pumped::going;
  }
  // There is more: the loop comes back to it at once.
  if (!way.finished)
    (way.in_pipe > 0 || !way.first.empty() ? way.wants_room : way.wants_input) = true;
  return Pumped::going;
}

void Relay::ready(std::uint32_t events, int fd) {
  if ((events & EPOLLERR) != 0) return end(true);
  const bool client = fd == sockets_.client.get();
  Direction& reading = client ? up_ : down_;
  Direction& writing = client ? down_ : up_;
  const bool readable = (events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP)) != 0;
  if (readable && !reading.finished && pump(reading) == Pumped::broken) return end(true);
  if ((events & EPOLLOUT) != 0 && !writing.finished && writing.wants_room &&
      pump(writing) == Pumped::broken)
    return end(true);
  if (up_.finished && down_.finished) return end(false);
  // It neither speaks nor listens any more, and says so until somebody reacts.
  if ((events & EPOLLHUP) != 0 && reading.finished) return end(true);
  update();
}

void Relay::update() {
  const auto wanted = [](const Direction& reading, const Direction& writing) {
    std::uint32_t events = 0;
    if (!reading.finished && reading.wants_input) events |= EPOLLIN;
    if (!writing.finished && writing.wants_room) events |= EPOLLOUT;
    return events;
  };
  loop_.change(sockets_.client.get(), wanted(up_, down_));
  loop_.change(sockets_.server.get(), wanted(down_, up_));
}

void Relay::end(bool broken) {
  if (watching_) {
    loop_.forget(sockets_.client.get());
    loop_.forget(sockets_.server.get());
    watching_ = false;
  }
  const std::function<void(const Relayed&)> ended = std::move(ended_);
  if (ended) ended({.to_server = up_.total, .to_client = down_.total, .broken = broken});
}

}  // namespace coop::net
