// Settings as tests write them down, without a file to read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wildcard.h"
#include "coop/destination.h"
#include "policy/merge/merge.h"
#include "policy/settings/read_items.h"

namespace coop::policy::testing_literals {

inline Origin at(Scope scope, int line) {
  switch (scope) {
    case Scope::built_in: return Origin::of_coop();
    case Scope::preset: return {scope, "claude", {line, 1}};
    case Scope::organisation: return {scope, "/etc/coop/policy.toml", {line, 1}};
    case Scope::user: return {scope, "/home/ann/.config/coop/policy.toml", {line, 1}};
    case Scope::project: return {scope, ".coop/policy.toml", {line, 1}};
    case Scope::config:
    case Scope::override: return {scope, "coop.toml", {line, 1}};
    case Scope::program: return {scope, "program", {line, 1}};
    case Scope::command_line: return Origin::of_flag("--flag");
  }
  return {};
}

inline Item path_item(const std::string& path, const Origin& origin = {}) {
  return {.text = path, .path = path, .pattern = has_wildcard(path), .origin = origin};
}

inline Item name_item(const std::string& text, const Origin& origin = {}) {
  return {.text = text, .origin = origin};
}

// A host of a network list, parsed as a file's is.
inline Item host_item(Key key, const std::string& text, const Origin& origin = {}) {
  Result<Destination> parsed =
      key == Key::network_udp ? parse_udp_destination(text) : parse_destination(text);
  return {.text = text, .destination = std::move(parsed).value(), .origin = origin};
}

// An item of any list of names, hosts or ports.
inline Item listed_item(Key key, const std::string& text, const Origin& origin) {
  if (info(key).type == KeyType::hosts) return host_item(key, text, origin);
  if (info(key).type != KeyType::ports) return name_item(text, origin);
  return written_at(read_item(info(key), text).value().front(), origin);
}

// One layer, a line for each call.
class LayerMaker {
 public:
  explicit LayerMaker(Scope scope) : layer_{.scope = scope} {}

  LayerMaker& set(Key key, Scalar value) {
    layer_.settings[key] = {.value = std::move(value), .origin = at(layer_.scope, ++line_)};
    return *this;
  }
  LayerMaker& paths(Key key, const std::vector<std::string>& paths) {
    const Origin origin = at(layer_.scope, ++line_);
    Setting& setting = layer_.settings[key];
    setting.origin = origin;
    for (const std::string& path : paths) setting.items.push_back(path_item(path, origin));
    return *this;
  }
  LayerMaker& names(Key key, const std::vector<std::string>& names) {
    const Origin origin = at(layer_.scope, ++line_);
    Setting& setting = layer_.settings[key];
    setting.origin = origin;
    for (const std::string& name : names) {
      if (!name.starts_with('@')) {
        setting.items.push_back(listed_item(key, name, origin));
        continue;
      }
      const std::vector<Item> group = read_item(info(key), name).value();
      for (const Item& item : group) setting.items.push_back(written_at(item, origin));
    }
    return *this;
  }
  LayerMaker& variable(const std::string& name, const std::string& value) {
    const Origin origin = at(layer_.scope, ++line_);
    Setting& setting = layer_.settings[Key::env_set];
    if (setting.items.empty()) setting.origin = origin;
    setting.items.push_back({.text = name, .value = value, .origin = origin});
    return *this;
  }
  operator Layer() const { return layer_; }  // NOLINT(google-explicit-constructor)
  const Settings& settings() const { return layer_.settings; }

 private:
  Layer layer_;
  int line_ = 0;
};

inline LayerMaker organisation() { return LayerMaker(Scope::organisation); }
inline LayerMaker user() { return LayerMaker(Scope::user); }
inline LayerMaker project() { return LayerMaker(Scope::project); }
inline LayerMaker config() { return LayerMaker(Scope::config); }

}  // namespace coop::policy::testing_literals
