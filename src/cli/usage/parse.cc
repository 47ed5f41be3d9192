#include <algorithm>
#include <array>
#include <iterator>

#include "base/nearest.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

// Flags of `coop run` for its single command and its terminal do not apply to tools.
constexpr std::array<std::string_view, 11> kOnlyForRun{
    "--cron", "--timeout", "--output-limit", "--quiet",     "--tty",         "--no-tty",
    "--json", "--help",    "--preset",       "--no-preset", "--import-login"};

bool takes(RunFlags which, std::string_view name) {
  switch (which) {
    case RunFlags::none: return false;
    case RunFlags::own:
    case RunFlags::all: return true;
    case RunFlags::sandbox: return !contains(kOnlyForRun, name);
  }
  return false;
}

std::string see_help(const CommandInfo& command) {
  return "see `coop " + std::string(command.name) + " --help`";
}

Error unknown(const CommandInfo& command, const std::string& what, std::string_view word,
              const std::vector<std::string_view>& names) {
  const std::string_view near = similar_name(word, names);
  return invalid(command.name, "unknown " + what,
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
    const auto found = std::ranges::find_if(known_, [&](const Flag& flag) {
      return flag.name == name || (!flag.alias.empty() && flag.alias == name);
    });
    if (found == known_.end()) {
      std::vector<std::string_view> names;
      for (const Flag& flag : known_) names.push_back(flag.name);
      return std::unexpected(unknown(*parsed_.command, "flag " + printable(name), name, names));
    }
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
    for (const Flag& flag : known_)
      if (!flag.needs.empty() && parsed_.has(flag.name) && !parsed_.has(flag.needs))
        return invalid(std::string(flag.name), "requires " + std::string(flag.needs));
    const std::size_t most = command.arguments.size();
    if (command.rest == Rest::arguments && parsed_.arguments.size() > most)
      return invalid(std::string(command.name),
                     "unexpected argument: \"" + printable(parsed_.arguments[most]) + "\"",
                     see_help(command));
    return {};
  }

  std::vector<Flag> known_;
  Arguments words_;
  Parsed parsed_;
  std::size_t at_ = 0;
};

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h"; }

Result<int> dispatch_in(const CommandInfo& group, Arguments words) {
  if (words.empty()) {
    print_usage_error(help_text(group));
    return kOwnFailure;
  }
  if (asks_for_help(words.front())) {
    print(help_text(group));
    return 0;
  }
  const CommandInfo* const command = find_command(std::string(group.name) + " " + words.front());
  if (command != nullptr) return run_command(*command, words.subspan(1));
  std::vector<std::string_view> names;
  for (const CommandInfo* one : subcommands(group)) names.push_back(subcommand_of(*one));
  return std::unexpected(
      unknown(group, "subcommand \"" + printable(words.front()) + "\"", words.front(), names));
}

}  // namespace

std::vector<Flag> flags_of(const CommandInfo& command) {
  std::vector<Flag> all(command.flags.begin(), command.flags.end());
  std::ranges::copy_if(flags(), std::back_inserter(all),
                       [&](const Flag& flag) { return takes(command.run_flags, flag.name); });
  if (command.run_flags == RunFlags::none || command.run_flags == RunFlags::sandbox)
    all.push_back({.name = "--help", .alias = "-h", .help = "show this"});
  return all;
}

std::string_view similar_name(std::string_view word, const std::vector<std::string_view>& names) {
  constexpr std::size_t kShortestStart = 4;
  std::string_view begun;  // the shortest that starts with the word
  for (const std::string_view name : names)
    if (word.size() >= kShortestStart && name.starts_with(word) &&
        (begun.empty() || name.size() < begun.size()))
      begun = name;
  if (!begun.empty()) return begun;
  // For a short word three edits match anything; the dashes of a flag always match.
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  return nearest(word, names, std::clamp<std::size_t>(letters / 3, 1, 3));
}

Result<Parsed> parse_command(const CommandInfo& command, Arguments words) {
  return Parser(command, words).parse();
}

Result<int> run_command(const CommandInfo& command, Arguments words) {
  if (command.run == nullptr) return dispatch_in(command, words);
  const Parsed parsed = TRY(parse_command(command, words));
  if (!parsed.has("--help")) return command.run(parsed);
  if (command.help != nullptr && !parsed.arguments.empty()) return command.help(parsed);
  print(help_text(command));
  return 0;
}

}  // namespace coop::cli
