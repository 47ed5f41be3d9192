#include "egress/relay.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace coop::egress {

namespace {

constexpr int kPipeSize = 256 << 10;
// Beyond pipe-user-pages-soft the kernel gives one-page pipes, which are slower than copying.
constexpr int kLeastPipe = 64 << 10;
constexpr std::size_t kMostIdlePipes = 16;
constexpr std::size_t kMostLentPipes = 256;  // each may hold kPipeSize and two descriptors
// Bytes copied at once, and buffered while the other side is blocked: small, since ten thousand
// connections may do so.
constexpr std::size_t kCopied = std::size_t{16} << 10U;
constexpr int kMostRounds = 32;  // of one connection per turn of the loop

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

std::optional<Pipe> PipePool::take() {
  if (lent_ >= kMostLentPipes) return std::nullopt;
  if (!idle_.empty()) {
    Pipe pipe = std::move(idle_.back());
    idle_.pop_back();
    ++lent_;
    return pipe;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return std::nullopt;
  Pipe pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
  if (::fcntl(pipe.write.get(), F_SETPIPE_SZ, kPipeSize) < 0 &&
      ::fcntl(pipe.write.get(), F_GETPIPE_SZ) < kLeastPipe)
    return std::nullopt;
  ++lent_;
  return pipe;
}

void PipePool::give_back(Pipe pipe, std::size_t bytes_left) {
  --lent_;
  if (bytes_left == 0 && idle_.size() < kMostIdlePipes) idle_.push_back(std::move(pipe));
}

Relay::Relay(EventLoop& loop, PipePool& pipes, Sockets sockets, std::string first,
             std::function<void(const Relayed&)> ended)
    : loop_(loop), pipes_(pipes), sockets_(std::move(sockets)), ended_(std::move(ended)) {
  up_.from = down_.to = sockets_.client.get();
  up_.to = down_.from = sockets_.server.get();
  up_.held = std::move(first);
}

Relay::~Relay() {
  forget();
  give_back_pipe(up_);
  give_back_pipe(down_);
}

void Relay::forget() {
  loop_.forget(sockets_.client.get());
  loop_.forget(sockets_.server.get());
}

Result<void> Relay::start() {
  // Send now, which saves a turn of the loop: the server has just been connected and has buffer
  // space.
  if (!up_.held.empty() && send_held(up_) == Pumped::broken) return system_error("send");
  up_.wants_input = !up_.wants_room;
  const std::uint32_t room = up_.wants_room ? std::uint32_t{EPOLLOUT} : 0U;
  TRY(loop_.watch(sockets_.client.get(), up_.wants_input ? std::uint32_t{EPOLLIN} : 0U,
                  [this](std::uint32_t events) { ready(events, sockets_.client.get()); }));
  TRY(loop_.watch(sockets_.server.get(), EPOLLIN | room,
                  [this](std::uint32_t events) { ready(events, sockets_.server.get()); }));
  return {};
}

void Relay::give_back_pipe(Direction& way) {
  if (way.pipe.read.valid()) pipes_.give_back(std::exchange(way.pipe, Pipe{}), way.in_pipe);
}

Relay::Pumped Relay::finish(Direction& way) {
  way.finished = true;
  ::shutdown(way.to, SHUT_WR);
  return Pumped::going;
}

Relay::Pumped Relay::send_held(Direction& way) {
  const ssize_t sent = ::send(way.to, way.held.data(), way.held.size(), MSG_NOSIGNAL);
  if (sent < 0 && !would_block(errno)) return Pumped::broken;
  if (sent > 0) {
    way.total += static_cast<std::uint64_t>(sent);
    way.held.erase(0, static_cast<std::size_t>(sent));
  }
  way.wants_room = !way.held.empty();
  if (way.held.empty()) std::string().swap(way.held);  // releases its memory
  return Pumped::going;
}

Relay::Pumped Relay::copy_rewritten(Direction& way) {
  std::array<char, kCopied> buffer;
  const ssize_t count = ::recv(way.from, buffer.data(), buffer.size(), 0);
  way.wants_input = count < 0 && would_block(errno);
  if (count < 0) return way.wants_input ? Pumped::going : Pumped::broken;
  way.raw.append(buffer.data(), static_cast<std::size_t>(count));
  // At EOF what there is passes as it is; the next read sees the EOF again.
  if (count == 0 || way.rewrite(way.raw, way.held)) {
    way.held += std::exchange(way.raw, {});
    way.rewrite = nullptr;
  }
  way.wants_input = way.held.empty() && way.rewrite;
  return Pumped::going;
}

// One read and one write for small messages, the common case.
Relay::Pumped Relay::copy(Direction& way) {
  if (way.rewrite) return copy_rewritten(way);
  std::array<char, kCopied> buffer;
  const ssize_t count = ::recv(way.from, buffer.data(), buffer.size(), 0);
  way.wants_input = count < 0 && would_block(errno);
  if (count < 0) return way.wants_input ? Pumped::going : Pumped::broken;
  if (count == 0) return finish(way);
  const auto size = static_cast<std::size_t>(count);
  const ssize_t sent = ::send(way.to, buffer.data(), size, MSG_NOSIGNAL);
  if (sent < 0 && !would_block(errno)) return Pumped::broken;
  const std::size_t taken = sent > 0 ? static_cast<std::size_t>(sent) : 0;
  way.total += taken;
  way.wants_room = taken < size;
  if (way.wants_room) way.held.assign(buffer.data() + taken, size - taken);
  way.streaming = size == buffer.size();
  // Assume that was all; if not, the loop reports it at once.
  way.wants_input = !way.streaming && !way.wants_room;
  return Pumped::going;
}

Relay::Pumped Relay::fill(Direction& way) {
  if (!way.pipe.read.valid()) {
    std::optional<Pipe> pipe = pipes_.take();
    if (!pipe) return copy(way);
    way.pipe = std::move(*pipe);
  }
  const ssize_t count = ::splice(way.from, nullptr, way.pipe.write.get(), nullptr, kPipeSize,
                                 SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  way.wants_input = count < 0 && would_block(errno);
  if (count < 0 && !way.wants_input) return Pumped::broken;
  if (count > 0) way.in_pipe = static_cast<std::size_t>(count);
  if (static_cast<std::size_t>(std::max<ssize_t>(count, 0)) < kCopied) way.streaming = false;
  if (count <= 0) give_back_pipe(way);
  return count == 0 ? finish(way) : Pumped::going;
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
  if (way.in_pipe == 0 && !way.streaming) {
    give_back_pipe(way);
    way.wants_input = true;
  }
  return Pumped::going;
}

Relay::Pumped Relay::step(Direction& way) {
  if (!way.held.empty()) return send_held(way);
  if (way.in_pipe > 0) return empty(way);
  return way.streaming ? fill(way) : copy(way);
}

Relay::Pumped Relay::pump(Direction& way) {
  way.wants_input = way.wants_room = false;
  for (int round = 0; round < kMostRounds && !way.finished; ++round) {
    if (step(way) == Pumped::broken) return Pumped::broken;
    if (way.wants_input || way.wants_room) return Pumped::going;
  }
  // There is more: the loop calls again at once.
  if (!way.finished)
    (way.in_pipe > 0 || !way.held.empty() ? way.wants_room : way.wants_input) = true;
  return Pumped::going;
}

void Relay::ready(std::uint32_t events, int fd) {
  const bool client = fd == sockets_.client.get();
  Direction& reading = client ? up_ : down_;
  Direction& writing = client ? down_ : up_;
  const bool readable = (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0;
  // After an error, what had arrived before is still forwarded, as far as the other side takes it.
  if (readable && !reading.finished && pump(reading) == Pumped::broken) return end(true);
  if ((events & EPOLLOUT) != 0 && !writing.finished && writing.wants_room &&
      pump(writing) == Pumped::broken)
    return end(true);
  if (up_.finished && down_.finished) return end(false);
  // Both directions are closed; EPOLLHUP would be reported until we react.
  if ((events & EPOLLERR) != 0 || ((events & EPOLLHUP) != 0 && reading.finished)) return end(true);
  update();
}

void Relay::update() {
  const auto wanted = [](const Direction& reading, const Direction& writing) {
    std::uint32_t events = 0;
    if (!reading.finished && reading.wants_input) events |= EPOLLIN;
    if (!writing.finished && writing.wants_room) events |= EPOLLOUT;
    // EPOLLHUP is always reported, even with no events requested: edge-triggered, it is reported
    // once.
    return events == 0 ? std::uint32_t{EPOLLET} : events;
  };
  loop_.change(sockets_.client.get(), wanted(up_, down_));
  loop_.change(sockets_.server.get(), wanted(down_, up_));
}

void Relay::end(bool broken) {
  forget();
  const std::function<void(const Relayed&)> ended = std::move(ended_);
  if (ended) ended({.to_server = up_.total, .to_client = down_.total, .broken = broken});
}

}  // namespace coop::egress
