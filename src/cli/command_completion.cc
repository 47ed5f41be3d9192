#include "cli/command.h"
#include "cli/flags.h"
#include "policy/builtin.h"

#include <set>

namespace coop::cli {

namespace {

std::string choices_of(const Flag& flag) {
  std::set<std::string_view> names;
  if (flag.choices == "@cache")
    for (const policy::CacheEntry& cache : policy::caches()) names.insert(cache.name);
  else if (flag.choices == "@guard")
    for (const policy::NamedReason& guard : policy::guards()) names.insert(guard.name);
  else return std::string(flag.choices);
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

std::string all_flags() {
  std::string names;
  for (const Flag& flag : flags())
    names += std::string(names.empty() ? "" : " ") + std::string(flag.name);
  return names;
}

std::string bash() {
  std::string text =
      "# bash completion for coop; made by `coop completion bash`\n"
      "_coop() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} index\n"
      "  for ((index = 1; index < COMP_CWORD; ++index)); do\n"
      "    if [[ ${COMP_WORDS[index]} == -- ]]; then\n"
      "      if ((index + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- \"$current\"));\n"
      "      else COMPREPLY=($(compgen -f -- \"$current\")); fi\n"
      "      return\n"
      "    fi\n"
      "  done\n"
      "  case $previous in\n"
      "    coop) COMPREPLY=($(compgen -W 'run plan policy trust config tool mcp status completion "
      "man "
      "--help --version' -- "
      "\"$current\")); return ;;\n"
      "    completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$current\")); return ;;\n"
      "    status) COMPREPLY=($(compgen -W '--json --help' -- \"$current\")); return ;;\n"
      "    policy) COMPREPLY=($(compgen -W 'show check explain diff export import approve schema "
      "--help' -- \"$current\")); return ;;\n"
      "    config) COMPREPLY=($(compgen -W 'check --help' -- \"$current\")); return ;;\n"
      "    --scope) COMPREPLY=($(compgen -W 'organisation user project effective' -- "
      "\"$current\")); return ;;\n"
      "  esac\n"
      "  case ${COMP_WORDS[1]} in\n"
      "    policy) COMPREPLY=($(compgen -f -W '--origin --json --scope --dry-run --yes --revoke "
      "--workspace' -- \"$current\")); return ;;\n"
      "    trust) COMPREPLY=($(compgen -W '--group --json --config --agent --as --cron "
      "terminal:default' -- \"$current\")); return ;;\n"
      "    config) COMPREPLY=($(compgen -f -W '--json' -- \"$current\")); return ;;\n"
      "    tool) COMPREPLY=($(compgen -W 'bash exec read_file write_file edit_file list_files "
      "search_files send_file fetch_url --list --json --as --channel --group --config --workspace' "
      "-- \"$current\")); return ;;\n"
      "    mcp) COMPREPLY=($(compgen -f -W '--as --channel --group --config --workspace --on-leak "
      "--http --token-file --verbose' -- \"$current\")); return ;;\n"
      "  esac\n"
      "  case $previous in\n";
  for (const Flag& flag : flags()) {
    if (flag.choices.empty()) continue;
    const std::string what = flag.choices == "@path" ? "-f" : "-W '" + choices_of(flag) + "'";
    text += "    " + std::string(flag.name) + ") COMPREPLY=($(compgen " + what +
            " -- \"$current\")); return ;;\n";
  }
  return text + "  esac\n  COMPREPLY=($(compgen -W '" + all_flags() +
         " --' -- \"$current\"))\n}\ncomplete -o filenames -F _coop coop\n";
}

// zsh and fish take a description beside each flag.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh() {
  std::string text =
      "#compdef coop\n# made by `coop completion zsh`\n_coop() {\n"
      "  if (( CURRENT == 2 )); then compadd run plan policy trust config tool mcp status "
      "completion man; "
      "return; fi\n"
      "  case $words[2] in\n"
      "    completion) compadd bash zsh fish; return ;;\n"
      "    status) compadd -- --json; return ;;\n"
      "    policy) if (( CURRENT == 3 )); then compadd show check explain diff export import "
      "approve "
      "schema; else compadd -- --origin --json --scope --dry-run --yes --revoke --workspace; "
      "_files; "
      "fi; return ;;\n"
      "    trust) compadd -- terminal:default --group --json --config --agent --as --cron; return "
      ";;\n"
      "    tool) compadd -- bash exec read_file write_file edit_file list_files search_files "
      "send_file fetch_url --list --json --as --channel --group --config --workspace; return ;;\n"
      "    mcp) compadd -- --as --channel --group --config --workspace --on-leak --http "
      "--token-file --verbose; "
      "_files; "
      "return ;;\n"
      "    config) if (( CURRENT == 3 )); then compadd check; else compadd -- --json; _files; fi; "
      "return ;;\n"
      "  esac\n"
      "  _arguments -S \\\n";
  for (const Flag& flag : flags()) {
    std::string help(flag.help);
    std::erase(help, '\'');
    text += "    '*" + std::string(flag.name) + "[" + escaped(help, "[]:") + "]";
    if (!flag.value.empty()) {
      text += ":" + escaped(flag.value, ":") + ":";
      if (flag.choices == "@path") text += "_files";
      else if (!flag.choices.empty()) text += "(" + choices_of(flag) + ")";
    }
    text += "' \\\n";
  }
  return text + "    '*::command:_normal'\n}\n_coop \"$@\"\n";
}

std::string fish() {
  std::string text =
      "# made by `coop completion fish`\n"
      "complete -c coop -n __fish_use_subcommand -f -a 'run plan policy trust config tool "
      "mcp status completion man'\n"
      "complete -c coop -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n"
      "complete -c coop -n '__fish_seen_subcommand_from status' -f -l json\n"
      "complete -c coop -n '__fish_seen_subcommand_from policy' -a 'show check explain diff export "
      "import approve schema'\n"
      "complete -c coop -n '__fish_seen_subcommand_from config' -a 'check'\n"
      "complete -c coop -n '__fish_seen_subcommand_from tool' -f -a 'bash exec read_file "
      "write_file "
      "edit_file list_files search_files send_file fetch_url'\n"
      "complete -c coop -n '__fish_seen_subcommand_from tool mcp' -l as -l channel -l group -l "
      "config -l workspace\n"
      "complete -c coop -n '__fish_seen_subcommand_from tool mcp' -l on-leak -x -a 'redact block "
      "terminate'\n"
      "complete -c coop -n '__fish_seen_subcommand_from mcp' -l http -x -l token-file -r -F\n"
      "complete -c coop -n '__fish_seen_subcommand_from policy trust config' -l json\n"
      "complete -c coop -n '__fish_seen_subcommand_from policy' -l origin -d 'where each value was "
      "written'\n"
      "complete -c coop -n '__fish_seen_subcommand_from policy' -l scope -x -a 'organisation user "
      "project effective'\n"
      "complete -c coop -n '__fish_seen_subcommand_from policy' -l dry-run -l yes -l revoke\n"
      "complete -c coop -n '__fish_seen_subcommand_from trust' -l group\n"
      "complete -c coop -n '__fish_seen_subcommand_from trust' -l config -r -F\n";
  for (const Flag& flag : flags()) {
    std::string help(flag.help);
    std::erase(help, '\'');
    text += "complete -c coop -n '__fish_seen_subcommand_from run plan' -l " +
            std::string(flag.name.substr(2));
    if (!flag.value.empty()) text += flag.choices == "@path" ? " -r -F" : " -x";
    if (!flag.choices.empty() && flag.choices != "@path") text += " -a '" + choices_of(flag) + "'";
    text += " -d '" + help + "'\n";
  }
  return text;
}

}  // namespace

Result<int> command_completion(Arguments arguments) {
  const std::string shell = arguments.empty() ? "" : arguments.front();
  if (shell == "bash") print(bash());
  else if (shell == "zsh") print(zsh());
  else if (shell == "fish") print(fish());
  else if (shell == "--help" || shell == "-h")
    print("usage: coop completion bash|zsh|fish\n\nexample: source <(coop completion bash)\n");
  else
    return invalid("completion",
                   shell.empty() ? "no shell is named" : "\"" + shell + "\" is not a known shell",
                   "coop completion bash|zsh|fish");
  return 0;
}

}  // namespace coop::cli
