#include <algorithm>
#include <array>
#include <chrono>

#include "base/path.h"
#include "base/quantity.h"
#include "policy/settings/settings.h"
#include "policy/settings/toml_text.h"

namespace coop::policy {

namespace {

// Exact, so that it reads back as the same number: "2g", else the number of bytes.
std::string size_text(std::uint64_t bytes) {
  struct Unit {
    int shift;
    char letter;
  };
  for (const Unit unit : {Unit{40, 't'}, Unit{30, 'g'}, Unit{20, 'm'}, Unit{10, 'k'}})
    if (bytes != 0 && bytes % (std::uint64_t{1} << unit.shift) == 0)
      return "\"" + std::to_string(bytes >> unit.shift) + unit.letter + "\"";
  return std::to_string(bytes);
}

std::string cpus_text(std::uint64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 == 0) return text;
  std::string decimals = std::to_string(1000 + milli % 1000).substr(1);
  while (decimals.ends_with('0')) decimals.pop_back();
  return text + "." + decimals;
}

std::string number_text(KeyType type, std::uint64_t value) {
  if (type == KeyType::size) return size_text(value);
  if (type == KeyType::cpus) return cpus_text(value);
  if (type == KeyType::duration)
    return toml_text(format_duration(std::chrono::milliseconds(value)));
  return std::to_string(value);
}

// Paths are stored with variables expanded; a dollar sign in one is literal and must be escaped.
std::string path_text(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '$' ? std::string("$$") : std::string(1, c);
  return toml_text(text);
}

struct ScalarText {
  KeyType type;

  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::uint64_t value) const { return number_text(type, value); }
  std::string operator()(Unlimited) const { return "\"unlimited\""; }
  std::string operator()(const std::string& value) const {
    return type == KeyType::path ? path_text(value) : toml_text(value);
  }
};

std::string item_text(KeyType type, const Item& item) {
  if (type == KeyType::map) return toml_key(item.text) + " = " + toml_text(item.value);
  if (type == KeyType::ports && item.text.find(':') == std::string::npos) return item.text;
  return toml_text(item.text + (item.if_missing == Missing::skip ? "?" : ""));
}

std::string list_text(Key key, const Setting& setting) {
  const bool map = info(key).type == KeyType::map;
  std::string text;
  for (const Item& item : setting.items) {
    if (!text.empty()) text += ", ";
    text += item_text(info(key).type, item);
  }
  if (!map) return "[" + text + "]";
  return text.empty() ? "{}" : "{ " + text + " }";
}

std::string broken_list(Key key, const Setting& setting) {
  std::string text = "[\n";
  for (const Item& item : setting.items) text += "  " + item_text(info(key).type, item) + ",\n";
  return text + "]";
}

constexpr std::string_view kNetwork = "network.";
constexpr std::array kNetworkLists{Key::network_allow, Key::network_deny, Key::network_udp,
                                   Key::network_publish, Key::network_host_ports};

class Writer {
 public:
  explicit Writer(const Settings& settings) : settings_(settings) {}

  std::string write() {
    const bool network_table =
        std::ranges::any_of(kNetworkLists, [&](Key key) { return has(key); });
    text_ = "[sandbox]\n";
    for (const auto& [key, setting] : settings_)
      if (stands_alone(key) && !(key == Key::network && network_table))
        line(info(key).name, key, setting);
    needs("require", "required");
    needs("best_effort", "best_effort");
    if (network_table) {
      text_ += "\n[sandbox.network]\n";
      line_if_set("mode", Key::network);
      for (const Key key : kNetworkLists) line_if_set(info(key).name.substr(kNetwork.size()), key);
    }
    if (has(Key::env_pass) || has(Key::env_set) || has(Key::env_unsafe)) {
      text_ += "\n[sandbox.env]\n";
      line_if_set("pass", Key::env_pass);
      line_if_set("set", Key::env_set);
      line_if_set("unsafe", Key::env_unsafe);
    }
    return std::move(text_);
  }

 private:
  static bool is_need(Key key) {
    return key == Key::landlock || key == Key::proc || key == Key::limits;
  }
  static bool stands_alone(Key key) {
    return !is_need(key) && info(key).name.find('.') == std::string_view::npos;
  }

  bool has(Key key) const { return settings_.contains(key); }

  void line(std::string_view name, Key key, const Setting& setting) {
    constexpr std::size_t kLongest = 100;
    std::string value = value_text(key, setting);
    const bool breakable = is_list(key) && info(key).type != KeyType::map;
    if (breakable && name.size() + 3 + value.size() > kLongest) value = broken_list(key, setting);
    if (!value.empty()) text_ += std::string(name) + " = " + value + "\n";
  }

  void line_if_set(std::string_view name, Key key) {
    if (const auto found = settings_.find(key); found != settings_.end())
      line(name, key, found->second);
  }

  void needs(std::string_view name, std::string_view need) {
    std::string names;
    for (const auto& [key, setting] : settings_)
      if (is_need(key) && setting.value == Scalar(std::string(need)))
        names += (names.empty() ? "" : ", ") + toml_text(info(key).name);
    if (!names.empty()) text_ += std::string(name) + " = [" + names + "]\n";
  }

  const Settings& settings_;
  std::string text_{};
};

}  // namespace

std::string value_text(Key key, const Setting& setting) {
  if (is_list(key)) return list_text(key, setting);
  return std::visit(ScalarText{info(key).type}, setting.value);
}

std::string to_toml(const Settings& settings) { return Writer(settings).write(); }

}  // namespace coop::policy
