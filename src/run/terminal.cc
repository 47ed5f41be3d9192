#include "run/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "run/raw_terminal.h"
#include "sys/message.h"

namespace coop::run {

namespace {

constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool is_ignored(int number) {
  struct sigaction now{};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Signals as readable events instead of handlers. What the caller had us ignore (nohup, a shell's
// "&") stays ignored: blocking it would queue it.
class Signals {
 public:
  Signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : kPassedOn)
      if (!is_ignored(number)) ::sigaddset(&set, number);
    if (!is_ignored(SIGTSTP)) ::sigaddset(&set, SIGTSTP);
    ::sigaddset(&set, SIGWINCH);
    ::sigaddset(&set, SIGCONT);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  int fd() const { return fd_.get(); }
  struct Taken {
    int number = 0;  // 0 when there was none
    bool from_terminal = false;
  };
  Taken take() const {
    signalfd_siginfo information{};
    const ssize_t size = ::read(fd_.get(), &information, sizeof information);
    if (size != sizeof information) return {};
    return {static_cast<int>(information.ssi_signo), information.ssi_code == SI_KERNEL};
  }

 private:
  UniqueFd fd_{};
};

using child::Recipients;

void pass_on(const Sandbox::State& state, int number, Recipients recipients) {
  const child::SignalRequest request{.number = number, .recipients = recipients};
  // Fails only when init is gone already, and then there is nobody to tell.
  [[maybe_unused]] const Result<void> ignored =
      send_message(state.launched.control.get(), &request, sizeof request);
}

// Until we are continued. By SIGTSTP and its default action, not by SIGSTOP: the kernel ignores it
// where nobody could continue us, as in the process group of a terminal's only program. Then, and
// where the caller ignores it, this returns at once.
void stop_ourselves() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTSTP);
  sigset_t before;
  // Sent first: one that is waiting already and this one stop us once, not twice.
  ::kill(::getpid(), SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &set, &before);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

void copy_size(int from, int to) {
  winsize size{};
  if (::ioctl(from, TIOCGWINSZ, &size) == 0) ::ioctl(to, TIOCSWINSZ, &size);
}

// Bytes on their way in one direction.
struct Flow {
  std::string waiting{};
  bool ended = false;

  bool fill(int fd) {
    std::array<char, 16384> buffer;
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (count <= 0) return false;  // EIO: nobody has the pty's other end open any more
    waiting.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }
  void empty(int fd) {
    const ssize_t count = ::write(fd, waiting.data(), waiting.size());
    if (count > 0) waiting.erase(0, static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EINTR) waiting.clear();
  }
};

class Relay {
 public:
  Relay(Sandbox::State& state, const Deadline& deadline) : state_(state), deadline_(deadline) {}

  Result<ExecOutput> run() {
    state_.on_stop = [this](int) { stop(); };
    TRY(entrust_terminal());
    terminal_.enter();
    while (!dead_) TRY(step());
    drain();
    terminal_.leave();
    return finish(state_, ending_);
  }

 private:
  // Before it is raw: whoever kills us then must not be left with a terminal that shows nothing.
  Result<void> entrust_terminal() {
    if (!terminal_.valid()) return {};
    if (!state_.charge.given()) state_.charge = TRY(Charge::give({}, state_.launched.pidfd.get()));
    return state_.charge.watch_terminal(STDIN_FILENO, terminal_.before());
  }

  Result<void> step() {
    const int master = state_.terminal.valid() ? state_.terminal.get() : -1;
    const auto events = [](bool want_read, bool want_write) {
      return static_cast<short>((want_read ? POLLIN : 0) | (want_write ? POLLOUT : 0));
    };
    pollfd watched[6] = {
        {state_.launched.pidfd.get(), POLLIN, 0},
        {controlled_ ? state_.launched.control.get() : -1, POLLIN, 0},
        {signals_.fd(), POLLIN, 0},
        {in_.ended || master < 0 ? -1 : STDIN_FILENO, events(in_.waiting.size() < kMost, false), 0},
        {out_.ended ? -1 : master, events(out_.waiting.size() < kMost, !in_.waiting.empty()), 0},
        {out_.waiting.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0}};
    const int count =
        TRY(await(state_, watched, ending_ == Ending::by_itself ? deadline_ : std::nullopt));
    if (count == 0) {
      ending_ = Ending::timed_out;
      kill_all(state_);
      return {};
    }
    if (count < 0) return {};
    if (watched[1].revents != 0) controlled_ = read_report(state_);
    if (watched[2].revents != 0) obey(signals_.take());
    if (watched[3].revents != 0 && !in_.fill(STDIN_FILENO)) end_input();
    if ((watched[4].revents & POLLOUT) != 0) in_.empty(master);
    if ((watched[4].revents & (POLLIN | POLLHUP | POLLERR)) != 0) out_.ended = !out_.fill(master);
    if (watched[5].revents != 0) out_.empty(STDOUT_FILENO);
    dead_ = watched[0].revents != 0;
    return {};
  }

  // What the dying sandbox still wrote, and what we had read of it already.
  void drain() {
    if (state_.terminal.valid()) {
      ::fcntl(state_.terminal.get(), F_SETFL, O_NONBLOCK);
      std::size_t before = 0;
      do before = out_.waiting.size();
      while (out_.fill(state_.terminal.get()) && out_.waiting.size() > before);
    }
    while (!out_.waiting.empty()) {
      pollfd writable{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&writable, 1, -1);
      out_.empty(STDOUT_FILENO);
    }
  }

  // Our input is no terminal and at its end: inside, the end of a terminal's input is typed.
  void end_input() {
    in_.ended = true;
    in_.waiting += '\x04';
  }

  void obey(const Signals::Taken& signal) {
    switch (signal.number) {
      case 0: break;
      case SIGWINCH:
        if (state_.terminal.valid()) copy_size(STDIN_FILENO, state_.terminal.get());
        break;
      case SIGCONT: terminal_.enter(); break;
      case SIGTSTP: stop(); break;
      default: pass_on(state_, signal.number, Recipients::workload);
    }
  }

  // The command was stopped (Ctrl-Z inside): stop with it, so that the caller's shell gets its
  // terminal back, and continue it when we are continued.
  void stop() {
    terminal_.leave();
    stop_ourselves();
    terminal_.enter();
    if (state_.terminal.valid()) copy_size(STDIN_FILENO, state_.terminal.get());
    pass_on(state_, SIGCONT, Recipients::group);
  }

  static constexpr std::size_t kMost = 1 << 18;  // a slow reader stops the writer, not our memory
  Sandbox::State& state_;
  Deadline deadline_;
  Signals signals_{};  // first: a signal must not end us while the terminal is raw
  RawTerminal terminal_{STDIN_FILENO};
  Flow in_{};
  Flow out_{};
  Ending ending_ = Ending::by_itself;
  bool controlled_ = true;
  bool dead_ = false;
};

// Without a pty the command is in a session of its own, out of reach of the caller's terminal: what
// Ctrl-C or Ctrl-Z would do to a whole pipeline is done for it.
void relay_signal(const Sandbox::State& state, const Signals::Taken& signal) {
  const Recipients recipients = signal.from_terminal ? Recipients::everyone : Recipients::workload;
  if (signal.number == SIGTSTP) {
    pass_on(state, SIGSTOP, Recipients::everyone);
    stop_ourselves();
    pass_on(state, SIGCONT, Recipients::everyone);
  } else if (signal.number != 0 && signal.number != SIGWINCH) {
    pass_on(state, signal.number, recipients);
  }
}

}  // namespace

std::optional<TerminalSize> terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) < 0) return std::nullopt;
  return TerminalSize{size.ws_row, size.ws_col};
}

Result<ExecOutput> attend(Sandbox::State& state, std::optional<std::chrono::milliseconds> timeout) {
  return Relay(state, deadline_after(timeout)).run();
}

Result<ExecOutput> accompany(Sandbox::State& state,
                             std::optional<std::chrono::milliseconds> timeout) {
  const Signals signals;
  const Deadline deadline = deadline_after(timeout);
  Ending ending = Ending::by_itself;
  pollfd watched[3] = {{state.launched.pidfd.get(), POLLIN, 0},
                       {state.launched.control.get(), POLLIN, 0},
                       {signals.fd(), POLLIN, 0}};
  // Once init has told the outcome it only has to die; finish() waits for that.
  while (watched[0].revents == 0 && !state.ended) {
    const int count = TRY(await(state, watched, deadline));
    if (count == 0) {
      ending = Ending::timed_out;
      kill_all(state);
      break;
    }
    if (count < 0) continue;
    if (watched[1].revents != 0 && !read_report(state)) watched[1].fd = -1;
    if (watched[2].revents != 0) relay_signal(state, signals.take());
  }
  return finish(state, ending);
}

Result<ExecOutput> accompany_captured(Sandbox::State& state, CapturePipes pipes,
                                      std::optional<std::chrono::milliseconds> timeout) {
  const Signals signals;
  return capture(state, std::move(pipes), timeout,
                 {signals.fd(), [&] { relay_signal(state, signals.take()); }});
}

}  // namespace coop::run
