// The flags of `coop run`: cli/usage parses them and writes --help, the completions and the man page from this table.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "request/resolve.h"

namespace coop::cli {

struct Parsed;

enum class Terminal { automatic, always, never };

// What the command line of `run` and `plan` asks for.
struct Options {
  request::Wanted wanted{};
  std::vector<std::string> command{};
  std::optional<LogFormat> log_format{};
  bool verbose = false;
  bool quiet = false;
  Terminal terminal = Terminal::automatic;
  bool json = false;
  bool why = false;
  bool help = false;
};

struct Flag {
  std::string_view name;   // "--rw"
  std::string_view alias;  // another spelling, or ""
  std::string_view value;  // "PATH"; "" for a switch
  std::string_view group;  // heading in --help
  std::string_view help;
  Result<void> (*apply)(Options& options, std::string_view flag, std::string_view value);
  std::string_view choices = {};  // for completion: "minimal host", or "@path", "@cache", "@guard"
};

std::span<const Flag> flags();
// By its name or alias; null when there is none.
const Flag* find_flag(std::string_view name);

// Applies the flags of `coop run` among those that were given, in their order. Errors name the flag.
Result<Options> options_of(const Parsed& parsed);
// The same for the words of `coop run`.
Result<Options> parse(std::span<const std::string> words);

// Flags that contradict each other, and dangerous grants without their word. Not a matter of order, so after the last.
Result<void> check_flags(const Options& options);

}  // namespace coop::cli
