#include "run/terminal/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "run/terminal/filter.h"
#include "run/terminal/raw_terminal.h"
#include "sys/message.h"

namespace coop::run {

namespace {

constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool is_ignored(int number) {
  struct sigaction now{};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Signals through a signalfd instead of handlers. Signals that were ignored at the start (nohup, a
// shell's "&") stay ignored: blocking them would queue them.
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
  struct Taken {
    int number = 0;  // 0 when there was none
    bool from_terminal = false;
  };
  Result<void> join(EventLoop& loop, std::function<void(const Taken&)> act) const {
    return loop.watch(fd_.get(), EPOLLIN,
                      [this, act = std::move(act)](std::uint32_t) { act(take()); });
  }

 private:
  Taken take() const {
    signalfd_siginfo information{};
    const ssize_t size = ::read(fd_.get(), &information, sizeof information);
    if (size != sizeof information) return {};
    return {static_cast<int>(information.ssi_signo), information.ssi_code == SI_KERNEL};
  }

  UniqueFd fd_{};
};

using child::Recipients;

void pass_on(const Sandbox::State& state, int number, Recipients recipients) {
  const child::SignalRequest request{.number = number, .recipients = recipients};
  // Fails only when init is gone already.
  [[maybe_unused]] const Result<void> ignored =
      send_message(state.launched.control.get(), &request, sizeof request);
}

// For commands that ignore SIGTERM; as long as `docker stop` waits.
constexpr std::chrono::seconds kTermGrace{10};

void kill_later(EventLoop& loop, Sandbox::State& state) {
  loop.at(std::chrono::steady_clock::now() + kTermGrace, [&state] { kill_all(state); });
}

// Until we are continued. By SIGTSTP and its default action, not by SIGSTOP: the kernel ignores SIGTSTP in an orphaned
// process group, where no shell could continue us. Then, and where the caller ignores it, this returns at once.
void stop_ourselves() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTSTP);
  sigset_t before;
  // Sent first: an already pending one and this one stop us once, not twice.
  ::kill(::getpid(), SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &set, &before);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

void copy_size(int from, int to) {
  winsize size{};
  if (::ioctl(from, TIOCGWINSZ, &size) == 0) ::ioctl(to, TIOCSWINSZ, &size);
}

// Bytes in transit in one direction.
struct Flow {
  std::string waiting{};
  bool ended = false;

  bool fill(int fd) {
    std::array<char, 16384> buffer;
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (count <= 0) return false;  // EIO: the pty's other end is closed everywhere
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
  Relay(EventLoop& loop, Sandbox::State& state) : loop_(loop), state_(state) {
    if (state.prepared.policy.terminal == TerminalOutput::filtered)
      filter_.emplace(terminal_encoding());
  }

  Result<ExecOutput> run(std::optional<std::chrono::milliseconds> timeout) {
    state_.on_stop = [this](int) { stop(); };
    TRY(signals_.join(loop_, [this](const Signals::Taken& signal) { obey(signal); }));
    TRY(come_forward());
    const Ending ending = TRY(supervise(
        loop_, state_,
        {.deadline = deadline_after(timeout), .before_wait = [this] { choose_descriptors(); }}));
    // A short command may have ended before we were told of its terminal.
    read_last_reports(state_);
    drain();
    drop_answers();
    terminal_.leave();
    return finish(state_, ending);
  }

 private:
  // Before raw mode: if we are killed then, the janitor restores the terminal.
  Result<void> entrust_terminal() {
    if (!terminal_.valid()) return {};
    if (!state_.charge.given()) state_.charge = TRY(Charge::give({}, state_.launched.pidfd.get()));
    return state_.charge.watch_terminal(STDIN_FILENO, terminal_.before());
  }

  // Raw mode and input, as soon as the terminal is ours: not yet for "coop run … &" and after "bg", where reading
  // would stop us (SIGTTIN) with the first key that is typed for another job. No signal tells that a running job has been
  // brought forward ("fg").
  Result<void> come_forward() {
    if (terminal_.in_background()) {
      look_later();
      return {};
    }
    // When we started in the background the mode was that of the shell's prompt.
    terminal_.look();
    TRY(entrust_terminal());
    terminal_.enter();
    if (state_.terminal.valid()) copy_size(STDIN_FILENO, state_.terminal.get());
    return {};
  }

  void look_later() {
    constexpr std::chrono::milliseconds kPause{100};
    if (std::exchange(looks_later_, true)) return;
    loop_.after(kPause, [this] {
      looks_later_ = false;
      // Without the janitor the mode is not restored after a SIGKILL.
      (void)come_forward();
    });
  }

  void choose_descriptors() {
    const int master = state_.terminal.valid() ? state_.terminal.get() : -1;
    const auto events = [](bool want_read, bool want_write) {
      return (want_read ? EPOLLIN : 0U) | (want_write ? EPOLLOUT : 0U);
    };
    if (in_.ended || master < 0 || (terminal_.valid() && !terminal_.entered()))
      loop_.forget(STDIN_FILENO);
    else
      watch(STDIN_FILENO, events(in_.waiting.size() < kMost, false), [this](std::uint32_t) {
        if (!in_.fill(STDIN_FILENO)) end_input();
        else note_key();
      });
    if (out_.ended) loop_.forget(master);
    else if (master >= 0)
      watch(master, events(out_.waiting.size() < kMost, !in_.waiting.empty()),
            [this, master](std::uint32_t ready) {
              if ((ready & EPOLLOUT) != 0) in_.empty(master);
              if ((ready & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) out_.ended = !fill_output(master);
            });
    if (out_.waiting.empty()) loop_.forget(STDOUT_FILENO);
    else watch(STDOUT_FILENO, EPOLLOUT, [this](std::uint32_t) { out_.empty(STDOUT_FILENO); });
  }

  void watch(int fd, std::uint32_t events, const EventLoop::Ready& ready) {
    if (loop_.watches(fd)) return loop_.change(fd, events);
    // A descriptor that cannot be watched is closed, say: reading or writing tells.
    if (!loop_.watch(fd, events, ready)) ready(events | EPOLLERR);
  }

  // The sandbox's terminal makes a signal of it; ours, being raw, has sent none.
  void note_key() {
    const char last = in_.waiting.empty() ? '\0' : in_.waiting.back();
    state_.key = {.signal = last == '\x03'   ? SIGINT
                            : last == '\x1c' ? SIGQUIT
                                             : 0,
                  .relayed = true};
  }

  bool fill_output(int master) {
    Flow read;
    if (!read.fill(master)) return false;
    got_output_ = !read.waiting.empty();
    if (filter_) filter_->feed(read.waiting, out_.waiting);
    else out_.waiting += read.waiting;
    return true;
  }

  // The sandbox's last output, and what we had already read.
  void drain() {
    if (state_.terminal.valid()) {
      ::fcntl(state_.terminal.get(), F_SETFL, O_NONBLOCK);
      do got_output_ = false;
      while (fill_output(state_.terminal.get()) && got_output_);
    }
    if (filter_) out_.waiting += filter_->end();
    write_waiting();
  }

  void write_waiting() {
    while (!out_.waiting.empty()) {
      wait_until_ready(STDOUT_FILENO, POLLOUT);
      out_.empty(STDOUT_FILENO);
    }
  }

  // An answer to what the command asked just before it ended or stopped belongs to no one: the shell must not read it as typed.
  void drop_answers() {
    if (!terminal_.entered() || !filter_ || !filter_->asked()) return;
    constexpr int kPatience = 100;  // milliseconds
    Flow answers;
    for (pollfd input{STDIN_FILENO, POLLIN, 0}; ::poll(&input, 1, kPatience) > 0;) {
      answers.waiting.clear();
      if (!answers.fill(STDIN_FILENO) || answers.waiting.empty()) return;
    }
  }

  // Our input is no terminal and at EOF: type the EOF character into the pty.
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
      case SIGCONT: (void)come_forward(); break;
      case SIGTSTP: stop(); break;
      case SIGTERM: kill_later(loop_, state_); [[fallthrough]];
      default: pass_on(state_, signal.number, Recipients::workload);
    }
  }

  // The command was stopped (Ctrl-Z inside): stop as well, so that the caller's shell gets its
  // terminal back, and continue the command when we are continued.
  void stop() {
    // Programs that draw undo their modes before they stop and redo them after. A hostile one must not leave them to the shell.
    if (filter_) out_.waiting += filter_->undo();
    write_waiting();
    drop_answers();
    terminal_.leave();
    stop_ourselves();
    (void)come_forward();
    pass_on(state_, SIGCONT, Recipients::group);
  }

  static constexpr std::size_t kMost = 1 << 18;  // backpressure instead of unbounded memory
  EventLoop& loop_;
  Sandbox::State& state_;
  Signals signals_{};  // first: a signal must not end us while the terminal is raw
  RawTerminal terminal_{STDIN_FILENO};
  Flow in_{};
  Flow out_{};
  std::optional<TerminalFilter> filter_{};  // unset: raw
  bool got_output_ = false;
  bool looks_later_ = false;
};

// Without a pty the command is in its own session, so the caller's terminal does not signal it:
// forward what Ctrl-C or Ctrl-Z would do to a pipeline.
void relay_signal(Sandbox::State& state, const Signals::Taken& signal) {
  const Recipients recipients = signal.from_terminal ? Recipients::everyone : Recipients::workload;
  if (signal.from_terminal) state.key = {.signal = signal.number};
  if (signal.number == SIGTSTP) {
    pass_on(state, SIGSTOP, Recipients::everyone);
    stop_ourselves();
    pass_on(state, SIGCONT, Recipients::everyone);
  } else if (signal.number != 0 && signal.number != SIGWINCH) {
    pass_on(state, signal.number, recipients);
  }
}

Result<void> forward(Signals& signals, EventLoop& loop, Sandbox::State& state) {
  return signals.join(loop, [&loop, &state](const Signals::Taken& signal) {
    if (signal.number == SIGTERM) kill_later(loop, state);
    relay_signal(state, signal);
  });
}

}  // namespace

std::optional<TerminalSize> terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) < 0) return std::nullopt;
  return TerminalSize{size.ws_row, size.ws_col};
}

Result<ExecOutput> run_in_terminal(Sandbox::State& state,
                                   std::optional<std::chrono::milliseconds> timeout) {
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  return Relay(*loop, state).run(timeout);
}

Result<ExecOutput> run_forwarding_signals(Sandbox::State& state,
                                          std::optional<std::chrono::milliseconds> timeout) {
  Signals signals;
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  TRY(forward(signals, *loop, state));
  // Once init has reported the outcome it only has to exit; finish() waits for that.
  const Ending ending = TRY(supervise(
      *loop, state,
      {.deadline = deadline_after(timeout), .over = [&state] { return state.ended.has_value(); }}));
  return finish(state, ending);
}

Result<ExecOutput> run_forwarding_signals(Sandbox::State& state, CapturePipes pipes) {
  Signals signals;
  const std::unique_ptr<EventLoop> loop = TRY(EventLoop::make());
  TRY(forward(signals, *loop, state));
  return capture(*loop, state, std::move(pipes), std::nullopt);
}

}  // namespace coop::run
