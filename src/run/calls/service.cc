#include "run/calls/service.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "run/calls/dispatcher.h"
#include "sys/message.h"
#include "sys/own_descriptors.h"
#include "sys/signals_blocked.h"

namespace coop::run {

namespace {

// False when it could not begin.
bool serve_all(int socket, int stop) {
  // The agents that it makes then inherit nothing of the program's.
  if (!leave_program({socket, stop})) return false;
  Dispatcher dispatcher{UniqueFd(socket)};  // a number of this thread's own table
  while (dispatcher.fd() >= 0) {
    std::array<pollfd, 2> watched{{{stop, POLLIN, 0}, {dispatcher.fd(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return true;
    if (watched[0].revents != 0) return true;
    if (watched[1].revents != 0) dispatcher.serve();
  }
  return true;
}

// A listener that is never read from would make callers wait for ever; without one their calls fail.
void refuse_all(int socket) {
  ::shutdown(socket, SHUT_RDWR);
  while (receive_message(socket).size > 0) {
  }
}

}  // namespace

Result<std::unique_ptr<CallService>> CallService::start(UniqueFd socket) {
  std::unique_ptr<CallService> service(new CallService);
  service->socket_ = std::move(socket);
  service->stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!service->stop_.valid()) return system_error("eventfd");
  const SignalsBlocked blocked;
  try {
    service->thread_ = std::thread([socket = service->socket_.get(), stop = service->stop_.get()] {
      if (!serve_all(socket, stop)) refuse_all(socket);
    });
  } catch (const std::system_error& error) {
    return system_error_of(error.code().value(), "start a thread");
  }
  return service;
}

CallService::~CallService() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

}  // namespace coop::run
