// Plan → child::Program: every string placed, every flag computed, before the clone.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "child/program.h"
#include "coop/sandbox.h"
#include "plan/plan.h"

namespace coop::run {

struct TerminalSize {
  unsigned short rows = 24;
  unsigned short columns = 80;
};

struct FreezeOptions {
  std::optional<TerminalSize> terminal{};  // give the command a pty of its own
  bool await_groups = false;               // v1: the parent moves the child into its groups first
};

// Owns everything a Program points to. Not copied: the pointers would dangle.
class Frozen {
 public:
  Frozen() = default;
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;
  Frozen(Frozen&&) = default;
  Frozen& operator=(Frozen&&) = default;

  const char* keep(std::string text);
  const char* const* keep_list(const std::vector<std::string>& texts);

  std::vector<child::Instruction> instructions{};

 private:
  std::deque<std::string> texts_{};
  std::deque<std::vector<const char*>> lists_{};
};

Frozen freeze(const Plan& plan, const FreezeOptions& options);

// What execve will need, with the PATH of the sandbox applied.
struct Invocation {
  std::vector<std::string> candidates{};
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};
  std::string directory{};
};
Invocation invocation_for(const Plan& plan, const Command& command);

}  // namespace coop::run
