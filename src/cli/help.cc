#include "cli/command.h"
#include "cli/flags.h"

namespace coop::cli {

namespace {

// Words of `text` in lines of at most `width`, each after `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

}  // namespace

std::string help_text() {
  return "coop runs commands in a sandbox of the Linux kernel's own means.\n\n"
         "usage: coop run [FLAGS] -- COMMAND [ARGUMENTS…]\n"
         "       coop plan [FLAGS] [--why] [--json]\n"
         "       coop policy show|check|explain|diff|export|import|approve|schema\n"
         "       coop trust SENDER [--group] [--json]\n"
         "       coop config check [FILE] [--json]\n"
         "       coop tool NAME '{json}' [--as USER] [--json]\n"
         "       coop mcp [--workspace DIR] [--as USER | --channel SENDER] [--http ADDRESS]\n"
         "       coop status [--json]\n"
         "       coop completion bash|zsh|fish\n"
         "       coop man\n"
         "       coop --version\n\n"
         "commands:\n"
         "  run         run a command: the workspace is writable, the rest is not there\n"
         "  plan        show what `run` with the same flags would do, step by step\n"
         "  policy      what sandboxes may do, as policy files say it, and why\n"
         "  trust       who a sender is to coop.toml, and what follows from it\n"
         "  config      check a coop.toml: agents, users, cron jobs\n"
         "  tool        call one tool (bash, read_file, …) as an agent would\n"
         "  mcp         serve the tools to an MCP client\n"
         "  status      show what this machine offers and what is missing\n"
         "  completion  print a completion script for a shell\n"
         "  man         print the manual page\n\n"
         "examples:\n"
         "  coop run -- make test             build and test in this directory, without network\n"
         "  coop run --view host -- claude    an agent with your tools and without your secrets\n"
         "  coop policy explain ~/.ssh        why a path can or cannot be reached\n"
         "  coop plan --why                   everything the sandbox allows, and why\n\n"
         "`coop run --help` lists the flags.\n";
}

std::string run_help_text(const char* command) {
  const std::string name(command);
  std::string text = "usage: coop " + name + " [FLAGS] -- COMMAND [ARGUMENTS…]\n";
  std::string_view group;
  for (const Flag& flag : flags()) {
    if (flag.group != group) {
      group = flag.group;
      text += "\n" + std::string(group) + ":\n";
    }
    std::string left = "  " + std::string(flag.name);
    if (!flag.alias.empty()) left += ", " + std::string(flag.alias);
    if (!flag.value.empty()) left += " " + std::string(flag.value);
    // What is too wide for its column has a line of its own.
    constexpr std::size_t kColumn = 32;
    std::size_t indent = std::max<std::size_t>(left.size() + 2, kColumn);
    if (indent <= kColumn + 2) {
      left.resize(indent, ' ');
    } else {
      left += "\n" + std::string(kColumn, ' ');
      indent = kColumn;
    }
    text += left + wrapped(flag.help, indent, 66) + "\n";
  }
  text +=
      "\nexamples:\n"
      "  coop run -- sh -c 'echo hello from $(hostname)'\n"
      "  coop run --view host --cache cargo -- cargo build\n"
      "  coop run --ro /opt/sdk --hide .env --memory 2g --timeout 10m -- make\n"
      "  coop run --allow-net '*.example.com' --host-port 5432 -- make integration-test\n"
      "  coop run --json -- python3 script.py\n\n"
      "exit code: the command's own; 128 + signal; 124 timeout; 125 coop itself failed;\n"
      "126 not executable; 127 not found\n";
  return text;
}

}  // namespace coop::cli
