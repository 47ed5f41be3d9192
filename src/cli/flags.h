// One table of flags: it parses the command line, writes --help, the completions and the man page.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/config_source.h"
#include "coop/policy.h"

namespace coop::cli {

enum class Terminal { automatic, always, never };

// What the command line of `run` and `plan` asks for.
struct Options {
  Policy policy{};
  std::vector<std::string> caches{};
  std::vector<std::string> unsafe{};
  std::optional<NetworkMode> network{};  // as --network says it; what it amounts to is in `policy`
  std::vector<std::string> command{};
  Role role{};  // whom of coop.toml the command is for
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
  Result<void> (*apply)(Options& options, std::string_view value);
  std::string_view choices = {};  // for completion: "minimal host", or "@path", "@cache", "@guard"
};

std::span<const Flag> flags();

// Reads everything up to "--" (or the first word that is not a flag) as flags, the rest as the
// command. Errors name the flag. What no flag says is as in `base`.
Result<Options> parse(std::span<const std::string> arguments, Policy base = {});

}  // namespace coop::cli
