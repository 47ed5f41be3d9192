// An interactive run: the caller's terminal on one side, the sandbox's own pty on the other.
#pragma once

#include <optional>

#include "run/capture.h"
#include "run/freeze.h"
#include "run/sandbox_state.h"

namespace coop::run {

// The size of the terminal at `fd`; nothing when it is no terminal.
std::optional<TerminalSize> terminal_size(int fd);

// Relays until the end. The caller's terminal is raw meanwhile and restored on every way out.
// Blocks SIGWINCH, SIGCONT and the signals to pass on, in this thread: for the coop program only.
Result<ExecOutput> attend(Sandbox::State& state, std::optional<std::chrono::milliseconds> timeout);

// The same without a terminal of its own: waits and passes signals on.
Result<ExecOutput> accompany(Sandbox::State& state,
                             std::optional<std::chrono::milliseconds> timeout);

// The same with both streams captured.
Result<ExecOutput> accompany_captured(Sandbox::State& state, CapturePipes pipes,
                                      std::optional<std::chrono::milliseconds> timeout);

}  // namespace coop::run
