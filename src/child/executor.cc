#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>

#include "child/sandbox/operations.h"
#include "child/state.h"
#include "raw/signals.h"

namespace coop::child {

namespace {

// No default: the compiler refuses an operation that is missing here.
int apply(State& state, const Instruction& instruction) noexcept {
  switch (instruction.operation) {
    case Operation::await_parent: return operation::await_parent(state, instruction);
    case Operation::set_dumpable:
      return attempt(SYS_prctl, PR_SET_DUMPABLE, instruction.first, 0, 0, 0);
    case Operation::write_file: {
      const int error = write_file(instruction.path, instruction.text);
      return error == ENOENT && instruction.first == 1 ? 0 : error;
    }
    case Operation::unshare: return attempt(SYS_unshare, instruction.first);
    case Operation::raise_loopback: return operation::raise_loopback(state, instruction);
    case Operation::netlink: return operation::netlink(state, instruction);
    case Operation::pass_netlink: return operation::pass_netlink(state, instruction);
    case Operation::listen: return operation::listen(state, instruction);
    case Operation::join_network: return operation::join_network(state, instruction);
    case Operation::set_hostname:
      return attempt(SYS_sethostname, instruction.text, length_of(instruction.text));
    case Operation::root_tmpfs: return operation::root_tmpfs(state, instruction);
    case Operation::root_host: return operation::root_host(state, instruction);
    case Operation::stage_masks: return operation::stage_masks(state, instruction);
    case Operation::stage_file: return operation::stage_file(state, instruction);
    case Operation::seal_masks: return operation::seal_masks(state, instruction);
    case Operation::make_directory: return operation::make_directory(state, instruction);
    case Operation::make_file: return operation::make_file(state, instruction);
    case Operation::make_symlink: return operation::make_symlink(state, instruction);
    case Operation::bind: return operation::bind(state, instruction);
    case Operation::remount: return operation::remount(state, instruction);
    case Operation::mount_new: return operation::mount_new(state, instruction);
    case Operation::mount_shared: return operation::mount_shared(state, instruction);
    case Operation::overlay: return operation::overlay(state, instruction);
    case Operation::serve_files: return operation::serve_files(state, instruction);
    case Operation::hide_directory:
      return operation::cover(state, instruction, state.mask_directory);
    case Operation::hide_file: return operation::cover(state, instruction, state.mask_file);
    case Operation::cover_file:
      return operation::cover(state, instruction, state.staged[instruction.second]);
    case Operation::seal: return operation::seal(state, instruction);
    case Operation::bind_home: return operation::bind_home(state, instruction);
    case Operation::move_into_home: return operation::move_into_home(state, instruction);
    case Operation::pass_tree: return operation::pass_tree(state, instruction);
    case Operation::protect_proc: return operation::protect_proc(state, instruction);
    case Operation::pass_mounts: return operation::pass_mounts(state, instruction);
    case Operation::enter_root: return operation::enter_root(state, instruction);
    case Operation::pass_root: return operation::pass_root(state, instruction);
    case Operation::limit: return operation::limit(state, instruction);
    case Operation::limit_part: return operation::limit_part(state, instruction);
    case Operation::open_terminal: return operation::open_terminal(state, instruction);
    case Operation::drop_capabilities: return operation::drop_capabilities(state, instruction);
    case Operation::no_new_privileges: return attempt(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    case Operation::landlock_create: return operation::landlock_create(state, instruction);
    case Operation::landlock_allow: return operation::landlock_allow(state, instruction);
    case Operation::landlock_restrict: return operation::landlock_restrict(state, instruction);
    case Operation::seccomp: return operation::seccomp(state, instruction);
    case Operation::verify_capabilities: return operation::verify_capabilities(state, instruction);
    case Operation::verify_no_new_privileges:
      return raw::call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EPERM;
    case Operation::verify_root: return operation::verify_root(state, instruction);
    // The call itself passes through the filter just installed.
    case Operation::verify_seccomp:
      return raw::call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER ? 0 : EPERM;
  }
  return ENOSYS;
}

// Leaves the failing step and its errno in `failure`.
void walk(const Program& program, State& state, Report& failure) noexcept {
  for (std::uint32_t index = 0; index < program.count && failure.error == 0; ++index) {
    failure.step = program.instructions[index].step;
    failure.error = apply(state, program.instructions[index]);
  }
}

// Null when the supervisor gave up or has exited.
const Program* receive_rest(int control) noexcept {
  Rest rest;
  const long size = raw::call(SYS_recvfrom, control, &rest, sizeof rest, 0, nullptr, nullptr);
  return size == sizeof rest ? rest.program : nullptr;
}

[[noreturn]] void run(const void* argument) noexcept {
  const Program& program = *static_cast<const Program*>(argument);
  State state;
  state.control = program.control;
  state.network = program.network;
  state.files = program.files;
  state.calls = program.calls;
  Report failure{.event = Event::failed};
  // First: we inherited every descriptor of the parent, including control sockets of other
  // sandboxes. While we hold a copy, those sandboxes do not notice the death of the supervisor.
  failure.error = close_all_but(program.keep, program.keep_count);
  const Program* current = &program;
  if (failure.error == 0) {
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

}  // namespace

long start_sandbox(const Program& program, const CloneOptions& options) noexcept {
  return clone_process(options, run, &program);
}

}  // namespace coop::child
