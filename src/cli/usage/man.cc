#include "cli/usage/man.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

#include "cli/usage/usage.h"
#include "policy/settings/settings.h"

namespace coop::cli {

namespace {

struct Template {
  std::string_view file;  // "coop-run.1"
  std::string_view text;
};

// docs/man/*.in. A line that begins with % is a part that the tables write.
constexpr std::array kTemplates{
#include "man_templates.inc"
};

// A line for each form of the command.
std::string forms(const CommandInfo& command) {
  std::string text;
  for (const std::string_view form : lines_of(command.synopsis)) {
    text += (text.empty() ? ".B coop " : ".br\n.B coop ") + roff(command.name) + "\n";
    if (!form.empty()) text += roff(form) + "\n";
  }
  return text;
}

std::string entry(const Flag& flag) {
  std::string text = ".TP\n.B " + roff(flag.name);
  if (!flag.alias.empty()) text += ", " + roff(flag.alias);
  if (!flag.placeholder.empty()) text += " " + roff(flag.placeholder);
  return text + "\n" + roff(flag.help) + "\n";
}

// The flags of `coop run` stand in its own page only.
std::string flag_entries(const CommandInfo& command) {
  const bool own = command.run_flags == RunFlags::own;
  std::string text;
  std::string_view group;
  for (const Flag& flag :
       own ? flags_of(command) : std::vector(command.flags.begin(), command.flags.end())) {
    if (flag.help.empty()) continue;
    if (flag.group != group) text += ".SS " + roff(flag.group) + "\n";
    group = flag.group;
    text += entry(flag);
  }
  return text;
}

std::string capitalised(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string command_section(const CommandInfo& command) {
  std::string text = ".SS coop " + roff(command.name) + "\n" + forms(command) + ".P\n" +
                     capitalised(roff(command.summary)) + ".\n";
  if (command.run_flags == RunFlags::own) return text + "See\n.BR coop\\-run (1).\n";
  if (command.run_flags == RunFlags::sandbox) return text + "See\n.BR coop\\-mcp (1).\n";
  text += ".P\n" + roff(command.text) + "\n" + flag_entries(command);
  if (!command.exit_status.empty()) text += ".P\nExit status: " + roff(command.exit_status) + ".\n";
  return text;
}

std::string kind_text(const policy::KeyInfo& key) {
  const std::string words(key.words);
  if (key.type == policy::KeyType::word) return "one of: " + words;
  const policy::TypeInfo& type = policy::info(key.type);
  return std::string(type.manual.empty() ? type.expected : type.manual) +
         (words.empty() ? "" : ": " + words);
}

std::string type_text(const policy::KeyInfo& key) {
  return kind_text(key) + (key.unlimited ? ", or unlimited" : "") +
         (key.initial.text.empty() ? "" : "; default: " + std::string(key.initial.text));
}

std::string key_entries() {
  std::string text;
  for (const policy::KeyInfo& key : policy::keys())
    if (!policy::is_mechanism(key.key))
      text +=
          ".TP\n.B " + roff(key.name) + "\n" + roff(key.help) + " (" + roff(type_text(key)) + ")\n";
  return text;
}

// Not keys of their own in a file: names in the lists `require` and `best_effort`.
std::string mechanism_entries() {
  std::string text;
  for (const policy::KeyInfo& key : policy::keys())
    if (policy::is_mechanism(key.key))
      text += ".TP\n.B " + roff(key.name) + "\n" + roff(key.help) +
              " (default: " + roff(key.initial.text) + ")\n";
  return text;
}

// What "%flags run" stands for.
std::string part(std::istringstream words, std::string_view tools) {
  std::string what;
  words >> what;
  if (what == "keys") return key_entries();
  if (what == "mechanisms") return mechanism_entries();
  if (what == "tools") return std::string(tools);
  std::string text;
  if (what == "commands")
    for (const CommandInfo& command : commands())
      if (command.run != nullptr) text += command_section(command);
  if (what == "forms")
    for (const CommandInfo& command : commands())
      if (subcommand_of(command).empty()) text += (text.empty() ? "" : ".br\n") + forms(command);
  for (std::string name; words >> name;) {
    const CommandInfo& command = *find_command(name);
    if (what == "synopsis") text += (text.empty() ? "" : ".br\n") + forms(command);
    else if (what == "text") text += roff(command.text) + "\n";
    else if (what == "flags") text += flag_entries(command);
    else if (what == "examples") text += roff(command.examples);
  }
  return text;
}

}  // namespace

std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') result += "\\e";
    else if (c == '-') result += "\\-";
    else if (c == '\'') result += "\\(aq";
    else if (c == '.' && (result.empty() || result.back() == '\n')) result += "\\&.";
    else result += c;
  }
  return result;
}

std::optional<std::string> man_page(std::string_view name, std::string_view tools) {
  const auto found = std::ranges::find_if(kTemplates, [&](const Template& page) {
    return page.file.substr(0, page.file.find('.')) == name;
  });
  if (found == kTemplates.end()) return std::nullopt;
  std::string page;
  std::istringstream lines{std::string(found->text)};
  for (std::string line; std::getline(lines, line);)
    page += line.starts_with('%') ? part(std::istringstream(line.substr(1)), tools) : line + "\n";
  if (const std::size_t at = page.find("%version"); at != std::string::npos)
    page.replace(at, 8, COOP_VERSION);
  return page;
}

}  // namespace coop::cli
