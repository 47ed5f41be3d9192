#include "run/terminal/raw_terminal.h"

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

void RawTerminal::enter() {
  if (!valid_) return;
  const termios raw = raw_from(before_);
  ::tcsetattr(fd_, TCSADRAIN, &raw);
}

void RawTerminal::leave() {
  if (valid_) ::tcsetattr(fd_, TCSADRAIN, &before_);
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
