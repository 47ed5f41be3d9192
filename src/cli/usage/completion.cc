#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <sstream>

#include "base/text.h"
#include "cli/usage/usage.h"
#include "policy/builtin.h"
#include "policy/destinations/host_groups.h"
#include "policy/people/trust.h"
#include "policy/presets/preset.h"
#include "setup/client.h"

namespace coop::cli {

namespace {

// The words to choose from; empty for texts, numbers and paths.
std::string choices_of(const Values& values) {
  std::set<std::string_view> names;
  switch (values.kind) {
    case ValueKind::text:
    case ValueKind::path: return "";
    case ValueKind::choice: return std::string(values.words);
    case ValueKind::cache:
      for (const policy::CacheEntry& cache : policy::caches()) names.insert(cache.name);
      break;
    case ValueKind::guard:
      for (const policy::NamedReason& guard : policy::guards()) names.insert(guard.name);
      break;
    case ValueKind::preset: return joined(policy::preset_names(), " ");
    case ValueKind::client: return joined(setup::client_names(), " ");
    case ValueKind::host_group: return "@" + joined(policy::group_names(), " @");
    case ValueKind::tool:
      return joined(policy::kTools | std::views::transform(&policy::ToolAccess::tool), " ");
  }
  return joined(names, " ");
}

// Groups have no words but their subcommands'.
enum class Kind : std::uint8_t { group, runnable };

std::vector<const CommandInfo*> all_of(Kind kind) {
  std::vector<const CommandInfo*> found;
  for (const CommandInfo& command : commands())
    if ((command.run == nullptr) == (kind == Kind::group)) found.push_back(&command);
  return found;
}

std::string top_names() {
  std::vector<std::string_view> names;
  for (const CommandInfo& command : commands())
    if (subcommand_of(command).empty()) names.push_back(command.name);
  return joined(names, " ");
}

std::string subcommand_names(const CommandInfo& group) {
  return joined(subcommands(group) | std::views::transform([](const CommandInfo* command) {
                  return subcommand_of(*command);
                }),
                " ");
}

std::vector<Flag> shown_flags(const CommandInfo& command) {
  std::vector<Flag> flags = flags_of(command);
  std::erase_if(flags, [](const Flag& flag) { return flag.help.empty(); });
  return flags;
}

bool takes_paths(const CommandInfo& command) {
  const auto is_path = [](const ArgumentInfo& argument) {
    return argument.values.kind == ValueKind::path;
  };
  return command.run_flags == RunFlags::all || std::ranges::any_of(command.arguments, is_path);
}

std::string argument_choices(const CommandInfo& command) {
  std::string text;
  for (const ArgumentInfo& argument : command.arguments) {
    const std::string choices = choices_of(argument.values);
    if (!choices.empty()) text += choices + " ";
  }
  return text;
}

// The words of every flag's value, by the flag's name: a flag means the same to all commands, or their words are put
// together.
std::map<std::string, std::set<std::string>> values_by_flag(ValueKind wanted) {
  std::map<std::string, std::set<std::string>> values;
  for (const CommandInfo* command : all_of(Kind::runnable))
    for (const Flag& flag : shown_flags(*command)) {
      if (flag.placeholder.empty()) continue;
      const std::string choices = choices_of(flag.values);
      const bool path = flag.values.kind == ValueKind::path;
      if (path != (wanted == ValueKind::path) || (!path && choices.empty())) continue;
      for (const std::string_view name : {flag.name, flag.alias}) {
        if (name.empty()) continue;
        std::istringstream words(choices);
        std::set<std::string>& all = values[std::string(name)];
        all.insert(std::istream_iterator<std::string>(words), {});
      }
    }
  return values;
}

std::string bash() {
  std::string text =
      "# bash completion for coop; made by `coop completion bash`\n"
      "_coop() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} index\n"
      "  local command=${COMP_WORDS[1]}\n"
      "  # Bash makes \"@\" a word of its own.\n"
      "  [[ $previous != @ ]] || { current=@$current; previous=${COMP_WORDS[COMP_CWORD-2]}; }\n"
      "  for ((index = 1; index < COMP_CWORD; ++index)); do\n"
      "    if [[ ${COMP_WORDS[index]} == -- ]]; then\n"
      "      if ((index + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- \"$current\"));\n"
      "      else COMPREPLY=($(compgen -f -- \"$current\")); fi\n"
      "      return\n"
      "    fi\n"
      "  done\n"
      "  _coop_words() {\n"
      "    COMPREPLY=($(compgen -W \"$1\" -- \"$current\"))\n"
      "    # No file names: an \"@\" needs no backslash.\n"
      "    [[ $1 != @* ]] || compopt +o filenames 2>/dev/null || true\n"
      "  }\n"
      "  if ((COMP_CWORD == 1)); then _coop_words '" +
      top_names() +
      " --help --version'; return; fi\n"
      "  if ((COMP_CWORD > 2)); then case $command in\n    ";
  text += joined(all_of(Kind::group) | std::views::transform(&CommandInfo::name), "|") +
          ") command+=\" ${COMP_WORDS[2]}\" ;;\n"
          "  esac; fi\n"
          "  case $previous in\n";
  text += "    " + joined(values_by_flag(ValueKind::path) | std::views::keys, "|") +
          ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n";
  for (const auto& [name, words] : values_by_flag(ValueKind::choice))
    text += "    " + name + ") _coop_words '" + joined(words, " ") + "'; return ;;\n";
  text += "  esac\n  case $command in\n";
  for (const CommandInfo* group : all_of(Kind::group))
    text += "    " + std::string(group->name) + ") _coop_words '" + subcommand_names(*group) +
            " --help' ;;\n";
  for (const CommandInfo* command : all_of(Kind::runnable)) {
    std::string words = argument_choices(*command);
    for (const Flag& flag : shown_flags(*command)) words += std::string(flag.name) + " ";
    if (command->rest == Rest::command) words += "-- ";
    words.pop_back();
    text += "    '" + std::string(command->name) + "') ";
    text += takes_paths(*command)
                ? "COMPREPLY=($(compgen -f -W '" + words + "' -- \"$current\")) ;;\n"
                : "_coop_words '" + words + "' ;;\n";
  }
  return text + "  esac\n}\ncomplete -o filenames -F _coop coop\n";
}

// zsh and fish take a description beside each flag.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') continue;
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const Values& values) {
  if (values.kind == ValueKind::path) return "_files";
  const std::string words = choices_of(values);
  return words.empty() ? "" : "(" + escaped(words, ":") + ")";
}

std::string zsh_words(const CommandInfo& command) {
  std::string text = "      _arguments -S";
  for (const Flag& flag : shown_flags(command)) {
    text += " \\\n        '*" + std::string(flag.name) + "[" + escaped(flag.help, "[]:") + "]";
    if (!flag.placeholder.empty())
      text += ":" + escaped(flag.placeholder, ":") + ":" + zsh_action(flag.values);
    text += "'";
  }
  for (const ArgumentInfo& argument : command.arguments)
    text +=
        " \\\n        ':" + std::string(argument.name) + ":" + zsh_action(argument.values) + "'";
  if (command.run_flags == RunFlags::all) text += " \\\n        ':PATH|HOST:_files'";
  else if (command.rest == Rest::command) text += " \\\n        '*::command:_normal'";
  return text + " ;;\n";
}

std::string zsh() {
  std::string text =
      "#compdef coop\n# made by `coop completion zsh`\n_coop() {\n"
      "  if (( CURRENT == 2 )); then compadd " +
      top_names() +
      "; return; fi\n"
      "  local command=$words[2]\n"
      "  case $command in\n";
  for (const CommandInfo* group : all_of(Kind::group))
    text += "    " + std::string(group->name) + ") if (( CURRENT == 3 )); then compadd " +
            subcommand_names(*group) +
            "; return; fi; command+=\" $words[3]\"; shift words; (( CURRENT-- )) ;;\n";
  text += "  esac\n  shift words; (( CURRENT-- ))\n  case $command in\n";
  for (const CommandInfo* command : all_of(Kind::runnable))
    text += "    '" + std::string(command->name) + "')\n" + zsh_words(*command);
  // Loaded by compinit the file is the function's body; sourced, it only defines it.
  return text +
         "  esac\n}\n"
         "if [[ ${funcstack[1]} == _coop ]]; then _coop \"$@\"; else compdef _coop coop; fi\n";
}

std::string fish_condition(const CommandInfo& command) {
  const std::string_view sub = subcommand_of(command);
  if (sub.empty()) return "'__fish_seen_subcommand_from " + std::string(command.name) + "'";
  return "'__fish_seen_subcommand_from " +
         std::string(command.name.substr(0, command.name.find(' '))) +
         "; and __fish_seen_subcommand_from " + std::string(sub) + "'";
}

std::string fish_words(const CommandInfo& command) {
  const std::string start = "complete -c coop -n " + fish_condition(command);
  std::string text;
  for (const Flag& flag : shown_flags(command)) {
    const std::string words = choices_of(flag.values);
    text += start + " -l " + std::string(flag.name.substr(2));
    if (!flag.placeholder.empty()) text += flag.values.kind == ValueKind::path ? " -r -F" : " -x";
    if (!words.empty()) text += " -a '" + words + "'";
    text += " -d '" + escaped(flag.help, "") + "'\n";
  }
  std::string words = argument_choices(command);
  if (words.empty()) return text;
  words.pop_back();
  return text + start + " -f -a '" + words + "'\n";
}

std::string fish() {
  std::string text =
      "# made by `coop completion fish`\n"
      "complete -c coop -n __fish_use_subcommand -f -a '" +
      top_names() + "'\n";
  for (const CommandInfo* group : all_of(Kind::group))
    text += "complete -c coop -n " + fish_condition(*group) + " -a '" + subcommand_names(*group) +
            "'\n";
  for (const CommandInfo* command : all_of(Kind::runnable)) text += fish_words(*command);
  return text;
}

}  // namespace

std::optional<std::string> completion_for(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  return std::nullopt;
}

}  // namespace coop::cli
