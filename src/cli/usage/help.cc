#include <algorithm>
#include <ranges>

#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

constexpr std::size_t kColumn = 32;
constexpr std::size_t kWidth = 66;
constexpr std::size_t kLine = 100;

// Wraps `text` to lines of at most `width`, each after `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  for (const auto part : std::views::split(text, ' ')) {
    const std::string_view word(part);
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

// Lines that begin with a space stay as they are.
std::string paragraph(std::string_view text) {
  std::string result;
  for (const std::string_view line : lines_of(text))
    result += (line.starts_with(' ') ? std::string(line) : wrapped(line, 0, kLine)) + "\n";
  return result;
}

std::string row(std::string left, std::string_view help) {
  // Entries too wide for the column get their own line.
  std::size_t indent = std::max<std::size_t>(left.size() + 2, kColumn);
  if (indent <= kColumn + 2) {
    left.resize(indent, ' ');
  } else {
    left += "\n" + std::string(kColumn, ' ');
    indent = kColumn;
  }
  return left + wrapped(help, indent, kWidth) + "\n";
}

std::string flag_rows(const CommandInfo& command) {
  std::string text;
  std::string_view group = "-";
  const bool whole = command.run_flags == RunFlags::own;
  const std::vector<Flag> flags = flags_of(command);
  for (const Flag& flag : flags) {
    if (flag.help.empty() || (!whole && !flag.group.empty())) continue;
    if (flag.group != group) {
      group = flag.group;
      text += "\n" + (group.empty() ? "flags" : std::string(group)) + ":\n";
    }
    std::string left = "  " + std::string(flag.name);
    if (!flag.alias.empty()) left += ", " + std::string(flag.alias);
    if (!flag.placeholder.empty()) left += " " + std::string(flag.placeholder);
    text += row(std::move(left), flag.help);
  }
  if (!whole && command.run_flags != RunFlags::none)
    text +=
        "\nalso the flags of `coop run` that say what the sandbox is like, and for whom:\n"
        "  --workspace, --config, --as, --channel, --rw, --network, --memory, --verbose, …: see "
        "`coop run --help`\n";
  return text;
}

std::string usage_lines(const CommandInfo& command, std::string_view first) {
  std::string text;
  for (const std::string_view form : lines_of(command.synopsis))
    text += std::string(text.empty() ? first : "       ") + "coop " + std::string(command.name) +
            (form.empty() ? "" : " ") + std::string(form) + "\n";
  return text;
}

std::string example_lines(std::string_view examples) {
  std::string text = "\nexamples:\n";
  for (const std::string_view line : lines_of(examples)) text += "  " + std::string(line) + "\n";
  return text;
}

std::string summary_rows(std::span<const CommandInfo* const> rows) {
  std::size_t widest = 0;
  const auto name_of = [](const CommandInfo& command) {
    return subcommand_of(command).empty() ? command.name : subcommand_of(command);
  };
  for (const CommandInfo* command : rows) widest = std::max(widest, name_of(*command).size());
  std::string text;
  for (const CommandInfo* command : rows) {
    std::string name(name_of(*command));
    name.resize(widest + 2, ' ');
    text += "  " + name + std::string(command->summary) + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> lines;
  for (const auto line : std::views::split(text, '\n')) lines.emplace_back(line);
  if (lines.empty()) lines.emplace_back();
  return lines;
}

std::string help_text() {
  std::string text = "coop runs commands in a sandbox built from Linux kernel features.\n\n";
  std::string_view first = "usage: ";
  std::vector<const CommandInfo*> top;
  for (const CommandInfo& command : commands()) {
    if (!subcommand_of(command).empty()) continue;
    text += usage_lines(command, first);
    first = "       ";
    top.push_back(&command);
  }
  return text + "       coop --version\n\ncommands:\n" + summary_rows(top) +
         "\nexamples:\n"
         "  coop run -- make test             build and test in this directory, without network\n"
         "  coop run -- claude                an agent with your tools and without your secrets\n"
         "  coop policy explain ~/.ssh        why a path can or cannot be reached\n"
         "  coop plan --why                   everything the sandbox allows, and why\n\n"
         "`coop COMMAND --help` lists the flags of a command.\n";
}

std::string help_text(const CommandInfo& command) {
  std::string text;
  const std::vector<const CommandInfo*> parts = subcommands(command);
  for (const CommandInfo* part : parts)
    text += usage_lines(*part, text.empty() ? "usage: " : "       ");
  if (parts.empty()) text = usage_lines(command, "usage: ");
  if (!command.text.empty()) text += "\n" + paragraph(command.text);
  if (!parts.empty()) text += "\nsubcommands:\n" + summary_rows(parts);
  else text += flag_rows(command);
  text += example_lines(command.examples);
  if (!command.exit_status.empty())
    text += "\n" + paragraph("exit code: " + std::string(command.exit_status));
  return text;
}

}  // namespace coop::cli
