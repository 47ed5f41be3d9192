// System calls that the filter neither allows nor refuses (verdict "notify"): the supervisor answers them.
#pragma once

#include "sys/fd.h"

namespace coop::run {

// A process tree can have one listener only (a second one is EBUSY), so every such call comes here, and
// the table in dispatcher.cc says what answers it.
class Dispatcher {
 public:
  Dispatcher() = default;
  // `socket` receives the listener from the child.
  explicit Dispatcher(UniqueFd socket) : socket_(std::move(socket)) {}

  // To wait for, with EPOLLIN: first the socket, then the listener. -1 when no call will come.
  int fd() const { return listener_.valid() ? listener_.get() : socket_.get(); }
  // For another dispatcher, before the first serve().
  UniqueFd take_socket() { return std::move(socket_); }
  // Once fd() is readable. Answers one call, so that whatever else waits has its turn. fd() may differ afterwards.
  void serve();

 private:
  void receive_listener();

  UniqueFd socket_{};
  UniqueFd listener_{};
};

}  // namespace coop::run
