#include <array>

#include "base/path.h"
#include "policy/settings/settings.h"

namespace coop::policy {

namespace {

constexpr std::string_view kNeeds = "required best_effort";

// In the order of Key: info() looks up by position.
constexpr std::array kKeys{
    KeyInfo{Key::mode, "mode", KeyType::word, "enabled disabled", false, "sandbox_settings",
            "enabled", "whether tools run in a sandbox at all"},
    KeyInfo{Key::owner_bypass, "owner_bypass", KeyType::boolean, "", false, "sandbox_settings",
            true, "whether the tools of an owner run on the host itself, without a sandbox"},
    KeyInfo{Key::view, "view", KeyType::word, "minimal host", false, "sandbox_settings", "minimal",
            "what is seen: the workspace and the system, or the host's files without secrets"},
    KeyInfo{Key::home, "home", KeyType::home, "", false, "sandbox_settings", "ephemeral",
            "what HOME is inside: ephemeral (empty, thrown away), workspace, or the name of a "
            "directory that coop keeps"},
    KeyInfo{
        Key::show_home, "show_home", KeyType::boolean, "", false, "sandbox_settings", false,
        "host view: show the whole home but its secrets, not only what policies/home.txt lists"},
    KeyInfo{Key::hide_secrets, "hide_secrets", KeyType::boolean, "", false, "sandbox_settings",
            false,
            "hide .env, private keys and the like in the workspace; true for trust below full"},
    KeyInfo{Key::workspace, "workspace", KeyType::path, "", false, "sandbox_paths", "",
            "the directory to work in; in coop.toml only"},
    KeyInfo{Key::workspaces, "workspaces", KeyType::paths, "", false, "sandbox_paths", "[]",
            "directories in which a workspace may be; in the organisation's policy only"},
    KeyInfo{Key::writable_paths, "writable_paths", KeyType::paths, "", false, "sandbox_paths", "[]",
            "paths that may be written"},
    KeyInfo{Key::readable_paths, "readable_paths", KeyType::paths, "", false, "sandbox_paths", "[]",
            "paths that may be read"},
    KeyInfo{Key::hidden_paths, "hidden_paths", KeyType::paths, "", false, "sandbox_paths", "[]",
            "hidden paths"},
    KeyInfo{Key::overlay_paths, "overlay_paths", KeyType::paths, "", false, "sandbox_paths", "[]",
            "paths whose changes are thrown away"},
    KeyInfo{Key::tmpfs_paths, "tmpfs_paths", KeyType::paths, "", false, "sandbox_paths", "[]",
            "paths with an empty writable directory"},
    KeyInfo{Key::protected_paths, "protected_paths", KeyType::paths, "", false, "sandbox_paths",
            "[]", "paths that stay read-only, also inside a writable tree"},
    KeyInfo{Key::allow_guarded, "allow_guarded", KeyType::names, "", false, "sandbox_paths", "[]",
            "guarded names that may be changed, like .git/config"},
    KeyInfo{Key::network, "network", KeyType::word, "none allowlist full veth host", false,
            "sandbox_network", "none", "what of the network can be reached"},
    KeyInfo{Key::network_allow, "network.allow", KeyType::hosts, "", false, "sandbox_network", "[]",
            "hosts that may be reached: HOST[:PORT], *.example.com, 10.0.0.0/8, @github"},
    KeyInfo{Key::network_deny, "network.deny", KeyType::hosts, "", false, "sandbox_network", "[]",
            "hosts that may not be reached, whatever allows them"},
    KeyInfo{Key::network_udp, "network.udp", KeyType::hosts, "", false, "sandbox_network", "[]",
            "where UDP may be sent to: ADDRESS:PORT, 10.0.0.0/8:5000, [fd00::/8]:5000"},
    KeyInfo{Key::network_publish, "network.publish", KeyType::ports, "", false, "sandbox_network",
            "[]",
            "ports of the host that lead into the sandbox: PORT, HOST:SANDBOX, "
            "127.0.0.1:8080:80"},
    KeyInfo{Key::network_host_ports, "network.host_ports", KeyType::ports, "", false,
            "sandbox_network", "[]", "ports of the host's localhost that can be reached inside"},
    KeyInfo{Key::network_mptcp, "network.mptcp", KeyType::boolean, "", false, "sandbox_network",
            false, "whether programs inside may use Multipath TCP"},
    KeyInfo{Key::sockets, "sockets", KeyType::paths, "", false, "sandbox_paths", "[]",
            "Unix sockets of the host that can be connected to inside"},
    KeyInfo{Key::memory, "memory", KeyType::size, "", true, "sandbox_memory", "unlimited",
            "memory of the whole sandbox", std::uint64_t{4} << 20},
    KeyInfo{Key::pids_limit, "pids_limit", KeyType::count, "", true, "sandbox_pids", "4096",
            "processes and threads at a time", 2},
    KeyInfo{Key::cpus, "cpus", KeyType::cpus, "", true, "sandbox_cpus", "unlimited",
            "CPU time, in processors", 10},
    KeyInfo{Key::tmp_size, "tmp_size", KeyType::size, "", false, "sandbox_limits", "512m",
            "size of /tmp and other private file systems", 4096},
    KeyInfo{Key::open_files, "open_files", KeyType::count, "", true, "sandbox_limits", "640",
            "open descriptors of each process", 8},
    KeyInfo{Key::file_size, "file_size", KeyType::size, "", true, "sandbox_limits", "unlimited",
            "size of any one file written", 1},
    KeyInfo{Key::timeout, "timeout", KeyType::duration, "", true, "sandbox_limits", "unlimited",
            "time after which everything is killed", 1},
    KeyInfo{Key::output_limit, "output_limit", KeyType::size, "", false, "sandbox_limits", "1m",
            "bytes kept of each output stream"},
    KeyInfo{Key::debug, "debug", KeyType::boolean, "", false, "sandbox_settings", true,
            "whether processes inside may trace each other"},
    KeyInfo{Key::as_root, "as_root", KeyType::boolean, "", false, "sandbox_settings", false,
            "whether the user is uid 0 inside; it gives no rights outside"},
    KeyInfo{Key::hostname, "hostname", KeyType::hostname, "", false, "sandbox_settings", "",
            "host name inside; empty: coop-<id>"},
    KeyInfo{Key::time_offset, "time_offset", KeyType::seconds, "", false, "sandbox_settings", "0",
            "seconds by which the monotonic and boot clocks are shifted"},
    KeyInfo{Key::terminal, "terminal", KeyType::word, "filtered raw", false, "sandbox_settings",
            "filtered", "whether control sequences that abuse a terminal are kept from it"},
    KeyInfo{Key::containers, "containers", KeyType::boolean, "", false, "sandbox_settings", false,
            "reserved: whether containers can be started inside"},
    KeyInfo{Key::vm, "vm", KeyType::boolean, "", false, "sandbox_settings", false,
            "reserved: whether virtual machines can be started inside"},
    KeyInfo{Key::env_pass, "env.pass", KeyType::names, "", false, "sandbox_environment", "[]",
            "variables passed on from the host"},
    KeyInfo{Key::env_set, "env.set", KeyType::map, "", false, "sandbox_environment", "{}",
            "variables set inside"},
    KeyInfo{Key::env_unsafe, "env.unsafe", KeyType::names, "", false, "sandbox_environment", "[]",
            "code-injecting variables that are allowed"},
    KeyInfo{Key::env_names, "env.names", KeyType::names, "", false, "sandbox_environment", "[]",
            "variables that may be set or passed on, like CI_*; in the organisation's policy only"},
    KeyInfo{Key::backend, "backend", KeyType::word,
            "auto kernel bwrap docker podman gvisor apple sandbox-exec kubernetes", false,
            "sandbox_backend", "auto",
            "what builds the sandbox; only auto and kernel work in this version"},
    KeyInfo{Key::base_image, "base_image", KeyType::text, "", false, "sandbox_image", "",
            "reserved: image of backends that start from one"},
    KeyInfo{Key::auto_commit, "auto_commit", KeyType::boolean, "", false, "sandbox_settings", false,
            "reserved: whether installed packages are kept in the image"},
    KeyInfo{Key::cache_volumes, "cache_volumes", KeyType::names, "", false, "sandbox_settings",
            "[]", "caches of toolchains that are shown, copy-on-write: what is written is private"},
    KeyInfo{Key::share_caches, "share_caches", KeyType::names, "", false, "sandbox_settings", "[]",
            "the same, but what the toolchain checks again is shared with the host"},
    KeyInfo{Key::landlock, "landlock", KeyType::word, kNeeds, false, "sandbox_settings",
            "best_effort", "Landlock as a second check on file access"},
    KeyInfo{Key::proc, "proc", KeyType::word, kNeeds, false, "sandbox_settings", "required",
            "a /proc of the sandbox's own"},
    KeyInfo{Key::limits, "limits", KeyType::word, kNeeds, false, "sandbox_settings", "best_effort",
            "limits on memory, processes and processors for the whole sandbox"},
    KeyInfo{Key::unsafe_grants, "unsafe", KeyType::names, "host_network control_sockets", false,
            "sandbox_settings", "[]", "dangerous grants, confirmed by their names"},
};

// In the order of KeyType.
constexpr std::array kTypes{
    TypeInfo{KeyType::word, false, "", "", ""},
    TypeInfo{KeyType::text, false, R"(an image like "ubuntu:24.04")", R"("ubuntu:24.04")",
             "a text"},
    TypeInfo{KeyType::hostname, false, R"(a host name like "build")", R"("build")", "a text"},
    TypeInfo{KeyType::home, false, R"("ephemeral", "workspace" or a name)", R"("ephemeral")",
             "ephemeral, workspace or a name"},
    TypeInfo{KeyType::seconds, false, "a whole number of seconds", "-3600", "seconds"},
    TypeInfo{KeyType::path, false, "a path", R"("~/work")", ""},
    TypeInfo{KeyType::size, false, R"(a size like "2g")", R"("2g")", "a size"},
    TypeInfo{KeyType::count, false, R"(a whole number or "unlimited")", "512", "a number"},
    TypeInfo{KeyType::cpus, false, "a number of processors like 2 or 1.5", "1.5",
             "a number, also 0.5"},
    TypeInfo{KeyType::duration, false, R"(a duration like "10m")", R"("10m")", "a duration"},
    TypeInfo{KeyType::boolean, false, "true or false", "true", ""},
    TypeInfo{KeyType::paths, true, "a list of paths", "", ""},
    TypeInfo{KeyType::names, true, "a list of names", "", ""},
    TypeInfo{KeyType::hosts, true, "a list of hosts", "", ""},
    TypeInfo{KeyType::ports, true, "a list of ports", "", ""},
    TypeInfo{KeyType::map, true, R"(a table like { NAME = "value" })", R"({ NAME = "value" })",
             "a table of texts"},
};

template <auto member>
constexpr bool in_order(const auto& rows, auto last) {
  for (std::size_t index = 0; index < rows.size(); ++index)
    if (static_cast<std::size_t>(rows[index].*member) != index) return false;
  return rows.size() == static_cast<std::size_t>(last) + 1;
}
static_assert(in_order<&KeyInfo::key>(kKeys, Key::unsafe_grants));
static_assert(in_order<&TypeInfo::type>(kTypes, KeyType::map));

}  // namespace

std::span<const KeyInfo> keys() { return kKeys; }

const KeyInfo& info(Key key) { return kKeys.at(static_cast<std::size_t>(key)); }

const TypeInfo& info(KeyType type) { return kTypes.at(static_cast<std::size_t>(type)); }

bool is_mechanism(Key key) { return info(key).words == kNeeds; }

std::vector<std::string_view> mechanism_names() {
  std::vector<std::string_view> names;
  for (const KeyInfo& key : kKeys)
    if (is_mechanism(key.key)) names.push_back(key.name);
  return names;
}

}  // namespace coop::policy
