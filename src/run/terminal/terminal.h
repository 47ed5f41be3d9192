// An interactive run: the caller's terminal on one side, the sandbox's pty on the other.
#pragma once

#include <optional>

#include "run/output/capture.h"
#include "run/sandbox_state.h"
#include "run/start/freeze.h"

namespace coop::run {

// The size of the terminal at `fd`; nothing when it is no terminal.
std::optional<TerminalSize> terminal_size(int fd);

// Relays until the end. The caller's terminal is raw meanwhile and restored on every return. Blocks
// SIGWINCH, SIGCONT and the forwarded signals in this thread: for the coop program only.
Result<ExecOutput> run_in_terminal(Sandbox::State& state,
                                   std::optional<std::chrono::milliseconds> timeout);

// The same without a pty: waits and forwards signals.
Result<ExecOutput> run_forwarding_signals(Sandbox::State& state,
                                          std::optional<std::chrono::milliseconds> timeout);

// The same with both streams captured, and the timeout of the policy.
Result<ExecOutput> run_forwarding_signals(Sandbox::State& state, CapturePipes pipes);

}  // namespace coop::run
