#include "policy/presets/preset.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/path.h"
#include "base/text.h"
#include "policy/quoted.h"
#include "policy/settings/document.h"
#include "policy/settings/read_values.h"

namespace coop::policy {

namespace {

constexpr ShippedPreset kPresets[]{
#include "presets.inc"
};

constexpr std::string_view kCheck = "preset";

class Reader {
 public:
  Reader(const ShippedPreset& shipped, Findings& findings)
      : file_(shipped.name), findings_(findings) {}

  void error(const Position& at, std::string message) {
    add_finding(findings_, Severity::error, std::string(kCheck),
                Origin{.scope = Scope::preset, .file = file_, .at = at}, std::move(message), "");
  }

  Origin origin(const Position& at) const {
    return {.scope = Scope::preset, .file = file_, .at = at};
  }

  const Table* table(const Table& document, std::string_view name,
                     std::span<const std::string_view> keys) {
    const Entry* entry = find(document, name);
    if (entry == nullptr) return nullptr;
    const Table* table = entry->value.table();
    if (table == nullptr) {
      error(entry->at, std::string(name) + " must be a table");
      return nullptr;
    }
    for (const Entry& one : *table)
      if (!contains(keys, one.key))
        error(one.at, quote(one.key) + " in [" + std::string(name) + "] is unknown");
    return table;
  }

  std::string text(const Table& table, std::string_view key) {
    const Entry* entry = find(table, key);
    if (entry == nullptr) return {};
    if (const std::string* text = entry->value.text()) return *text;
    error(entry->value.at, std::string(key) + " must be a text");
    return {};
  }

  std::vector<std::string> texts(const Table& table, std::string_view key) {
    std::vector<std::string> result;
    for (const Node& item : items(table, key)) {
      if (const std::string* text = item.text()) result.push_back(*text);
      else error(item.at, std::string(key) + " must be a list of texts");
    }
    return result;
  }

  std::vector<std::uint16_t> ports(const Table& table, std::string_view key) {
    std::vector<std::uint16_t> result;
    for (const Node& item : items(table, key)) {
      const std::int64_t* number = item.integer();
      if (number != nullptr && *number > 0 && *number <= 65535)
        result.push_back(static_cast<std::uint16_t>(*number));
      else error(item.at, std::string(key) + " must be a list of ports");
    }
    return result;
  }

 private:
  std::span<const Node> items(const Table& table, std::string_view key) {
    const Entry* entry = find(table, key);
    if (entry == nullptr) return {};
    if (const List* list = entry->value.list()) return *list;
    error(entry->value.at, std::string(key) + " must be a list");
    return {};
  }

  std::string file_;
  Findings& findings_;
};

constexpr std::array<std::string_view, 6> kTables{"agent", "login", "arguments",
                                                  "files", "hosts", "sandbox"};
constexpr std::array<std::string_view, 7> kAgent{"title",    "commands",    "packages",     "state",
                                                 "measured", "own_sandbox", "recognised_by"};
constexpr std::array<std::string_view, 5> kLogin{"kind", "why", "files", "ports", "hosts"};
constexpr std::array<std::string_view, 2> kArguments{"add", "unless"};

// Below the home: no "..", not absolute.
bool is_below_home(std::string_view path) {
  return !path.empty() && !path.starts_with('/') &&
         !("/" + std::string(path) + "/").contains("/../");
}

void read_agent(const Table& table, Preset& preset, Reader& reader) {
  preset.title = reader.text(table, "title");
  preset.commands = reader.texts(table, "commands");
  preset.packages = reader.texts(table, "packages");
  preset.state = reader.texts(table, "state");
  preset.measured = reader.text(table, "measured");
  preset.own_sandbox = reader.text(table, "own_sandbox");
  const std::string by = reader.text(table, "recognised_by");
  if (by == "package") preset.recognition = Recognition::by_package;
  else if (!by.empty() && by != "name")
    reader.error({}, "recognised_by must be \"name\" or \"package\"");
}

void read_login(const Table& table, Login& login, Reader& reader) {
  const std::string kind = reader.text(table, "kind");
  if (kind == "copy") login.kind = LoginKind::copy;
  else if (kind != "fresh")
    reader.error(table.empty() ? Position{} : table.front().at,
                 "kind must be \"copy\" or \"fresh\"");
  login.why = reader.text(table, "why");
  login.files = reader.texts(table, "files");
  for (const std::string& file : login.files)
    if (!is_below_home(file)) reader.error({}, quote(file) + " is not a path below the home");
  login.ports = reader.ports(table, "ports");
  login.hosts = reader.texts(table, "hosts");
}

void read_files(const Table& document, Preset& preset, Reader& reader) {
  const Entry* entry = find(document, "files");
  if (entry == nullptr) return;
  const Table* table = entry->value.table();
  if (table == nullptr) return reader.error(entry->at, "files must be a table");
  for (const Entry& file : *table) {
    const std::string* text = file.value.text();
    if (text == nullptr || !is_below_home(file.key))
      reader.error(file.at, quote(file.key) + " must be a path below the home, with its contents");
    else
      preset.files.push_back(
          HomeFile{.path = file.key, .contents = *text, .origin = reader.origin(file.at)});
  }
}

bool says(std::string_view word, std::string_view option) {
  if (word == option || word.starts_with(std::string(option) + "=")) return true;
  const bool is_short = option.size() == 2 && option[0] == '-' && option[1] != '-';
  return is_short && word.size() > 2 && word.starts_with(option);
}

}  // namespace

std::span<const ShippedPreset> shipped_presets() { return kPresets; }

const ShippedPreset* find_preset(std::string_view name) {
  const auto* found = std::ranges::find(kPresets, name, &ShippedPreset::name);
  return found == std::end(kPresets) ? nullptr : found;
}

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const ShippedPreset& preset : kPresets) names.push_back(preset.name);
  return names;
}

std::unexpected<Error> unknown_preset(std::string_view operation, const std::string& name) {
  const std::vector<std::string_view> names = preset_names();
  const std::string_view near = nearest(lower(name), names, 2);
  return invalid(operation, "there is no preset \"" + printable(name) + "\"",
                 (near.empty() ? "" : "did you mean \"" + std::string(near) + "\"? ") +
                     ("one of: " + joined(names, ", ")));
}

// Only a file that has the name in quotes is parsed: most runs are of no agent.
const ShippedPreset* preset_for_command(std::string_view command) {
  if (command.empty() || command.find_first_of("\"\\") != std::string_view::npos) return nullptr;
  const std::string quoted = "\"" + std::string(command) + "\"";
  for (const ShippedPreset& shipped : kPresets) {
    if (!shipped.text.contains(quoted)) continue;
    Findings findings;
    const Preset preset = read_preset(shipped, {}, findings);
    if (contains(preset.commands, command)) return &shipped;
  }
  return nullptr;
}

Preset read_preset(const ShippedPreset& shipped, const Surroundings& surroundings,
                   Findings& findings) {
  Preset preset{.name = std::string(shipped.name)};
  const auto document = parse_document(shipped.text, shipped.name);
  if (!document) {
    findings.push_back(document.error());
    return preset;
  }
  Reader reader(shipped, findings);
  for (const Entry& entry : *document)
    if (!contains(kTables, entry.key)) reader.error(entry.at, quote(entry.key) + " is unknown");
  if (const Table* table = reader.table(*document, "agent", kAgent))
    read_agent(*table, preset, reader);
  if (const Table* table = reader.table(*document, "login", kLogin))
    read_login(*table, preset.login, reader);
  if (const Table* table = reader.table(*document, "arguments", kArguments)) {
    preset.arguments = {.add = reader.texts(*table, "add"),
                        .unless = reader.texts(*table, "unless"),
                        .origin = reader.origin(find(*document, "arguments")->at)};
  }
  read_files(*document, preset, reader);
  if (const Entry* hosts = find(*document, "hosts"); hosts != nullptr) {
    if (const Table* table = hosts->value.table())
      for (const Entry& purpose : *table)
        preset.hosts.push_back({purpose.key, reader.texts(*table, purpose.key)});
    else reader.error(hosts->at, "hosts must be a table");
  }
  if (const Entry* sandbox = find(*document, "sandbox"); sandbox != nullptr) {
    const Source source{.file = preset.name, .scope = Scope::preset, .surroundings = surroundings};
    if (const Table* table = sandbox->value.table())
      preset.settings = read_settings(*table, source, findings);
    else reader.error(sandbox->at, "sandbox must be a table");
  }
  return preset;
}

bool mentions(std::span<const std::string> words, const AddedArguments& arguments) {
  for (const std::string& word : words) {
    if (word == "--") return false;
    if (std::ranges::any_of(arguments.unless,
                            [&](const std::string& option) { return says(word, option); }))
      return true;
  }
  return false;
}

}  // namespace coop::policy
