// The flags of `coop run`: cli/usage parses them and writes --help, the completions and the man page from this table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/usage/usage.h"
#include "request/resolve.h"

namespace coop::cli {

enum class Terminal { automatic, always, never };

// What the command line of `run` and `plan` asks for.
struct Options {
  request::Wanted wanted{};
  std::vector<std::string> command{};
  std::optional<LogFormat> log_format{};
  bool chose_preset = false;  // --preset or --no-preset
  bool import_login = false;
  bool verbose = false;
  bool quiet = false;
  Terminal terminal = Terminal::automatic;
  bool json = false;
  bool help = false;
};

std::span<const Flag> flags();

// Applies the flags of `coop run` among those that were given, in their order. Errors name the flag.
Result<Options> options_of(const Parsed& parsed);

// Flags that contradict each other, and dangerous grants without their word. Not a matter of order, so after the last.
Result<void> check_flags(const Options& options);

// Refuses hosts that a flag lists without effect, under the effective mode of flags and files.
Result<void> check_lists(const Options& options, NetworkMode mode);

}  // namespace coop::cli
