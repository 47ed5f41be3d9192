// Where a rule or a value comes from. A type: code decides by its fields, and report/ turns it into
// text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace coop {

// In the order of merging: later scopes may narrow, and widen where permitted.
enum class Scope : std::uint8_t {
  built_in,      // coop's own defaults
  preset,        // what a known agent needs, see policies/agents/; `file` is its name
  organisation,  // /etc/coop/policy.toml: a ceiling for everyone below
  user,          // ~/.config/coop/policy.toml
  project,       // .coop/policy.toml in the workspace
  config,        // [sandbox] and [agents.sandbox] of coop.toml
  override,      // a user's or cron job's `sandbox = {…}` in coop.toml
  program,       // the policy that a program passes to libcoop
  command_line,
};

// Both from 1; 0 when unknown.
struct Position {
  int line = 0;
  int column = 0;
  auto operator<=>(const Position&) const = default;
};

// Which of coop's lists, or which part of a plan, something belongs to.
enum class Part : std::uint8_t {
  none,
  cache,           // of policies/caches.txt; `name` is its name
  secrets,         // policies/secrets.txt and policies/workspace_secrets.txt
  home,            // policies/home.txt, and the homes themselves
  own_files,       // coop's own state and policies, hidden with the secrets
  policy_files,    // the files that this sandbox was made from
  identity_files,  // what an agent reads about itself
  sockets,         // where servers of the host listen
  guard,           // of policies/guards.txt; `name` is its name
  host_group,      // of policies/hosts.txt; `name` is the group as it was written, "@github:22"
  workspace,
  view,  // `name` is the view's
  devices,
  namespaces,
  mount_point,
  running_as_root,
  // Walls that refuse without a rule of the policy.
  unlisted,            // no rule allows it
  network_mode,        // `name` is the mode
  address_guard,       // private, metadata and this machine's own addresses
  tls_guard,           // the TLS ClientHello must name the host
  proxy_guard,         // what is no request that a proxy understands
  loopback_guard,      // the loopback interface inside is not reached through a proxy
  url_guard,           // forms of URLs that fetch_url refuses
  path_form,           // forms of paths that file tools refuse
  workspace_links,     // links that lead out of the workspace
  injected_variables,  // environment variables that inject code
  leak_guard,
  trust,
  system_calls,  // of a foreign architecture
};

// The default means a rule made by a program: it is checked against every bound.
struct Origin {
  Scope scope = Scope::program;
  std::string file{};
  Position at{};
  std::string flag{};  // "--rw"
  std::string
      name{};  // of the cache, guard, view or group; else the value that was given to the flag
  Part part = Part::none;

  static Origin of_flag(std::string_view flag, std::string_view name = {}, Part part = Part::none) {
    return {.scope = Scope::command_line,
            .flag = std::string(flag),
            .name = std::string(name),
            .part = part};
  }
  static Origin of_coop(Part part = Part::none, std::string_view name = {}) {
    return {.scope = Scope::built_in, .name = std::string(name), .part = part};
  }
  bool operator==(const Origin&) const = default;
};

}  // namespace coop
