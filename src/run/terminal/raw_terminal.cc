#include "run/terminal/raw_terminal.h"

#include <unistd.h>

namespace coop::run {

namespace {

termios raw_from(termios settings) {
  ::cfmakeraw(&settings);
  return settings;
}

bool same_mode(const termios& left, const termios& right) {
  return left.c_iflag == right.c_iflag && left.c_oflag == right.c_oflag &&
         left.c_lflag == right.c_lflag;
}

}  // namespace

// A terminal that is not our controlling one has no foreground for us, and never stops us.
bool RawTerminal::in_background() const {
  const pid_t foreground = valid_ ? ::tcgetpgrp(fd_) : -1;
  return foreground >= 0 && foreground != ::getpgrp();
}

void RawTerminal::look() {
  if (valid_ && !entered_) ::tcgetattr(fd_, &before_);
}

void RawTerminal::enter() {
  if (!valid_) return;
  const termios raw = raw_from(before_);
  ::tcsetattr(fd_, TCSADRAIN, &raw);
  entered_ = true;
}

void RawTerminal::leave() {
  if (entered_) ::tcsetattr(fd_, TCSADRAIN, &before_);
  entered_ = false;
}

void restore_if_raw(int fd, const termios& before) {
  termios now{};
  if (::tcgetattr(fd, &now) < 0) return;
  // A shell may have set the mode since, while the supervisor was stopped or before we ran: keep
  // it.
  if (!same_mode(now, raw_from(before))) return;
  // TCSANOW: pending output may wait for a reader that never comes.
  ::tcsetattr(fd, TCSANOW, &before);
}

}  // namespace coop::run
