#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/path.h"
#include "cli/flags.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

constexpr std::size_t kLongestGuess = 64;

// Flags of `coop run` for its single command and its terminal do not apply to tools.
constexpr std::array<std::string_view, 9> kOnlyForRun{"--cron",  "--timeout", "--output-limit",
                                                      "--quiet", "--tty",     "--no-tty",
                                                      "--why",   "--json",    "--help"};

ValueKind value_of(std::string_view choices) {
  if (choices == "@path") return ValueKind::path;
  if (choices == "@cache") return ValueKind::cache;
  if (choices == "@guard") return ValueKind::guard;
  return choices.empty() ? ValueKind::text : ValueKind::choice;
}

bool takes(RunFlags which, std::string_view name) {
  switch (which) {
    case RunFlags::none: return false;
    case RunFlags::own:
    case RunFlags::all: return true;
    case RunFlags::sandbox: return std::ranges::find(kOnlyForRun, name) == kOnlyForRun.end();
  }
  return false;
}

std::string see_help(const CommandInfo& command) {
  return "see `coop " + std::string(command.name) + " --help`";
}

Error unknown_flag(const CommandInfo& command, std::span<const FlagInfo> known,
                   std::string_view name) {
  std::vector<std::string_view> names;
  for (const FlagInfo& flag : known) names.push_back(flag.name);
  const std::string_view near = name.size() > kLongestGuess ? "" : nearest(name, names);
  return invalid(std::string(command.name), "unknown flag " + printable(name),
                 near.empty() ? see_help(command) : "did you mean " + std::string(near) + "?")
      .error();
}

// Walks over the words once.
class Parser {
 public:
  Parser(const CommandInfo& command, Arguments words)
      : known_(flags_of(command)), words_(words), parsed_{.command = &command, .words = words} {}

  Result<Parsed> parse() {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (word.starts_with('-') && word != "-") TRY(flag(word));
      else if (parsed_.command->rest == Rest::command) break;
      else parsed_.arguments.push_back(word);
    }
    parsed_.arguments.insert(parsed_.arguments.end(),
                             words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    if (!parsed_.has("--help")) TRY(check());
    return std::move(parsed_);
  }

 private:
  Result<void> flag(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const auto found = std::ranges::find_if(known_, [&](const FlagInfo& flag) {
      return flag.name == name || (!flag.alias.empty() && flag.alias == name);
    });
    if (found == known_.end()) return std::unexpected(unknown_flag(*parsed_.command, known_, name));
    std::optional<std::string> value;
    if (found->placeholder.empty()) {
      if (equals != std::string_view::npos) return invalid(std::string(name), "takes no value");
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (at_ + 1 < words_.size() && words_[at_ + 1] != "--") {
      value = words_[++at_];
    } else {
      return invalid(std::string(name), "needs a value: " + std::string(found->placeholder));
    }
    parsed_.given.push_back({std::string(found->name), value});
    parsed_.values[std::string(found->name)] = value.value_or("");
    return {};
  }

  Result<void> check() const {
    const CommandInfo& command = *parsed_.command;
    for (const FlagInfo& flag : known_)
      if (!flag.needs.empty() && parsed_.has(flag.name) && !parsed_.has(flag.needs))
        return invalid(std::string(flag.name), "means nothing without " + std::string(flag.needs));
    const std::size_t most = command.arguments.size();
    if (command.rest == Rest::arguments && parsed_.arguments.size() > most)
      return invalid(std::string(command.name),
                     "one word too many: \"" + printable(parsed_.arguments[most]) + "\"",
                     see_help(command));
    return {};
  }

  std::vector<FlagInfo> known_;
  Arguments words_;
  Parsed parsed_;
  std::size_t at_ = 0;
};

Result<int> unknown_subcommand(const CommandInfo& group, const std::string& word) {
  std::vector<std::string_view> names;
  for (const CommandInfo* command : subcommands(group)) names.push_back(subcommand_of(*command));
  const std::string_view near = nearest(word, names);
  return invalid(std::string(group.name), "unknown subcommand \"" + printable(word) + "\"",
                 near.empty() ? see_help(group) : "did you mean " + std::string(near) + "?");
}

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h"; }

Result<int> dispatch_in(const CommandInfo& group, Arguments words) {
  if (words.empty() || asks_for_help(words.front())) {
    print(help_text(group));
    return words.empty() ? kOwnFailure : 0;
  }
  const CommandInfo* const command = find_command(std::string(group.name) + " " + words.front());
  if (command == nullptr) return unknown_subcommand(group, words.front());
  return run_command(*command, words.subspan(1));
}

}  // namespace

std::vector<FlagInfo> flags_of(const CommandInfo& command) {
  std::vector<FlagInfo> all(command.flags.begin(), command.flags.end());
  for (const Flag& flag : flags())
    if (takes(command.run_flags, flag.name))
      all.push_back({.name = flag.name,
                     .alias = flag.alias,
                     .placeholder = flag.value,
                     .help = flag.help,
                     .value = value_of(flag.choices),
                     .choices = flag.choices,
                     .group = flag.group});
  if (command.run_flags == RunFlags::none || command.run_flags == RunFlags::sandbox)
    all.push_back({.name = "--help", .alias = "-h", .placeholder = "", .help = "show this"});
  return all;
}

Result<Parsed> parse_command(const CommandInfo& command, Arguments words) {
  return Parser(command, words).parse();
}

Result<int> run_command(const CommandInfo& command, Arguments words) {
  if (command.run == nullptr) return dispatch_in(command, words);
  const Parsed parsed = TRY(parse_command(command, words));
  if (!parsed.has("--help")) return command.run(parsed);
  print(help_text(command));
  return 0;
}

}  // namespace coop::cli
