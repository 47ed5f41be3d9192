#include "setup/client.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/text.h"
#include "policy/settings/document.h"
#include "setup/toml/toml_edit.h"
#include "setup/toml/toml_value.h"

namespace coop::setup {

namespace {

using policy::Entry;
using policy::Findings;
using policy::Table;

constexpr ShippedClient kClients[]{
#include "clients.inc"
};

constexpr std::array<std::string_view, 4> kTables{"client", "file", "change", "concern"};
constexpr std::array<std::string_view, 7> kClientKeys{
    "title", "commands", "traces", "measured", "no_shell", "notes", "shell_notes"};
constexpr std::array<std::string_view, 6> kFileKeys{"name",     "path",  "instead",
                                                    "moved_by", "moved", "format"};
constexpr std::array<std::string_view, 6> kChangeKeys{"way",   "file", "set",
                                                      "value", "add",  "items"};
constexpr std::array<std::string_view, 4> kConcernKeys{"file", "at", "unless", "text"};

class ClientReader {
 public:
  ClientReader(const ShippedClient& shipped, std::string_view program, Findings& findings)
      : file_(shipped.name), program_(program), findings_(findings) {}

  void error(const Position& at, std::string message) {
    add_finding(findings_, policy::Severity::error, "client",
                Origin{.scope = Scope::preset, .file = file_, .at = at}, std::move(message), "");
  }

  void check_keys(const Table& table, std::span<const std::string_view> keys) {
    for (const Entry& entry : table)
      if (!contains(keys, entry.key)) error(entry.at, in_quotes(entry.key) + " is unknown");
  }

  std::string text(const Table& table, std::string_view key) {
    const Entry* entry = find(table, key);
    if (entry == nullptr) return {};
    if (const std::string* text = entry->value.text()) return *text;
    error(entry->at, std::string(key) + " must be a text");
    return {};
  }

  std::vector<std::string> texts(const Table& table, std::string_view key) {
    std::vector<std::string> result;
    const Entry* entry = find(table, key);
    if (entry == nullptr) return result;
    if (const policy::List* list = entry->value.list())
      for (const policy::Node& item : *list)
        if (const std::string* text = item.text()) result.push_back(*text);
    if (result.empty()) error(entry->at, std::string(key) + " must be a list of texts");
    return result;
  }

  std::vector<const Table*> tables(const Table& document, std::string_view key) {
    std::vector<const Table*> result;
    const Entry* entry = find(document, key);
    if (entry == nullptr) return result;
    if (const policy::List* list = entry->value.list())
      for (const policy::Node& item : *list)
        if (item.table() != nullptr) result.push_back(item.table());
    if (result.empty()) error(entry->at, std::string(key) + " must be a list of tables");
    return result;
  }

  // Other variables in braces are the client's own.
  Json filled(Json value) {
    if (value.is_string()) {
      std::string text = value.get<std::string>();
      put(text, "${coop}", std::string(program_));
      put(text, "${quoted coop}", shell_quoted(program_));
      return text;
    }
    for (Json& item : value)
      if (value.is_structured()) item = filled(item);
    return value;
  }

 private:
  static void put(std::string& text, std::string_view name, const std::string& value) {
    const std::size_t at = text.find(name);
    if (at != std::string::npos) text.replace(at, name.size(), value);
  }

  std::string file_;
  std::string_view program_;
  Findings& findings_;
};

void read_about(const Table& table, Client& client, ClientReader& reader) {
  reader.check_keys(table, kClientKeys);
  client.title = reader.text(table, "title");
  client.commands = reader.texts(table, "commands");
  client.traces = reader.texts(table, "traces");
  client.measured = reader.text(table, "measured");
  client.no_shell = reader.text(table, "no_shell");
  client.notes = reader.texts(table, "notes");
  client.shell_notes = reader.texts(table, "shell_notes");
}

void read_file(const Table& table, Client& client, ClientReader& reader) {
  reader.check_keys(table, kFileKeys);
  ClientFile file{.name = reader.text(table, "name"),
                  .path = reader.text(table, "path"),
                  .instead = reader.text(table, "instead"),
                  .moved_by = reader.text(table, "moved_by"),
                  .moved = reader.text(table, "moved")};
  const std::string format = reader.text(table, "format");
  if (format == "toml") file.format = Format::toml;
  else if (format != "json") reader.error({}, "format must be \"json\" or \"toml\"");
  if (file.path.empty() || file.path.starts_with('/'))
    reader.error({}, "path must be below the home");
  if (file.moved.empty()) file.moved = parent_of("/" + file.path).substr(1);
  client.files.push_back(std::move(file));
}

void read_change(const Table& table, Client& client, ClientReader& reader) {
  reader.check_keys(table, kChangeKeys);
  ClientChange change{.file = reader.text(table, "file")};
  const std::string way = reader.text(table, "way");
  if (way == "shell") change.way = Way::shell;
  else if (!way.empty() && way != "tools") reader.error({}, "way must be \"tools\" or \"shell\"");
  if (!contains(client.files, change.file, &ClientFile::name))
    reader.error({}, "there is no file " + in_quotes(change.file));
  const Entry* value = find(table, "value");
  const Entry* items = find(table, "items");
  if (value != nullptr && find(table, "set") != nullptr) {
    change.change = {ChangeKind::set, reader.texts(table, "set"),
                     reader.filled(json_of(value->value))};
    client.changes.push_back(std::move(change));
  } else if (items != nullptr && items->value.list() != nullptr) {
    const std::vector<std::string> path = reader.texts(table, "add");
    for (const policy::Node& item : *items->value.list()) {
      change.change = {ChangeKind::add, path, reader.filled(json_of(item))};
      client.changes.push_back(change);
    }
  } else {
    reader.error({}, "a change needs set and value, or add and items");
  }
}

void read_concern(const Table& table, Client& client, ClientReader& reader) {
  reader.check_keys(table, kConcernKeys);
  Concern concern{.file = reader.text(table, "file"),
                  .path = reader.texts(table, "at"),
                  .text = reader.text(table, "text")};
  const auto file = std::ranges::find(client.files, concern.file, &ClientFile::name);
  if (file == client.files.end() || file->format != Format::toml)
    reader.error({}, "there is no TOML file " + in_quotes(concern.file));
  if (concern.path.empty() || concern.text.empty()) reader.error({}, "a concern needs at and text");
  if (const Entry* unless = find(table, "unless")) concern.unless = json_of(unless->value);
  client.concerns.push_back(std::move(concern));
}

}  // namespace

std::string_view to_text(Way way) { return way == Way::tools ? "tools" : "shell"; }

std::span<const ShippedClient> shipped_clients() { return kClients; }

const ShippedClient* find_client(std::string_view name) {
  const auto* found = std::ranges::find(kClients, name, &ShippedClient::name);
  return found == std::end(kClients) ? nullptr : found;
}

std::vector<std::string_view> client_names() {
  std::vector<std::string_view> names;
  for (const ShippedClient& client : kClients) names.push_back(client.name);
  return names;
}

Client read_client(const ShippedClient& shipped, std::string_view program, Findings& findings) {
  Client client{.name = std::string(shipped.name)};
  const auto document = policy::parse_document(shipped.text, shipped.name);
  if (!document) {
    findings.push_back(document.error());
    return client;
  }
  ClientReader reader(shipped, program, findings);
  reader.check_keys(*document, kTables);
  const Entry* about = find(*document, "client");
  if (about != nullptr && about->value.table() != nullptr)
    read_about(*about->value.table(), client, reader);
  for (const Table* table : reader.tables(*document, "file")) read_file(*table, client, reader);
  for (const Table* table : reader.tables(*document, "change")) read_change(*table, client, reader);
  for (const Table* table : reader.tables(*document, "concern"))
    read_concern(*table, client, reader);
  return client;
}

std::vector<FoundConcern> find_concerns(const Client& client, std::string_view file,
                                        std::string_view text) {
  std::vector<FoundConcern> found;
  for (const Concern& concern : client.concerns) {
    if (concern.file != file) continue;
    for (const TomlPlace& place : find_toml(text, concern.path))
      if (concern.unless.is_null() || place.value != concern.unless)
        found.push_back({place.line, path_text(place.path) + ": " + concern.text});
  }
  return found;
}

std::string shell_quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word)
    if (c == '\'') text += "'\\''";
    else text += c;
  return text + "'";
}

}  // namespace coop::setup
