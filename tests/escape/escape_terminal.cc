// Injecting input into the caller's terminal: its shell would run the text after the sandbox has
// ended.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/harness.h"

namespace coop::tests {
namespace {

constexpr const char* kTypeByte = "0x5412";           // TIOCSTI
constexpr const char* kTypeByteHigh = "0x100005412";  // the kernel reads 32 bits, a filter sees 64
constexpr const char* kConsole = "0x541c";            // TIOCLINUX
constexpr const char* kConsoleHigh = "0x8000000000541c";
constexpr const char* kLineDiscipline = "0x5423";  // TIOCSETD

TerminalRan outside(const Workspace& workspace, const char* request) {
  return run_on_terminal({"./payload", "type", "X", request}, {.directory = workspace.path()});
}

TerminalRan inside(const Workspace& workspace, const char* request, const char* flag) {
  return run_on_terminal(
      {coop_binary(), "run", "-w", workspace.path(), flag, "--", "./payload", "type", "X", request},
      workspace.options());
}

// Since 6.2 TIOCSTI may be disabled for ordinary users (EIO): then the call reached the terminal
// driver, unlike the filter's EPERM inside.
void expect_typing_works_outside(const TerminalRan& control) {
  if (escaped(control.ran)) {
    EXPECT_EQ(control.injected, 1);
  } else {
    EXPECT_TRUE(blocked(control.ran, EIO));
  }
}

KERNEL_TEST(EscapeTerminal, TypingIntoTheTerminal) {
  const Workspace workspace;
  expect_typing_works_outside(outside(workspace, kTypeByte));
  for (const char* flag : {"--no-tty", "--tty"}) {
    const TerminalRan attack = inside(workspace, kTypeByte, flag);
    EXPECT_TRUE(blocked(attack.ran, EPERM)) << flag;
    EXPECT_EQ(attack.injected, 0) << flag;
  }
}

KERNEL_TEST(EscapeTerminal, TypingWithAHighBitInTheRequest) {
  const Workspace workspace;
  expect_typing_works_outside(outside(workspace, kTypeByteHigh));
  const TerminalRan attack = inside(workspace, kTypeByteHigh, "--no-tty");
  EXPECT_TRUE(blocked(attack.ran, EPERM));
  EXPECT_EQ(attack.injected, 0);
}

KERNEL_TEST(EscapeTerminal, PastingOnTheConsole) {
  const Workspace workspace;
  // The control's terminal is no console: ENOTTY comes from its driver, after any filter.
  EXPECT_TRUE(blocked(outside(workspace, kConsole).ran, {ENOTTY, EINVAL}));
  EXPECT_TRUE(blocked(inside(workspace, kConsole, "--no-tty").ran, EPERM));
}

KERNEL_TEST(EscapeTerminal, PastingOnTheConsoleWithAHighBit) {
  const Workspace workspace;
  EXPECT_TRUE(blocked(outside(workspace, kConsoleHigh).ran, {ENOTTY, EINVAL}));
  EXPECT_TRUE(blocked(inside(workspace, kConsoleHigh, "--no-tty").ran, EPERM));
}

KERNEL_TEST(EscapeTerminal, LineDisciplineThatLoadsAModule) {
  const Workspace workspace;
  // "X" is read as a number that no line discipline has: EINVAL comes from the kernel.
  EXPECT_TRUE(blocked(outside(workspace, kLineDiscipline).ran, EINVAL));
  EXPECT_TRUE(blocked(inside(workspace, kLineDiscipline, "--no-tty").ran, EPERM));
}

KERNEL_TEST(EscapeTerminal, AnotherTerminalOfTheUserByItsName) {
  const Workspace workspace;
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  ASSERT_GE(master, 0);
  ASSERT_EQ(::unlockpt(master), 0);
  const std::string name = ::ptsname(master);

  EXPECT_TRUE(escaped(workspace.outside({"write", name, "pwned"})));
  char buffer[64];
  EXPECT_EQ(::read(master, buffer, sizeof buffer), 5);

  // Inside there is a separate devpts: the path does not exist, or is a terminal of the sandbox.
  for (const char* view : {"minimal", "host"})
    EXPECT_TRUE(blocked(workspace.inside({"open-write", name}, {"--view", view}), {ENOENT, EACCES}))
        << view;
  EXPECT_LT(::read(master, buffer, sizeof buffer), 0);
  ::close(master);
}

}  // namespace
}  // namespace coop::tests
