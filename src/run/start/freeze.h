// Plan → child::Program: every string and flag is computed before the clone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "child/program.h"
#include "coop/sandbox.h"
#include "plan/plan.h"
#include "run/start/region.h"

namespace coop::run {

struct TerminalSize {
  unsigned short rows = 24;
  unsigned short columns = 80;
};

struct FreezeOptions {
  std::optional<TerminalSize> terminal{};  // gives the command its own pty
  bool pass_root = false;                  // send a descriptor of the root to the supervisor
  bool pass_mounts = false;                // and one of the mount namespace
  bool hold_trees =
      false;  // those below a kept home stay out of it: only by their descriptors they are reached
  std::vector<Path> groups{};  // v1: files by which the child joins its groups, first
  bool await_scope = false;    // systemd moves the child into its scope first
  int shared_tmp = -1;         // descriptor of a detached mount
  std::size_t first_step = 0;  // earlier steps are in another program
};

// The instructions and everything they point to, in `region`.
Result<std::span<const child::Instruction>> freeze(const Plan& plan, const FreezeOptions& options,
                                                   Region& region);

// "size=…\0nr_inodes=…\0mode=…\0", as child::new_filesystem() takes them once an empty option ends the list.
std::string tmpfs_options(std::uint64_t size, std::uint64_t inodes, std::uint32_t mode);

// A list that ends with a null pointer, as execve takes it.
Result<const char* const*> freeze_list(const std::vector<std::string>& texts, Region& region);

// The command's working directory inside.
Path directory_of(const Plan& plan, const Command& command);

// The arguments of execve, with the sandbox's PATH applied.
struct Invocation {
  std::vector<std::string> candidates{};
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};
  std::string directory{};
};
Invocation invocation_for(const Plan& plan, const Command& command);

}  // namespace coop::run
