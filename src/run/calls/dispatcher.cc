#include "run/calls/dispatcher.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "run/calls/caller.h"
#include "run/calls/modes.h"
#include "sys/message.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452  // 6.6
#endif

namespace coop::run {

namespace {

struct Handler {
  long number;
  int (*answer)(const Caller& caller, const seccomp_data& call);  // 0 or an errno
};

constexpr std::array kHandlers{
#ifdef SYS_chmod
    Handler{SYS_chmod, set_mode},
#endif
    Handler{SYS_fchmod, set_mode},
    Handler{SYS_fchmodat, set_mode},
    Handler{SYS_fchmodat2, set_mode},
};

// The kernel's structure may be longer than that of our headers, and has to be zero before it is filled.
template <typename T>
struct Padded {
  T value{};
  std::array<std::byte, 256> more{};
};

int answer(int listener, const seccomp_notif& asked) {
  const auto handler = std::ranges::find(kHandlers, long{asked.data.nr}, &Handler::number);
  if (handler == kHandlers.end()) return ENOSYS;
  const Reply<Caller> caller = Caller::find(listener, asked);
  return caller ? handler->answer(*caller, asked.data) : caller.error();
}

}  // namespace

void Dispatcher::receive_listener() {
  char word = 0;
  Received received = receive_message(socket_.get(), &word, sizeof word);
  if (received.size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  listener_ = std::move(received.descriptor);
  socket_.reset();
}

void Dispatcher::serve() {
  if (!listener_.valid()) return receive_listener();
  pollfd state{listener_.get(), POLLIN, 0};
  if (::poll(&state, 1, 0) < 0) return;
  // Every process that has the filter has ended. There may be no call either: its caller was killed meanwhile.
  if ((state.revents & (POLLHUP | POLLERR)) != 0) return listener_.reset();
  if ((state.revents & POLLIN) == 0) return;
  Padded<seccomp_notif> asked;
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) return;
  // Never answer "continue" (SECCOMP_USER_NOTIF_FLAG_CONTINUE): the path lies in the sandbox's memory, and another of its
  // threads may write another one there after our look and before the kernel reads it again.
  Padded<seccomp_notif_resp> reply;
  reply.value.id = asked.value.id;
  reply.value.error = -answer(listener_.get(), asked.value);
  // Fails when the caller was killed.
  ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

}  // namespace coop::run
