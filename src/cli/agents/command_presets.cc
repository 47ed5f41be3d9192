#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/usage/usage.h"
#include "host/probe.h"
#include "policy/presets/preset.h"
#include "request/sources.h"

namespace coop::cli {

namespace {

using policy::Key;
using policy::LoginKind;
using policy::Preset;

Result<Preset> read(const policy::ShippedPreset& shipped) {
  const HostFacts facts = TRY(request::surroundings());
  policy::Findings findings;
  Preset preset = policy::read_preset(
      shipped, request::surroundings_of(facts, facts.working_directory), findings);
  if (policy::has_errors(findings)) return std::unexpected(policy::to_error(findings));
  return preset;
}

Result<std::vector<Preset>> read_all_presets() {
  std::vector<Preset> presets;
  for (const policy::ShippedPreset& shipped : policy::shipped_presets())
    presets.push_back(TRY(read(shipped)));
  return presets;
}

std::string list_text(const std::vector<Preset>& presets) {
  std::string text;
  for (const Preset& preset : presets) {
    std::string line = preset.name;
    line.resize(std::max<std::size_t>(line.size() + 1, 12), ' ');
    line += preset.title;
    line.resize(std::max<std::size_t>(line.size() + 1, 36), ' ');
    const std::string& command = preset.commands.empty() ? preset.name : preset.commands.front();
    // Without a package nothing tells it from other programs of that name.
    const bool named =
        preset.recognition == policy::Recognition::by_package && preset.packages.empty();
    line += "coop run " + (named ? "--preset " + preset.name + " " : "") + "-- " + command;
    text += line + "\n";
  }
  return text + "\n`coop presets NAME` shows what one of them adds.\n";
}

std::vector<std::string> texts_of(const policy::Settings& settings, Key key) {
  std::vector<std::string> texts;
  for (const policy::Item& item : policy::items_of(settings, key)) texts.push_back(item.text);
  return texts;
}

void add_line(std::string& text, std::string_view head, const std::vector<std::string>& words) {
  if (words.empty()) return;
  std::string line(head);
  line.resize(std::max<std::size_t>(line.size() + 1, 22), ' ');
  std::vector<std::string> shown;
  for (const std::string& word : words) shown.push_back(printable(word));
  text += line + joined(shown, ", ") + "\n";
}

// What is said first; the file itself, with the reason of each line, follows.
std::string one_text(const Preset& preset, std::string_view file) {
  std::string text = preset.title +
                     (preset.measured.empty() ? ": written from its documentation, not tried"
                                              : ": tried with version " + preset.measured) +
                     "\n\n";
  add_line(text, "command", preset.commands);
  add_line(text, "keeps in its home", preset.state);
  add_line(text, "may reach", texts_of(preset.settings, Key::network_allow));
  add_line(text, "variables passed on", texts_of(preset.settings, Key::env_pass));
  add_line(text, "variables set", texts_of(preset.settings, Key::env_set));
  add_line(text, "arguments added", preset.arguments.add);
  add_line(text, "login",
           {preset.login.kind == LoginKind::copy ? "--import-login copies yours"
                                                 : "log in inside, once for each project"});
  if (!preset.login.why.empty()) add_line(text, "", {preset.login.why});
  add_line(text, "its own sandbox", {preset.own_sandbox});
  return text + "\nThe preset itself, with the reason of each line:\n\n" + std::string(file);
}

Json json_of(const Preset& preset) {
  Json hosts = Json::object();
  for (const policy::PresetHosts& one : preset.hosts) hosts[one.purpose] = one.hosts;
  Json files = Json::array();
  for (const HomeFile& file : preset.files) files.push_back(file.path);
  return {{"name", preset.name},
          {"title", preset.title},
          {"commands", preset.commands},
          {"packages", preset.packages},
          {"state", preset.state},
          {"measured", preset.measured},
          {"own_sandbox", preset.own_sandbox},
          {"login",
           {{"kind", preset.login.kind == LoginKind::copy ? "copy" : "fresh"},
            {"why", preset.login.why},
            {"files", preset.login.files},
            {"ports", preset.login.ports},
            {"hosts", preset.login.hosts}}},
          {"arguments", {{"add", preset.arguments.add}, {"unless", preset.arguments.unless}}},
          {"files", std::move(files)},
          {"hosts", std::move(hosts)},
          {"allow", texts_of(preset.settings, Key::network_allow)},
          {"pass", texts_of(preset.settings, Key::env_pass)},
          {"set", texts_of(preset.settings, Key::env_set)}};
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> command_presets(const Parsed& parsed) {
  const bool json = parsed.has("--json");
  if (parsed.arguments.empty()) {
    const std::vector<Preset> presets = TRY(read_all_presets());
    Json all = Json::array();
    for (const Preset& preset : presets) all.push_back(json_of(preset));
    TRY(print_all(json ? dumped(Json{{"presets", std::move(all)}}) : list_text(presets)));
    return 0;
  }
  const std::string& name = parsed.arguments.front();
  const policy::ShippedPreset* shipped = policy::find_preset(name);
  if (shipped == nullptr) return policy::unknown_preset("presets", name);
  const Preset preset = TRY(read(*shipped));
  TRY(print_all(json ? dumped(json_of(preset)) : one_text(preset, shipped->text)));
  return 0;
}

}  // namespace coop::cli
