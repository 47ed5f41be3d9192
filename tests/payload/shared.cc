// Uses up what all processes of a user share. Each attack takes as much as it gets, makes the file "holding" when it has it
// (the test then looks at the rest of the machine) and ends when that file is gone.
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <string>

#include "payload/payload.h"

namespace payload {
namespace {

void pause_for(int milliseconds) { ::poll(nullptr, 0, milliseconds); }

void hold() {
  ::close(::open("holding", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  for (int tries = 0; tries < 300 && ::access("holding", F_OK) == 0; ++tries) pause_for(100);
}

void raise_own_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

constexpr std::size_t kMostInOneMessage = 253;  // SCM_MAX_FD

// One byte with that many descriptors. 0 or an errno.
int pass(int socket, std::size_t count, int flags, const sockaddr_un* to = nullptr,
         socklen_t size = 0) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostInOneMessage * sizeof(int))> space{};
  char byte = 0;
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_name = const_cast<sockaddr_un*>(to);
  message.msg_namelen = size;
  message.msg_control = space.data();
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof(int));  // all zeroes: standard input, many times
  return ::sendmsg(socket, &message, flags) < 0 ? errno : 0;
}

// pass-descriptor: as a program of the host does
int pass_one(Arguments) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) < 0) return cannot_try("socketpair");
  const int error = pass(pair[0], 1, 0);
  return error != 0 ? blocked(error) : escaped();
}

// in-flight COUNT
int in_flight(Arguments a) {
  raise_own_limit();
  long sent = 0;
  int error = 0;
  while (sent < number(a[0]) && error == 0) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) < 0) return cannot_try("socketpair");
    while (sent < number(a[0]) && (error = pass(pair[0], kMostInOneMessage, MSG_DONTWAIT)) == 0)
      sent += kMostInOneMessage;
    if (error == EAGAIN) error = 0;  // this queue is full
  }
  hold();
  return error != 0 ? blocked(error) : escaped();
}

// waiting-senders COUNT: since 6.10 the kernel looks at the limit, waits for room in the queue, and counts then
int waiting_senders(Arguments a) {
  raise_own_limit();
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  std::memcpy(place.sun_path + 1, "waiting", 7);
  const socklen_t size = offsetof(sockaddr_un, sun_path) + 8;
  const auto* address = reinterpret_cast<const sockaddr*>(&place);
  const int receiver = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  const int filler = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  if (::bind(receiver, address, size) < 0) return cannot_try("bind");
  long plain = 0;
  while (plain < 5000 && ::sendto(filler, "x", 1, MSG_DONTWAIT, address, size) == 1) ++plain;
  for (long left = number(a[0]); left > 0; --left)
    if (::fork() == 0) {
      ::alarm(30);
      ::_exit(pass(::socket(AF_UNIX, SOCK_DGRAM, 0), kMostInOneMessage, 0, &place, size));
    }
  pause_for(1000);
  char byte = 0;
  while (plain-- > 0) ::recv(receiver, &byte, 1, 0);  // room for those that wait
  pause_for(300);
  hold();
  return escaped();
}

// inotify COUNT
int inotify_instances(Arguments a) {
  raise_own_limit();
  int error = 0;
  for (long left = number(a[0]); left > 0 && error == 0; --left)
    if (::inotify_init1(IN_CLOEXEC) < 0) error = errno;
  if (number(a[0]) > 1) hold();
  return error != 0 ? blocked(error) : escaped();
}

// message-queues COUNT: of the usual size. Their names are removed at once: they exist as long as they are open.
int message_queues(Arguments a) {
  int error = 0;
  for (long left = number(a[0]); left > 0 && error == 0; --left) {
    const std::string name = "/coop-payload-" + std::to_string(::getpid());
    if (::mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, nullptr) < 0)
      error = errno;
    else ::mq_unlink(name.c_str());
  }
  if (number(a[0]) > 10) hold();
  return error != 0 ? blocked(error) : escaped();
}

// timers COUNT: each has a signal that could wait.
int timers(Arguments a) {
  int error = 0;
  for (long left = number(a[0]); left > 0 && error == 0; --left) {
    timer_t timer{};
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) < 0) error = errno;
  }
  if (number(a[0]) > 1000) hold();
  return error != 0 ? blocked(error) : escaped();
}

// terminals COUNT
int terminals(Arguments a) {
  for (long left = number(a[0]); left > 0; --left)
    if (::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0) return blocked(errno);
  return escaped();
}

constexpr std::array kAttacks{
    Attack{"pass-descriptor", 0, pass_one},
    Attack{"in-flight", 1, in_flight},
    Attack{"waiting-senders", 1, waiting_senders},
    Attack{"inotify", 1, inotify_instances},
    Attack{"message-queues", 1, message_queues},
    Attack{"timers", 1, timers},
    Attack{"terminals", 1, terminals},
};

}  // namespace

std::span<const Attack> shared_attacks() { return kAttacks; }

}  // namespace payload
