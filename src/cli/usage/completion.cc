#include <algorithm>
#include <array>
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

std::string top_names() {
  std::vector<std::string_view> names;
  for (const CommandInfo& command : commands())
    if (subcommand_of(command).empty()) names.push_back(command.name);
  return joined(names, " ");
}

enum class Shell : std::uint8_t { bash, zsh, fish };

// The words to choose from; empty for texts, numbers and paths.
std::string fixed_words(const Values& values) {
  std::set<std::string_view> names;
  switch (values.kind) {
    case ValueKind::text:
    case ValueKind::path:
    case ValueKind::run: return "";
    case ValueKind::choice:
    case ValueKind::home: return std::string(values.words);
    case ValueKind::page: return std::string(values.words) + " " + top_names();
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

// The function of the script that prints what is there on this machine; empty where nothing depends on it.
std::string_view function_of(const Values& values) {
  if (values.kind == ValueKind::home) return "_coop_homes";
  return values.kind == ValueKind::run ? "_coop_runs" : "";
}

// These functions. The names are taken from the lines of JSON in which nothing else can stand, and a name that a shell could
// take for more than a word is left out. It is the coop of the PATH that is asked: Tab must not start one of the directory.
std::string functions_for(Shell shell) {
  std::string text;
  for (const auto& [name, command, key] : {std::array{"_coop_homes", "home ls", "name"},
                                           std::array{"_coop_runs", "quarantine list", "id"}}) {
    const std::string body = "coop " + std::string(command) +
                             " --json 2>/dev/null | sed -n 's/^ *\"" + key +
                             "\": \"\\([A-Za-z0-9][A-Za-z0-9._-]*\\)\",*$/\\1/p'";
    if (shell == Shell::fish) text += "function " + std::string(name) + "; " + body + "; end\n";
    else if (shell == Shell::bash) text += std::string(name) + "() { " + body + "; }\n";
    else text += std::string(name) + "() { compadd -- \"$@\" $(" + body + "); }\n";
  }
  return text;
}

// With what is there on this machine, which bash and fish ask for when they complete.
std::string choices_of(const Values& values, Shell shell) {
  std::string words = fixed_words(values);
  const std::string function(function_of(values));
  if (function.empty()) return words;
  if (!words.empty()) words += " ";
  return words + (shell == Shell::fish ? "(" : "$(") + function + ")";
}

// Groups have no words but their subcommands'.
enum class Kind : std::uint8_t { group, runnable };

std::vector<const CommandInfo*> all_of(Kind kind) {
  std::vector<const CommandInfo*> found;
  for (const CommandInfo& command : commands())
    if ((command.run == nullptr) == (kind == Kind::group)) found.push_back(&command);
  return found;
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

std::string argument_choices(const CommandInfo& command, Shell shell) {
  std::string text;
  for (const ArgumentInfo& argument : command.arguments) {
    const std::string choices = choices_of(argument.values, shell);
    if (!choices.empty() && !text.contains(choices)) text += (text.empty() ? "" : " ") + choices;
  }
  return text;
}

// A word first, then a path.
bool begins_with_word(const CommandInfo& command) {
  return takes_paths(command) && !command.arguments.empty() &&
         !function_of(command.arguments.front().values).empty();
}

// For bash: the words of every flag's value, by the flag's name: a flag means the same to all commands, or their words are put
// together.
std::map<std::string, std::set<std::string>> values_by_flag(ValueKind wanted) {
  std::map<std::string, std::set<std::string>> values;
  for (const CommandInfo* command : all_of(Kind::runnable))
    for (const Flag& flag : shown_flags(*command)) {
      if (flag.placeholder.empty()) continue;
      const std::string choices = choices_of(flag.values, Shell::bash);
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
      "# bash completion for coop; made by `coop completion bash`\n" + functions_for(Shell::bash) +
      "_coop() {\n"
      "  local at=$COMP_CWORD current=${COMP_WORDS[COMP_CWORD]} previous index word\n"
      "  local command=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  # Bash makes \"@\" and \"=\" words of their own.\n"
      "  case ${COMP_WORDS[at-1]} in @) current=@$current; ((--at)) ;; =@) current=@$current ;; "
      "esac\n"
      "  case $current in =) current= ;; =@) current=@ ;; esac\n"
      "  case ${COMP_WORDS[at-1]} in =|=@) ((--at)) ;; esac\n"
      "  previous=${COMP_WORDS[at-1]}\n"
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
      "  # Flags, arguments, and behind how many words there may be paths. Without a dash, no flag "
      "that is there.\n"
      "  _coop_or() {\n"
      "    [[ $current != -* ]] || { _coop_words \"$1\"; return; }\n"
      "    local words=$2\n"
      "    if [[ -n $3 && $((COMP_CWORD - 1)) -gt $3 ]]; then\n"
      "      ((!$3)) || words=\n"
      "      COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "    fi\n"
      "    for word in $1; do\n"
      "      [[ $word == --help || \" ${COMP_WORDS[*]} \" == *\" $word \"* ]] || words+=\" "
      "$word\"\n"
      "    done\n"
      "    COMPREPLY+=($(compgen -W \"$words\" -- \"$current\"))\n"
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
    const std::string words = argument_choices(*command, Shell::bash);
    std::string flags;
    for (const Flag& flag : shown_flags(*command)) flags += std::string(flag.name) + " ";
    if (command->rest == Rest::command) flags += "-- ";
    flags.pop_back();
    const std::size_t names = 1 + static_cast<std::size_t>(std::ranges::count(command->name, ' '));
    text += "    '" + std::string(command->name) + "') _coop_or '" + flags + "' '" + words + "' " +
            (begins_with_word(*command) ? std::to_string(names)
             : takes_paths(*command)    ? "0"
                                        : "") +
            ";;\n";
  }
  return text + "  esac\n}\ncomplete -o filenames -F _coop coop\n";
}

// zsh and fish take a description beside each flag, between apostrophes.
std::string escaped(std::string_view text, std::string_view special, std::string_view apostrophe) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += apostrophe;
      continue;
    }
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string for_zsh(std::string_view text, std::string_view special) {
  return escaped(text, special, "'\\''");
}

std::string for_fish(std::string_view text) { return escaped(text, "\\", "\\'"); }

std::string zsh_action(const Values& values) {
  if (values.kind == ValueKind::path) return "_files";
  const std::string words = for_zsh(fixed_words(values), ":");
  const std::string function(function_of(values));
  // A space first: no further arguments are put behind the function's name.
  if (!function.empty()) return " " + function + (words.empty() ? "" : " " + words);
  return words.empty() ? "" : "(" + words + ")";
}

std::string zsh_words(const CommandInfo& command) {
  std::string text = "      _arguments -S";
  for (const Flag& flag : shown_flags(command)) {
    // With "=" the value may stand in the same word.
    text += " \\\n        '*" + std::string(flag.name) + (flag.placeholder.empty() ? "" : "=") +
            "[" + for_zsh(flag.help, "[]:") + "]";
    if (!flag.placeholder.empty())
      text += ":" + for_zsh(flag.placeholder, ":") + ":" + zsh_action(flag.values);
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
  std::string text = "#compdef coop\n# made by `coop completion zsh`\n" +
                     functions_for(Shell::zsh) +
                     "_coop() {\n"
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
    const std::string words = choices_of(flag.values, Shell::fish);
    text += start + " -l " + std::string(flag.name.substr(2));
    if (!flag.placeholder.empty()) text += flag.values.kind == ValueKind::path ? " -r -F" : " -x";
    if (!words.empty()) text += " -a '" + words + "'";
    text += " -d '" + for_fish(flag.help) + "'\n";
  }
  const std::string words = argument_choices(command, Shell::fish);
  if (words.empty()) return text;
  if (!begins_with_word(command)) return text + start + " -f -a '" + words + "'\n";
  const std::size_t names = 2 + static_cast<std::size_t>(std::ranges::count(command.name, ' '));
  return text + start.substr(0, start.size() - 1) + "; and test (count (commandline -opc)) -le " +
         std::to_string(names) + "' -f -a '" + words + "'\n";
}

std::string fish() {
  std::string text = "# made by `coop completion fish`\n" + functions_for(Shell::fish) +
                     "complete -c coop -n __fish_use_subcommand -f -a '" + top_names() + "'\n";
  for (const CommandInfo* group : all_of(Kind::group))
    text += "complete -c coop -n '__fish_seen_subcommand_from " + std::string(group->name) +
            "; and not __fish_seen_subcommand_from " + subcommand_names(*group) + "' -f -a '" +
            subcommand_names(*group) + "'\n";
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
