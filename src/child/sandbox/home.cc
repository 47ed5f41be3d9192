// A home that other sandboxes write in at the same time. They may rename its directories at any moment, so no path through it is
// walked twice: every mount that belongs into it was made in an empty home before, with all that guards or hides parts of
// it, and is moved as a whole. Where it lands may be wrong then, what it contains may not.
#include <linux/openat2.h>
#include <sys/mount.h>

#include <cerrno>

#include "child/sandbox/operations.h"
#include "child/sandbox/trees.h"
#include "child/state.h"

namespace coop::child::operation {

int bind_home(State& state, const Instruction& instruction) noexcept {
  const ScopedFd source(open_on_host(instruction.path, O_PATH | O_DIRECTORY));
  if (source.failed()) return source.error();
  const long empty = open_inside(state, instruction.text, O_PATH | O_DIRECTORY);
  if (empty < 0) return error_of(empty);
  state.empty_home = static_cast<int>(empty);
  const long tree = clone_tree(source.get());
  if (tree < 0) return error_of(tree);
  state.home = static_cast<int>(tree);
  if (const int error = set_attributes(tree, instruction.first)) return error;
  forget_parent(state);
  return attach(tree, empty);
}

// RESOLVE_NO_XDEV: another sandbox may have exchanged directories so that the path leads through a mount that was moved
// before. Nothing is mounted there twice.
int move_into_home(State& state, const Instruction& instruction) noexcept {
  const ScopedFd mount(open_below(state.empty_home, instruction.path, O_PATH));
  if (mount.failed()) return mount.error();
  const ScopedFd target(open_below(state.home, instruction.path, O_PATH, RESOLVE_NO_XDEV));
  if (target.failed()) return target.error();
  return attach(mount.get(), target.get());
}

// For what the supervisor mounts and looks at during the run: by then a path may lead elsewhere.
int pass_tree(State& state, const Instruction& instruction) noexcept {
  const ScopedFd tree(open_inside(state, instruction.path, O_PATH | O_DIRECTORY));
  if (tree.failed()) return tree.error();
  send_report(state.control, Report{.event = Event::tree}, static_cast<int>(tree.get()));
  return 0;
}

}  // namespace coop::child::operation
