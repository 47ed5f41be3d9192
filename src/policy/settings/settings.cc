#include "policy/settings/settings.h"

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "policy/quoted.h"
#include "policy/settings/read_values.h"

namespace coop::policy {

namespace {

// Alternative names and words besides those of the key table.
struct Spelling {
  std::string_view written;
  std::string_view meant;
};
constexpr Spelling kOldNames[] = {{"enabled", "mode"},
                                  {"allow_network", "network"},
                                  {"pids", "pids_limit"},
                                  {"image", "base_image"}};
constexpr std::string_view kOverrides =
    "image base_image network allow_network memory cpus pids pids_limit";

}  // namespace

std::vector<std::string_view> known_names(Shape shape) {
  if (shape == Shape::override) return split_words(kOverrides);
  std::vector<std::string_view> names;
  for (const KeyInfo& key : keys())
    if (key.table().empty() && !is_mechanism(key.key) &&
        (key.key != Key::workspace || shape == Shape::config) &&
        (key.key != Key::workspaces || shape == Shape::policy_file))
      names.push_back(key.name);
  for (const std::string_view name : {"env", "require", "best_effort"}) names.push_back(name);
  if (shape == Shape::config)
    for (const Spelling& old : kOldNames) names.push_back(old.written);
  return names;
}

std::string_view meant_by(std::string_view name) {
  const auto* const old = std::ranges::find(kOldNames, name, &Spelling::written);
  return old == std::end(kOldNames) ? name : old->meant;
}

namespace {

// The fix for a name that is valid elsewhere, but not in this file.
std::string fix_unknown(std::string_view name, Shape shape,
                        const std::vector<std::string_view>& known) {
  if (shape == Shape::policy_file) {
    if (name == "enabled") return "write mode = \"enabled\" or mode = \"disabled\"";
    if (name == "allow_network") return "write network = \"full\" or network = \"none\"";
    if (name == "workspace") return "only coop.toml names a workspace";
  }
  if (contains(mechanism_names(), name) && shape != Shape::override)
    return "write require = [\"" + std::string(name) + "\"] or best_effort = [\"" +
           std::string(name) + "\"]";
  const std::string_view meant = meant_by(name);
  if (contains(known, meant)) name = meant;
  return suggestion(name, known);
}

class TableReader {
 public:
  TableReader(const Source& source, Findings& findings) : reporter_(source, findings) {}

  Settings read(const Table& table) {
    const Shape shape = reporter_.source().shape;
    const std::vector<std::string_view> known = known_names(shape);
    Unknown unknown{shape == Shape::override ? "an override" : "[sandbox]", known, false};
    for (const Entry& entry : table) {
      if (!contains(known, entry.key)) report_unknown(entry, unknown);
      // In an override, an empty text means that nothing is overridden.
      else if (shape != Shape::override || entry.value.text() == nullptr ||
               !entry.value.text()->empty())
        read_entry(entry);
    }
    return std::move(settings_);
  }

 private:
  // Unknown keys of one table: bounded, so that a file full of them does not flood the findings.
  struct Unknown {
    std::string_view where;
    const std::vector<std::string_view>& known;
    bool inner = true;  // [sandbox.network] or [sandbox.env]
    int count = 0;
  };

  void report_unknown(const Entry& entry, Unknown& unknown) {
    constexpr int kMost = 20;
    if (++unknown.count > kMost + 1) return;
    if (unknown.count == kMost + 1) {
      reporter_.error("unknown_key", entry.at,
                      "more unknown keys in " + std::string(unknown.where));
      return;
    }
    reporter_.error("unknown_key", entry.at,
                    "unknown key " + quote(entry.key) + " in " + std::string(unknown.where),
                    unknown.inner
                        ? suggestion(entry.key, unknown.known)
                        : fix_unknown(entry.key, reporter_.source().shape, unknown.known));
  }

  void read_entry(const Entry& entry) {
    if (entry.key == "enabled") return read_switch(entry, Key::mode, "enabled", "disabled");
    if (entry.key == "allow_network") return read_switch(entry, Key::network, "full", "none");
    if (entry.key == "network") return read_network(entry);
    if (entry.key == "env") return read_environment(entry);
    if (entry.key == "require") return read_needs(entry, "required");
    if (entry.key == "best_effort") return read_needs(entry, "best_effort");
    const auto key = std::ranges::find(keys(), meant_by(entry.key), &KeyInfo::name);
    put(key->key, entry.key, read_value(*key, entry.key, entry, reporter_));
  }

  void put(Key key, std::string_view name, std::optional<Setting> setting) {
    if (!setting) return;
    if (is_of_organisation(key) && reporter_.source().scope != Scope::organisation)
      return reporter_.error(info(key).check, setting->origin.at,
                             std::string(name) + " is a key of the organisation's policy only",
                             "remove the line");
    const auto [known, added] = settings_.try_emplace(key, *setting);
    if (added || known->second.value == setting->value) return;
    reporter_.error(info(key).check, setting->origin.at,
                    std::string(name) + ": contradicts line " +
                        std::to_string(known->second.origin.at.line) + ", which means " +
                        std::string(info(key).name) + " = " +
                        shortened(value_text(key, known->second)),
                    "keep one of the two");
  }

  void read_switch(const Entry& entry, Key key, std::string_view on, std::string_view off) {
    const bool* value = entry.value.boolean();
    if (value == nullptr)
      return report_type(info(key), entry.key, "true or false", entry.value,
                         "for example: " + entry.key + " = true", reporter_);
    put(key, entry.key,
        Setting{.value = std::string(*value ? on : off),
                .origin = reporter_.origin(entry.value.at)});
  }

  void read_network(const Entry& entry) {
    const Table* table = entry.value.table();
    if (table == nullptr) return read_network_mode(entry, entry.key);
    read_table(*table, "network");
    if (find(*table, "mode") != nullptr) return;
    imply_allowlist(find(*table, "allow"), Key::network_allow);
    imply_allowlist(find(*table, "udp"), Key::network_udp);
  }

  // A list of allowed hosts implies the mode "allowlist".
  void imply_allowlist(const Entry* list, Key key) {
    if (list == nullptr || !settings_.contains(key)) return;
    put(Key::network, info(key).name,
        Setting{.value = "allowlist", .origin = reporter_.origin(list->at)});
  }

  void read_network_mode(const Entry& entry, std::string_view name) {
    KeyInfo row = info(Key::network);
    const std::string with_bridge = std::string(row.words) + " bridge";
    const bool bridge = entry.value.text() != nullptr && *entry.value.text() == "bridge";
    if (reporter_.source().shape != Shape::policy_file) row.words = with_bridge;
    else if (bridge)
      return reporter_.error(row.check, entry.value.at,
                             std::string(name) + ": \"bridge\" is a word of coop.toml",
                             "write \"full\"");
    std::optional<Setting> setting = read_value(row, name, entry, reporter_);
    if (setting && bridge) setting->value = "full";
    put(Key::network, name, std::move(setting));
  }

  void read_environment(const Entry& entry) {
    const Table* table = entry.value.table();
    if (table == nullptr)
      return report_type(info(Key::env_pass), entry.key, "a table", entry.value,
                         R"(for example: env = { pass = ["NAME"], set = { NAME = "value" } })",
                         reporter_);
    read_table(*table, "env");
  }

  // [sandbox.network] or [sandbox.env].
  void read_table(const Table& table, const std::string& name) {
    std::vector<std::string_view> known;
    if (name == "network") known.emplace_back("mode");
    for (const KeyInfo& key : keys())
      if (key.table() == name) known.push_back(key.name_in_table());
    const std::string where = "[sandbox." + name + "]";
    Unknown unknown{where, known};
    for (const Entry& inner : table) {
      const auto key = std::ranges::find(keys(), name + "." + inner.key, &KeyInfo::name);
      if (!contains(known, inner.key)) report_unknown(inner, unknown);
      else if (inner.key == "mode") read_network_mode(inner, "network.mode");
      else put(key->key, key->name, read_value(*key, key->name, inner, reporter_));
    }
  }

  // require = ["landlock"], best_effort = ["proc"]: one key for each mechanism.
  void read_needs(const Entry& entry, std::string_view need) {
    const std::vector<std::string_view> known = mechanism_names();
    const KeyInfo& any = info(Key::landlock);
    const List* list = read_list(any, entry.key, entry, "a list of mechanisms", reporter_);
    if (list == nullptr) return;
    for (const Node& node : *list) {
      const std::string* name = node.text();
      if (name == nullptr) {
        report_type(any, entry.key, "strings in the list", node, std::string(kListFix), reporter_);
        continue;
      }
      const auto key = std::ranges::find(keys(), *name, &KeyInfo::name);
      if (!contains(known, *name))
        reporter_.error(any.check, node.at, entry.key + ": " + quote(*name) + " is not a mechanism",
                        suggestion(*name, known));
      else put_need(key->key, entry.key, node, need);
    }
  }

  void put_need(Key key, std::string_view name, const Node& node, std::string_view need) {
    Setting setting{.value = std::string(need), .origin = reporter_.origin(node.at)};
    const auto [found, added] = settings_.try_emplace(key, setting);
    if (added || found->second.value == setting.value) return;
    const std::string_view other = need == "required" ? "best_effort" : "require";
    reporter_.error(info(key).check, node.at,
                    std::string(name) + ": " + quote(*node.text()) + " is in " +
                        std::string(other) + " too, in line " +
                        std::to_string(found->second.origin.at.line),
                    "keep it in one of the two");
  }

  Reporter reporter_;
  Settings settings_{};
};

void report_outside(const Entry& entry, Reporter& reporter) {
  const std::vector<std::string_view> inside = known_names(Shape::policy_file);
  const std::vector<std::string_view> top{"sandbox"};
  const std::string_view near = contains(inside, entry.key)       ? std::string_view(entry.key)
                                : similar(entry.key, top).empty() ? similar(entry.key, inside)
                                                                  : "";
  reporter.error(
      "unknown_key", entry.at, "unknown key " + quote(entry.key) + " outside of [sandbox]",
      near.empty() ? suggestion(entry.key, top)
      : near == entry.key
          ? "put it below a line with [sandbox]"
          : "did you mean \"" + std::string(near) + "\"? Put it below a line with [sandbox]");
}

}  // namespace

const Setting* find(const Settings& settings, Key key) {
  const auto found = settings.find(key);
  return found == settings.end() ? nullptr : &found->second;
}

const std::vector<Item>& items_of(const Settings& settings, Key key) {
  static const std::vector<Item> kNone;
  const Setting* setting = find(settings, key);
  return setting == nullptr ? kNone : setting->items;
}

bool has_item(const Settings& settings, Key key, std::string_view text) {
  return contains(items_of(settings, key), text, &Item::text);
}

std::string_view word_of(const Settings& settings, Key key) {
  const Setting* setting = find(settings, key);
  const auto* word = setting == nullptr ? nullptr : std::get_if<std::string>(&setting->value);
  return word == nullptr ? std::string_view() : *word;
}

Settings read_settings(const Table& table, const Source& source, Findings& findings) {
  return TableReader(source, findings).read(table);
}

Settings read_policy(std::string_view text, const Source& source, Findings& findings) {
  Reporter reporter(source, findings);
  const auto document = parse_document(text, source.file);
  if (!document) {
    findings.push_back(document.error());
    return {};
  }
  constexpr int kMost = 20;
  int unknown = 0;
  for (const Entry& entry : *document)
    if (entry.key != "sandbox" && ++unknown <= kMost) report_outside(entry, reporter);
  const Entry* sandbox = find(*document, "sandbox");
  if (sandbox == nullptr) return {};
  if (const Table* table = sandbox->value.table()) return read_settings(*table, source, findings);
  reporter.error("sandbox_settings", sandbox->value.at,
                 "sandbox: expected a table, found " + type_name(sandbox->value),
                 "write [sandbox] on a line of its own");
  return {};
}

}  // namespace coop::policy
