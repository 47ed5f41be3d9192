#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>

#include "child/state.h"
#include "raw/signals.h"

namespace coop::child {

namespace {

// Everything the parent had open is ours now, other sandboxes' lifelines too: as long as we hold a
// copy, the death of the supervisor goes unnoticed there. So this comes first.
int close_inherited(const Program& program) noexcept {
  unsigned from = 0;
  for (std::uint32_t index = 0; index < program.keep_count; ++index) {
    const auto keep = static_cast<unsigned>(program.keep[index]);
    if (keep > from)
      if (const int error = error_of(raw::call(SYS_close_range, from, keep - 1, 0))) return error;
    from = keep + 1;
  }
  return error_of(raw::call(SYS_close_range, from, ~0U, 0));
}

int apply(State& state, const Instruction& instruction) noexcept {
  if (instruction.operation >= Operation::root_tmpfs &&
      instruction.operation <= Operation::enter_root)
    return apply_mount(state, instruction);
  if (instruction.operation >= Operation::netlink &&
      instruction.operation <= Operation::join_network)
    return apply_network(state, instruction);
  return apply_confinement(state, instruction);
}

// Leaves the failing step and its errno in `failure`.
void walk(const Program& program, State& state, Report& failure) noexcept {
  for (std::uint32_t index = 0; index < program.count && failure.error == 0; ++index) {
    failure.step = program.instructions[index].step;
    failure.error = apply(state, program.instructions[index]);
  }
}

// Null when the supervisor gave up or is gone.
const Program* receive_rest(int control) noexcept {
  Rest rest;
  const long size = raw::call(SYS_recvfrom, control, &rest, sizeof rest, 0, nullptr, nullptr);
  return size == sizeof rest ? rest.program : nullptr;
}

}  // namespace

[[noreturn]] void run(const Program& program) noexcept {
  State state;
  state.control = program.control;
  state.network = program.network;
  Report failure{.event = Event::failed};
  failure.error = close_inherited(program);
  const Program* current = &program;
  if (failure.error == 0) {
    // The parent blocked every signal before the clone, so none of its handlers can run in here.
    raw::reset_signals();
    raw::call(SYS_setsid);
    walk(program, state, failure);
    if (failure.error == 0 && program.continues) {
      current = receive_rest(program.control);
      if (current == nullptr) raw::call(SYS_exit_group, 125);
      walk(*current, state, failure);
    }
  }
  if (failure.error == 0) become_init(*current, state);
  send_report(program.control, failure);
  for (;;) raw::call(SYS_exit_group, 125);
}

}  // namespace coop::child
