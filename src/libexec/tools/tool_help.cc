#include "libexec/tools/tool_help.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace coop::libexec {

namespace {

struct Argument {
  std::string name{};
  Json schema{};
  bool needed = false;
};

// The needed ones first.
std::vector<Argument> arguments_of(const tools::ToolInfo& tool) {
  const Json schema = Json::parse(tool.schema);
  const Json required = schema.value("required", Json::array());
  std::vector<Argument> arguments;
  for (const auto& [name, property] : schema.at("properties").items()) {
    const bool needed = std::ranges::find(required, Json(name)) != required.end();
    arguments.push_back({name, property, needed});
  }
  std::ranges::stable_partition(arguments, &Argument::needed);
  return arguments;
}

std::string text_of(const Argument& argument) {
  std::string text = argument.name + " (" + argument.schema.value("type", "") +
                     (argument.needed ? ")" : ", optional)");
  if (argument.schema.contains("description"))
    text += ": " + argument.schema.at("description").get<std::string>();
  return text;
}

Json example_of(const Argument& argument) {
  static const std::map<std::string, std::string> kTexts{
      {"command", "make test"}, {"program", "make"},
      {"path", "README.md"},    {"pattern", "TODO"},
      {"content", "text"},      {"old", "before"},
      {"new", "after"},         {"url", "https://example.org/"}};
  const std::string type = argument.schema.value("type", "");
  if (type == "integer" || type == "number") return 1;
  if (type == "boolean") return true;
  if (type == "array") return Json::array();
  if (type == "object") return Json::object();
  const auto found = kTexts.find(argument.name);
  return found == kTexts.end() ? "…" : found->second;
}

}  // namespace

std::string arguments_text(const tools::ToolInfo& tool) {
  std::string text;
  for (const Argument& argument : arguments_of(tool))
    text += (text.empty() ? "" : "; ") + text_of(argument);
  return text;
}

std::string argument_names(const tools::ToolInfo& tool) {
  std::string text;
  for (const Argument& argument : arguments_of(tool))
    text +=
        (text.empty() ? "" : " ") + (argument.needed ? argument.name : "[" + argument.name + "]");
  return text;
}

std::string example_of(const tools::ToolInfo& tool) {
  std::string text;
  for (const Argument& argument : arguments_of(tool))
    if (argument.needed)
      text += (text.empty() ? "" : ", ") + Json(argument.name).dump() + ": " +
              example_of(argument).dump();
  return "{" + text + "}";
}

std::string tool_help(const tools::ToolInfo& tool) {
  const std::string name(tool.name);
  std::string text = "usage: coop tool " + name + " '" + example_of(tool) + "' [FLAGS]\n\n" +
                     std::string(tool.description) + "\n\nArguments, as JSON:\n";
  for (const Argument& argument : arguments_of(tool)) text += "  " + text_of(argument) + "\n";
  return text + "\nResult: " + std::string(tool.returns) + ".\nFlags: `coop tool --help`.\n";
}

}  // namespace coop::libexec
