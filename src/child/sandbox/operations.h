// What an Operation does when it is more than one system call; child/executor.cc calls them. 0 or an errno.
#pragma once

#include "child/state.h"

namespace coop::child::operation {

int await_parent(State& state, const Instruction& instruction) noexcept;
int raise_loopback(State& state, const Instruction& instruction) noexcept;
int netlink(State& state, const Instruction& instruction) noexcept;
int pass_netlink(State& state, const Instruction& instruction) noexcept;
int listen(State& state, const Instruction& instruction) noexcept;
int join_network(State& state, const Instruction& instruction) noexcept;
int root_tmpfs(State& state, const Instruction& instruction) noexcept;
int root_host(State& state, const Instruction& instruction) noexcept;
int stage_masks(State& state, const Instruction& instruction) noexcept;
int stage_file(State& state, const Instruction& instruction) noexcept;
int seal_masks(State& state, const Instruction& instruction) noexcept;
int make_directory(State& state, const Instruction& instruction) noexcept;
int make_file(State& state, const Instruction& instruction) noexcept;
int make_symlink(State& state, const Instruction& instruction) noexcept;
int bind(State& state, const Instruction& instruction) noexcept;
int remount(State& state, const Instruction& instruction) noexcept;
int mount_new(State& state, const Instruction& instruction) noexcept;
int mount_shared(State& state, const Instruction& instruction) noexcept;
int overlay(State& state, const Instruction& instruction) noexcept;
int serve_files(State& state, const Instruction& instruction) noexcept;
// Mounts `mask` over the path.
int cover(State& state, const Instruction& instruction, int mask) noexcept;
int seal(State& state, const Instruction& instruction) noexcept;
int bind_home(State& state, const Instruction& instruction) noexcept;
int move_into_home(State& state, const Instruction& instruction) noexcept;
int pass_tree(State& state, const Instruction& instruction) noexcept;
int protect_proc(State& state, const Instruction& instruction) noexcept;
int enter_root(State& state, const Instruction& instruction) noexcept;
int limit(State& state, const Instruction& instruction) noexcept;
int limit_part(State& state, const Instruction& instruction) noexcept;
int pass_mounts(State& state, const Instruction& instruction) noexcept;
int pass_root(State& state, const Instruction& instruction) noexcept;
int open_terminal(State& state, const Instruction& instruction) noexcept;
int drop_capabilities(State& state, const Instruction& instruction) noexcept;
int landlock_create(State& state, const Instruction& instruction) noexcept;
int landlock_allow(State& state, const Instruction& instruction) noexcept;
int landlock_restrict(State& state, const Instruction& instruction) noexcept;
int seccomp(State& state, const Instruction& instruction) noexcept;
int verify_capabilities(State& state, const Instruction& instruction) noexcept;
int verify_root(State& state, const Instruction& instruction) noexcept;

}  // namespace coop::child::operation
