// The contents of a [sandbox] table: each value, and where it was written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coop/policy.h"
#include "policy/destinations/cover.h"
#include "policy/settings/document.h"
#include "policy/settings/findings.h"

namespace coop::policy {

// In the order of `coop policy show`.
enum class Key : std::uint8_t {
  mode,            // text: enabled | disabled
  owner_bypass,    // boolean
  view,            // text: minimal | host
  home,            // text: ephemeral | workspace | a name
  show_home,       // boolean
  hide_secrets,    // boolean
  workspace,       // text: a path (coop.toml only)
  workspaces,      // items with paths (the organisation's file only)
  writable_paths,  // items with paths, as are the next five
  readable_paths,
  hidden_paths,
  overlay_paths,
  tmpfs_paths,
  protected_paths,
  allow_guarded,  // items: names of policies/guards.txt and home_guards.txt
  network,        // text: none | allowlist | full | veth | host
  network_allow,  // items: HOST[:PORT], *.example.com, CIDR
  network_deny,
  network_udp,         // items: ADDRESS:PORT, CIDR:PORT
  network_publish,     // items: ADDRESS:HOST:SANDBOX
  network_host_ports,  // items: PORT
  network_mptcp,       // boolean
  sockets,             // items with paths
  memory,              // bytes or Unlimited
  pids_limit,          // count or Unlimited
  cpus,                // thousandths or Unlimited
  tmp_size,            // bytes
  open_files,          // count or Unlimited
  file_size,           // bytes or Unlimited
  timeout,             // milliseconds or Unlimited
  output_limit,        // bytes
  debug,               // boolean
  as_root,             // boolean
  hostname,            // text: a host name, or empty
  time_offset,         // text: whole seconds, with a sign
  terminal,            // word
  containers,          // boolean
  vm,                  // boolean
  env_pass,            // items: names
  env_set,             // items: text is the name, value the value
  env_unsafe,          // items: names of variables that inject code
  env_names,           // items: names with wildcards (the organisation's file only)
  backend,             // text: auto kernel bwrap docker podman gvisor apple sandbox-exec kubernetes
  base_image,          // text: an image reference
  auto_commit,         // boolean
  cache_volumes,       // items: names of policies/caches.txt, as are the next
  share_caches,
  landlock,  // text: required | best_effort, as are the next two
  proc,
  limits,
  unsafe_grants,  // items: host_network, control_sockets
};

struct Unlimited {
  bool operator==(const Unlimited&) const = default;
};
using Scalar = std::variant<std::monostate, bool, std::uint64_t, Unlimited, std::string>;

// One element of a list.
struct Item {
  std::string text{};    // as written, without a trailing "?"
  std::string value{};   // env_set: the value
  Path path{};           // path lists: absolute, "~" and "$VAR" put in; may hold wildcards
  bool pattern = false;  // `path` has wildcards
  std::optional<Destination> destination{};  // lists of hosts; `text` is its spelling
  std::optional<PublishedPort> published{};  // network_publish, as is `port` of network_host_ports
  std::optional<std::uint16_t> port{};
  std::optional<Missing> if_missing{};  // skip when written with "?"; else each kind's own default
  Origin origin{};
  bool operator==(const Item&) const = default;
};

struct Setting {
  Scalar value{};             // of a scalar key
  std::vector<Item> items{};  // of a list key
  Origin origin{};            // of the value; of a list, of the key (the list may be empty)
  bool operator==(const Setting&) const = default;
};

using Settings = std::map<Key, Setting>;
// Nothing, and no items, for a key that is not set.
const Setting* find(const Settings& settings, Key key);
const std::vector<Item>& items_of(const Settings& settings, Key key);
bool has_item(const Settings& settings, Key key, std::string_view text);
// The word, text or path of a scalar key; empty when it is not set.
std::string_view word_of(const Settings& settings, Key key);

// --- The table of keys: one row each, read by the loader, the schema, `show` and the completions ---

enum class KeyType : std::uint8_t {
  word,  // one of `words`
  text,
  hostname,
  home,     // ephemeral, workspace or a name
  seconds,  // whole, with a sign
  path,
  size,  // "2g" or bytes; with `unlimited` also that word
  count,
  cpus,
  duration,
  boolean,
  paths,
  names,
  hosts,
  ports,  // numbers or strings
  map,
};

// What holds when a key is not set, as text ("none", "4096"); of a boolean the value too.
struct Initial {
  // Implicit: the table of keys has one or the other. NOLINTBEGIN(google-explicit-constructor)
  constexpr Initial(const char* shown) : text(shown) {}
  constexpr Initial(bool value) : text(value ? "true" : "false"), on(value) {}
  // NOLINTEND(google-explicit-constructor)
  std::string_view text;
  bool on = false;
};

struct KeyInfo {
  Key key;
  std::string_view name;  // as in `coop policy show`: "memory", "network.allow", "env.pass"
  KeyType type;
  // Of KeyType::word and names: space-separated; "" is anything. Those of a KeyType::word but `backend` are ordered
  // from the narrowest to the widest.
  std::string_view words;
  bool unlimited;          // may be "unlimited"
  std::string_view check;  // whose finding a bad value is: "sandbox_memory"
  Initial initial;
  std::string_view help;
  std::uint64_t least = 0;  // of a number: nothing can run with less

  // The table inside [sandbox] that the key is written in: "network" of "network.allow"; else empty.
  constexpr std::string_view table() const {
    return name.substr(0, name.contains('.') ? name.find('.') : 0);
  }
  constexpr std::string_view name_in_table() const { return name.substr(name.find('.') + 1); }
};

// One row for each type.
struct TypeInfo {
  KeyType type;
  bool list;
  std::string_view expected;  // in messages; of KeyType::word the key's own words instead
  std::string_view example;   // as TOML writes it
  std::string_view manual;    // in the man page, if other than `expected`
};

std::span<const KeyInfo> keys();
const KeyInfo& info(Key key);
const TypeInfo& info(KeyType type);
// Keys that bound other layers and give nothing by themselves.
constexpr bool is_of_organisation(Key key) {
  return key == Key::workspaces || key == Key::env_names;
}
inline bool is_list(Key key) { return info(info(key).type).list; }
// What a host without a port means in a list of hosts.
constexpr Portless portless(Key key) {
  return key == Key::network_deny ? Portless::every : Portless::usual;
}
// landlock, proc, limits: written in the lists `require` and `best_effort`.
bool is_mechanism(Key key);
std::vector<std::string_view> mechanism_names();

// --- Reading ---------------------------------------------------------------------------------

// How `~`, `$VAR` and relative paths are expanded in a file.
struct Surroundings {
  Path home{};
  std::map<std::string, std::string> environment{};
  Path base{};  // relative paths start here; empty: they are refused
};

enum class Shape : std::uint8_t {
  policy_file,  // the whole schema but `workspace`, `enabled` and `allow_network`
  config,       // coop.toml's [sandbox]: the whole schema and the seeds' spellings
  override,  // sandbox = {…} of a user or cron job: image, network, allow_network, memory, cpus, pids
};

struct Source {
  std::string file{};
  Scope scope = Scope::user;
  Shape shape = Shape::policy_file;
  Surroundings surroundings{};
};

// Reads one [sandbox] table. Invalid values become findings and are left out. Unknown keys are
// errors that name the nearest known one. In coop.toml `enabled = true|false` is mode,
// `allow_network = true` is network "full" (false: "none"), `network = "bridge"` is "full", `pids`
// is pids_limit and `image` is base_image; contradictory spellings are an error.
Settings read_settings(const Table& table, const Source& source, Findings& findings);

// A whole policy file: a document with [sandbox] and nothing else.
Settings read_policy(std::string_view text, const Source& source, Findings& findings);

// The value as TOML writes it: `"2g"`, `512`, `true`, `["a", "b"]`; env_set as `{ A = "1" }`.
std::string value_text(Key key, const Setting& setting);
// One item of a list: `"a"`; of env_set: `A = "1"`.
std::string item_text(Key key, const Item& item);

// A list as a file writes it. A group of hosts is written as such where all of its hosts are there; where a merge has left
// some out, the others are written one by one. So it reads back as the same hosts.
struct Written {
  std::string text{};  // `"@github"`, or that of its only item, as above
  std::span<const Item> items{};
};
std::vector<Written> as_written(Key key, std::span<const Item> items);

// For listings and logs: the values of variables that hold secrets are replaced.
Setting without_secrets(Key key, Setting setting);

// A whole policy file that reads back as the same settings.
std::string to_toml(const Settings& settings);

// The JSON Schema of policy files and of coop.toml.
std::string policy_schema();

}  // namespace coop::policy
