// Every command of coop as one row: it parses the command's words and writes its help, its part of the man pages and
// of the completions, and its errors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace coop::cli {

enum class ValueKind : std::uint8_t {
  text,
  path,
  choice,
  cache,
  guard,
  host_group,
  tool,
  preset,
  client,
  page,  // of the manual
  home,  // a kept home, or one of `words`
  run    // that has left files in the quarantine
};

// What a flag's value or an argument may be, for completions.
struct Values {
  ValueKind kind = ValueKind::text;
  std::string_view words{};  // of ValueKind::choice and ::home, with spaces between
};
inline constexpr Values kPathValue{ValueKind::path};
inline constexpr Values kCacheValue{ValueKind::cache};
inline constexpr Values kGuardValue{ValueKind::guard};
inline constexpr Values kHostValue{ValueKind::host_group};  // or any other host
inline constexpr Values kToolValue{ValueKind::tool};
inline constexpr Values kPresetValue{ValueKind::preset};
inline constexpr Values kClientValue{ValueKind::client};
inline constexpr Values kPageValue{ValueKind::page, "coop coop-run coop-policy coop-mcp"};
inline constexpr Values kHomeValue{ValueKind::home};
inline constexpr Values kRunValue{ValueKind::run};
constexpr Values one_of(std::string_view words) { return {ValueKind::choice, words}; }

struct Options;

struct Flag {
  std::string_view name{};         // "--rw"
  std::string_view alias{};        // another spelling
  std::string_view placeholder{};  // of its value, "PATH"; empty for a switch
  std::string_view
      group{};  // heading in --help; empty for the own flags of other commands than `run`
  std::string_view help{};  // empty: accepted, but shown nowhere
  // Of a flag of `coop run`. The name is given without regard to aliases.
  Result<void> (*apply)(Options& options, std::string_view flag, std::string_view value) = nullptr;
  Values values{};
  std::string_view needs{};  // a flag without which this one means nothing
  // Of a flag of `coop run`: the keys of policy files by which an organisation bounds it, with spaces between; or why
  // it needs none.
  std::string_view keys{};
  std::string_view no_key{};

  constexpr Flag bounded_by(std::string_view names) const {
    Flag flag = *this;
    flag.keys = names;
    return flag;
  }
  constexpr Flag without_key(std::string_view why) const {
    Flag flag = *this;
    flag.no_key = why;
    return flag;
  }
};

struct ArgumentInfo {
  std::string_view name;  // "FILE"
  Values values{};
};

// Which flags of `coop run` a command takes besides its own.
enum class RunFlags : std::uint8_t {
  none,
  own,      // all: they are its own
  all,      // all, for a sandbox that is asked about
  sandbox,  // those that say what a sandbox is like, and for whom
};

// What may follow the flags.
enum class Rest : std::uint8_t {
  arguments,  // anywhere between the flags
  command,    // the first word that is no flag begins a command, whose own flags are not ours
};

struct Parsed;

struct CommandInfo {
  std::string_view name;              // "policy show"
  std::string_view synopsis;          // what follows the name; one line for each form
  std::string_view summary;           // one line, for lists of commands
  std::string_view text;              // what it does, whole sentences
  std::string_view examples;          // lines
  std::string_view exit_status = "";  // where it is not 0, or 125 after an error
  std::span<const ArgumentInfo> arguments{};
  std::span<const Flag> flags{};
  RunFlags run_flags = RunFlags::none;
  Rest rest = Rest::arguments;
  Result<int> (*run)(const Parsed& parsed) = nullptr;  // null: a group of subcommands
  // Prints help about what the arguments name; null: there is only that of the command.
  Result<int> (*help)(const Parsed& parsed) = nullptr;
};

// In the order of `coop --help`; subcommands follow their group.
std::span<const CommandInfo> commands();
const CommandInfo* find_command(std::string_view name);
// "show" of "policy show"; "" for a command that belongs to no group.
std::string_view subcommand_of(const CommandInfo& command);
std::vector<const CommandInfo*> subcommands(const CommandInfo& group);
// Its own, those of `coop run` that it takes, and --help.
std::vector<Flag> flags_of(const CommandInfo& command);

struct Parsed {
  const CommandInfo* command = nullptr;
  Arguments words{};  // everything after the command's name, as typed
  std::map<std::string, std::string, std::less<>> values{};  // by the flag's name, never its alias
  std::vector<std::string> arguments{};                      // the words that are no flags
  struct Given {
    std::string name{};
    std::optional<std::string> value{};
  };
  std::vector<Given> given{};  // in order, repeated ones too

  bool has(std::string_view name) const { return values.contains(name); }
  std::string get(std::string_view name, std::string_view otherwise = {}) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string(otherwise) : found->second;
  }
};

// After "--" there are only arguments. Too many of them, unknown flags and missing values are errors that name the
// command and the flag.
Result<Parsed> parse_command(const CommandInfo& command, Arguments words);

// The one of `names` that `word` begins or resembles; "" if none is close.
std::string_view similar_name(std::string_view word, const std::vector<std::string_view>& names);

// Parses the words after the command's name, and runs it or prints its help.
Result<int> run_command(const CommandInfo& command, Arguments words);

// Without the newline at the end; one empty line of an empty text.
std::vector<std::string_view> lines_of(std::string_view text);
std::string help_text();
std::string help_text(const CommandInfo& command);

// "bash", "zsh" or "fish".
std::optional<std::string> completion_for(std::string_view shell);

}  // namespace coop::cli
