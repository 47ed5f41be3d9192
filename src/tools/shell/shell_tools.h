// bash and exec: commands, in the sandbox or on the owner's host.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "coop/sandbox.h"
#include "tools/files/view.h"
#include "tools/tool.h"

namespace coop::tools {

inline constexpr std::chrono::seconds kDefaultTimeout{120};
inline constexpr std::uint64_t kOutputLimit = 100 << 10;

// How commands are run here; the tools only say which.
using Runner =
    std::function<Result<ExecOutput>(const Command& command, std::chrono::milliseconds timeout)>;

struct ShellPlace {
  std::function<Result<FileView>()> view{};  // asked only where a directory is named
  Path workspace{};                          // as commands know it
  Path tools{};                              // programs an agent made for itself; empty: none
  std::optional<std::string> path{};  // their PATH, without those; unset: as the policy has it
  std::chrono::milliseconds timeout = kDefaultTimeout;  // where a call gives none
  std::optional<std::chrono::milliseconds> longest{};   // whatever a call gives
  std::atomic<bool>* lacks_bash = nullptr;              // set once /bin/bash could not be run there
};

// {command, timeout?: seconds, directory?}. /bin/sh runs it where there is no bash.
ToolOutput bash(const ShellPlace& place, const Runner& runner, const Json& arguments);
// {program, arguments?: strings, environment?: strings by name, timeout?, directory?}
ToolOutput exec(const ShellPlace& place, const Runner& runner, const Json& arguments);

}  // namespace coop::tools
