#include "cli/agents/preset_text.h"

#include <nlohmann/json.hpp>

#include "base/path.h"
#include "base/text.h"
#include "report/settings.h"
#include "report/text.h"

namespace coop::cli {

namespace {

using policy::Settings;

// Of what holds, after the files of the user and the organisation: a preset's own.
Settings settings_of_preset(const Settings& effective) {
  Settings own;
  for (const auto& [key, setting] : effective) {
    policy::Setting kept = setting;
    std::erase_if(kept.items,
                  [](const policy::Item& item) { return item.origin.scope != Scope::preset; });
    const bool list = policy::is_list(key);
    if (list ? kept.items.empty() : setting.origin.scope != Scope::preset) continue;
    own.emplace(key, std::move(kept));
  }
  return own;
}

std::string command_text(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(printable(word));
  return joined(words, " ");
}

// Not where the user's own say something about it.
bool has_arguments(const Request& request) {
  const std::vector<std::string>& add = request.preset->preset.arguments.add;
  const std::vector<std::string>& command = request.options.command;
  return !add.empty() && command.size() > add.size() &&
         std::equal(add.begin(), add.end(), command.begin() + 1);
}

}  // namespace

std::string preset_text(const Request& request) {
  if (!request.preset) return "";
  const policy::Preset& preset = request.preset->preset;
  std::string text = "preset " + preset.name + " (" + preset.title + "):\n";
  if (!request.options.command.empty())
    text += "  command: " + command_text(request.options.command) + "\n";
  if (has_arguments(request))
    text += "  arguments of " + report::to_text(preset.arguments.origin) + ": " +
            command_text(preset.arguments.add) + "\n";
  std::string_view settings;
  const std::string all = report::settings_text(settings_of_preset(request.effective.settings),
                                                report::Origins::shown, report::Defaults::left_out);
  for (settings = all; !settings.empty();) {
    const std::string_view line = settings.substr(0, settings.find('\n'));
    settings.remove_prefix(std::min(settings.size(), line.size() + 1));
    text += line.empty() ? "" : "  " + std::string(line) + "\n";
  }
  return text;
}

nlohmann::ordered_json preset_json(const Request& request) {
  if (!request.preset) return nullptr;
  const policy::Preset& preset = request.preset->preset;
  return {{"name", preset.name},
          {"title", preset.title},
          {"command", request.options.command},
          {"arguments", has_arguments(request) ? preset.arguments.add : std::vector<std::string>{}},
          {"settings", report::settings_json(settings_of_preset(request.effective.settings),
                                             report::Defaults::left_out)}};
}

}  // namespace coop::cli
