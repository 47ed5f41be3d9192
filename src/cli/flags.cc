#include "cli/flags.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/wildcard.h"
#include "policy/destinations/port_rule.h"
#include "policy/policy.h"
#include "policy/settings/read_items.h"
#include "policy/settings/read_values.h"

namespace coop::cli {

namespace {

using policy::Item;
using policy::Key;
using Value = std::string_view;

constexpr std::string_view kFiles = "Files";
constexpr std::string_view kIdentity = "Identity and environment";
constexpr std::string_view kNetwork = "Network";
constexpr std::string_view kLimits = "Limits";
constexpr std::string_view kStrictness = "Strictness";
constexpr std::string_view kPeople = "People and agents (coop.toml)";
constexpr std::string_view kOutput = "Terminal and output";

constexpr std::string_view kNarrows = "it only narrows";
constexpr std::string_view kWho = "who acts; the other keys bound what each may do";
constexpr std::string_view kShown = "it is about output only";

Result<void> add_rule(Options& options, RuleKind kind, Value flag, Value value) {
  Missing if_missing = Missing::fail;
  if (value.ends_with('?')) {
    value.remove_suffix(1);
    if_missing = Missing::skip;
  }
  if (value.empty()) return invalid(flag, "the path is empty");
  options.wanted.unkeyed.rules.push_back(PathRule{.kind = kind,
                                                  .path = Path(value),
                                                  .if_missing = if_missing,
                                                  .origin = Origin::of_flag(flag),
                                                  .reason = "asked for on the command line"});
  return {};
}

template <RuleKind kind>
Result<void> rule(Options& options, Value flag, Value value) {
  return add_rule(options, kind, flag, value);
}

// Prefixes the error of a value with its flag.
template <typename T>
Result<T> of_flag(Value flag, Result<T> result) {
  if (!result) result.error().operation = flag;
  return result;
}

Result<std::uint64_t> parse_milliseconds(Value value) {
  const std::chrono::milliseconds time = TRY(parse_duration(value));
  return static_cast<std::uint64_t>(time.count());
}

Result<policy::Scalar> parse_number(const policy::KeyInfo& key, Value flag,
                                    Result<std::uint64_t> parsed) {
  const std::uint64_t number = TRY(of_flag(flag, std::move(parsed)));
  TRY(of_flag(flag, policy::check_range(key, number)));
  return number;
}

Result<policy::Scalar> parse_scalar(const policy::KeyInfo& key, Value flag, Value value) {
  using policy::KeyType;
  if (key.unlimited && value == "unlimited") return policy::Unlimited{};
  if (key.type == KeyType::size) return parse_number(key, flag, parse_size(value));
  if (key.type == KeyType::count) return parse_number(key, flag, parse_count(value));
  if (key.type == KeyType::cpus) return parse_number(key, flag, parse_milli(value));
  if (key.type == KeyType::duration) return parse_number(key, flag, parse_milliseconds(value));
  const std::vector<std::string_view> words = policy::split_words(key.words);
  if (contains(words, value)) return std::string(value);
  return invalid(flag, "\"" + printable(value) + "\" is not a " + std::string(key.name),
                 joined(words, " or "));
}

// A setting of policy files, of which the last flag counts.
void set_value(Options& options, Key key, Value flag, policy::Scalar value) {
  options.wanted.flags[key] = {.value = std::move(value), .origin = Origin::of_flag(flag)};
}

// One more item of a list of settings.
void add_item(Options& options, Key key, Value flag, Item item) {
  policy::Setting& setting = options.wanted.flags[key];
  setting.origin = Origin::of_flag(flag);
  setting.items.push_back(policy::written_at(std::move(item), setting.origin));
}

template <Key key>
Result<void> setting(Options& options, Value flag, Value value) {
  policy::Scalar parsed = TRY(parse_scalar(policy::info(key), flag, value));
  set_value(options, key, flag, std::move(parsed));
  return {};
}

template <Key key, bool on>
Result<void> boolean(Options& options, Value flag, Value) {
  set_value(options, key, flag, on);
  return {};
}

Result<void> choose_network(Options& options, Value flag, Value value) {
  // "bridge" is the word of older gateways.
  const NetworkMode mode = TRY(of_flag(flag, parse_network(value == "bridge" ? "full" : value)));
  set_value(options, Key::network, flag, std::string(to_text(mode)));
  return {};
}

template <Key key>
Result<void> name(Options& options, Value flag, Value value) {
  add_item(options, key, flag, {.text = std::string(value)});
  return {};
}

// A host or port, as in a policy file.
template <Key key>
Result<void> destination(Options& options, Value flag, Value value) {
  std::vector<Item> items =
      TRY(of_flag(flag, policy::read_item(policy::info(key), std::string(value))));
  for (Item& item : items) {
    if (item.published &&
        contains(items_of(options.wanted.flags, key), item.published, &Item::published))
      return invalid(flag,
                     policy::host_side(*item.published) + " is published twice (" +
                         std::string(flag) + ": " + item.text + ")",
                     "choose another port of the host for one of them");
    add_item(options, key, flag, std::move(item));
  }
  return {};
}

Result<void> add_socket(Options& options, Value flag, Value value) {
  if (value.empty()) return invalid(flag, "the path is empty");
  return name<Key::sockets>(options, flag, value);
}

Result<void> confirm_grant(Options& options, Value flag, Value word) {
  if (word != "host_network" && word != "control_sockets")
    return invalid(flag, "\"" + printable(word) + "\" is not a dangerous grant",
                   "host_network or control_sockets");
  return name<Key::unsafe_grants>(options, flag, word);
}

Result<void> set_environment(Options& options, Value flag, Value value) {
  const std::size_t equals = value.find('=');
  if (equals == Value::npos || equals == 0)
    return invalid(flag, "\"" + printable(value) + "\" is not NAME=VALUE",
                   "to pass a variable of your own environment on, use --pass-env NAME");
  add_item(options, Key::env_set, flag,
           {.text = std::string(value.substr(0, equals)),
            .value = std::string(value.substr(equals + 1))});
  return {};
}

Result<void> pass_environment(Options& options, Value flag, Value value) {
  if (value.empty() || value.find('=') != Value::npos)
    return invalid(flag, "\"" + printable(value) + "\" is not a variable's name");
  if (has_wildcard(value)) TRY(of_flag(flag, check_wildcard(value)));
  return name<Key::env_pass>(options, flag, value);
}

Result<void> set_hostname(Options& options, Value flag, Value value) {
  if (!policy::is_hostname(value))
    return invalid(flag, "\"" + printable(value) + "\" is not a host name",
                   "letters, digits, '-' and '.', at most 63");
  set_value(options, Key::hostname, flag, std::string(value));
  return {};
}

// Words of the design that later versions will give a meaning.
Result<void> not_yet(Options&, Value flag, Value) {
  return unsupported(flag, "not in this version");
}

Result<void> choose_mode(Options&, Value flag, Value value) {
  if (value == "static") return {};
  if (value == "dynamic")
    return unsupported(flag, "dynamic: not in this version",
                       "static is what coop does: paths are granted before the start");
  return invalid(flag, "\"" + printable(value) + "\" is not a mode", "static or dynamic");
}

template <Need need>
Result<void> set_need(Options& options, Value flag, Value value) {
  TRY(of_flag(flag, parse_mechanism(value)));
  const Key key = std::ranges::find(policy::keys(), value, &policy::KeyInfo::name)->key;
  set_value(options, key, flag, need == Need::required ? "required" : "best_effort");
  return {};
}

template <std::string Role::* field>
Result<void> role(Options& options, Value flag, Value value) {
  if (value.empty()) return invalid(flag, "the name is empty");
  options.wanted.role.*field = value;
  return {};
}

template <typename T>
T& field_of(Options& options, T Options::* field) {
  return options.*field;
}
template <typename T>
T& field_of(Options& options, T Role::* field) {
  return options.wanted.role.*field;
}

template <auto field, auto value>
Result<void> choose(Options& options, Value, Value) {
  field_of(options, field) = value;
  return {};
}

Result<void> choose_log_format(Options& options, Value flag, Value value) {
  if (value == "text") options.log_format = LogFormat::text;
  else if (value == "json") options.log_format = LogFormat::json;
  else return invalid(flag, "\"" + printable(value) + "\" is not a format", "text or json");
  return {};
}

constexpr std::array kFlags{
    Flag{"--workspace", "-w", "DIR", kFiles, "directory to work in (default: the current one)",
         [](Options& o, Value flag, Value v) -> Result<void> {
           if (v.empty()) return invalid(flag, "the path is empty");
           o.wanted.workspace = v;
           return {};
         },
         kPathValue}
        .bounded_by("workspaces"),
    Flag{"--view", "", "minimal|host", kFiles,
         "minimal: system programs and the workspace at /work; host: the machine in its usual "
         "places, read-only, without its secrets and with a home of its own",
         setting<Key::view>, one_of("minimal host")}
        .bounded_by("view"),
    Flag{"--home", "", "NAME", kFiles,
         "what HOME is inside: ephemeral (empty and thrown away; default), workspace, or the NAME "
         "of a private directory that coop keeps (see `coop home`)",
         [](Options& o, Value flag, Value v) -> Result<void> {
           TRY(of_flag(flag, policy::check_home_name(std::string(v))));
           set_value(o, Key::home, flag, std::string(v));
           return {};
         },
         Values{ValueKind::home, "ephemeral workspace"}}
        .bounded_by("home"),
    Flag{"--preset", "", "NAME", kFiles,
         "with what this agent needs (default: of the agent that COMMAND is; see `coop presets`)",
         [](Options& o, Value flag, Value v) -> Result<void> {
           if (v.empty()) return invalid(flag, "the name is empty");
           o.wanted.preset = {.how = request::PresetChoice::How::by_name, .name = std::string(v)};
           o.chose_preset = true;
           return {};
         },
         kPresetValue}
        .without_key("each of its settings is bounded by that setting's key"),
    Flag{"--import-login", "", "", kFiles,
         "copy the agent's login from your home into its private one, where its preset says that "
         "a copy works",
         choose<&Options::import_login, true>}
        .without_key("it copies what the preset lists, into a home that only the sandbox uses"),
    Flag{"--no-preset", "", "", kFiles, "without the preset of the agent that COMMAND is",
         [](Options& o, Value, Value) -> Result<void> {
           o.wanted.preset = {};
           o.chose_preset = true;
           return {};
         }}
        .without_key(kNarrows),
    Flag{"--show-home", "", "", kFiles,
         "host view: show the whole home but its secrets, not only the toolchains in it",
         boolean<Key::show_home, true>}
        .bounded_by("show_home"),
    Flag{"--hide-secrets", "", "", kFiles,
         "hide .env, private keys and the like in the workspace (default for trust below full)",
         boolean<Key::hide_secrets, true>}
        .without_key(kNarrows),
    Flag{"--rw", "", "PATH", kFiles, "show PATH writable (PATH? if it may be missing)",
         rule<RuleKind::read_write>, kPathValue}
        .bounded_by("writable_paths"),
    Flag{"--ro", "", "PATH", kFiles, "show PATH read-only", rule<RuleKind::read_only>, kPathValue}
        .bounded_by("readable_paths"),
    Flag{"--hide", "--blacklist", "PATH", kFiles, "hide PATH under every name it has",
         rule<RuleKind::hide>, kPathValue}
        .without_key(kNarrows),
    Flag{"--overlay", "", "PATH", kFiles, "make PATH writable in a private layer that vanishes",
         rule<RuleKind::overlay>, kPathValue}
        .bounded_by("overlay_paths readable_paths"),
    Flag{"--tmpfs", "", "PATH", kFiles, "put an empty writable directory at PATH",
         rule<RuleKind::tmpfs>, kPathValue}
        .bounded_by("tmpfs_paths"),
    Flag{"--cache", "", "NAME", kFiles,
         "show a toolchain's caches, copy-on-write: cargo, go, npm, pip, …",
         name<Key::cache_volumes>, kCacheValue}
        .bounded_by("cache_volumes"),
    Flag{"--share-cache", "", "NAME", kFiles,
         "the same, but what the toolchain checks again is the host's own: cargo, npm, poetry",
         name<Key::share_caches>, kCacheValue}
        .bounded_by("share_caches"),
    Flag{"--allow-guarded", "", "NAME", kFiles,
         "let the command change NAME (a name in policies/guards.txt, like .git/config)",
         name<Key::allow_guarded>, kGuardValue}
        .bounded_by("allow_guarded"),
    Flag{"--chdir", "-C", "DIR", kFiles, "start in DIR, a path inside the sandbox",
         [](Options& o, Value flag, Value v) -> Result<void> {
           if (!v.starts_with('/'))
             return invalid(flag, "\"" + printable(v) + "\" is not absolute",
                            "name a path inside the sandbox, like /work/src");
           o.wanted.unkeyed.directory = normalize(v);
           return {};
         }}
        .without_key("a path inside; it gives no rights"),
    Flag{"--as-self", "", "", kIdentity, "keep your user id inside (default)",
         boolean<Key::as_root, false>}
        .without_key(kNarrows),
    Flag{"--as-root", "", "", kIdentity, "be uid 0 inside; it gives no rights outside",
         boolean<Key::as_root, true>}
        .bounded_by("as_root"),
    Flag{"--env", "-e", "NAME=VALUE", kIdentity, "set a variable", set_environment}.bounded_by(
        "env.set env.names"),
    Flag{"--pass-env", "", "NAME", kIdentity,
         "pass a variable of yours on, or all that match, like 'CI_*'; most are not",
         pass_environment}
        .bounded_by("env.pass env.names"),
    Flag{"--unsafe-env", "", "NAME", kIdentity,
         "allow --env or --pass-env of a variable that injects code, like LD_PRELOAD",
         name<Key::env_unsafe>}
        .bounded_by("env.unsafe"),
    Flag{"--hostname", "", "NAME", kIdentity, "hostname inside (default: coop-<id>)", set_hostname}
        .bounded_by("hostname"),
    Flag{"--time-offset", "", "SECONDS", kIdentity, "shift the monotonic and boot clocks",
         [](Options& o, Value flag, Value v) -> Result<void> {
           const std::int64_t seconds = TRY(of_flag(flag, parse_signed(v)));
           if (seconds < -policy::kMostOffset || seconds > policy::kMostOffset)
             return invalid(flag, "\"" + printable(v) + "\" is more than the kernel allows",
                            "at most " + std::to_string(policy::kMostOffset) + " seconds");
           set_value(o, Key::time_offset, flag, std::to_string(seconds));
           return {};
         }}
        .bounded_by("time_offset"),
    Flag{"--debug", "", "", kIdentity, "let processes inside trace each other (default)",
         boolean<Key::debug, true>}
        .bounded_by("debug"),
    Flag{"--no-debug", "", "", kIdentity, "deny ptrace and process_vm_* inside",
         boolean<Key::debug, false>}
        .without_key(kNarrows),
    Flag{"--network", "", "none|allowlist|full|veth|host", kNetwork,
         "none: loopback only (default); allowlist: what --allow-net names; full: the internet, "
         "and of private networks what --allow-net names; veth: the same through a veth pair "
         "(needs root); "
         "host: the host's own, which needs --unsafe host_network",
         choose_network, one_of("none allowlist full veth host")}
        .bounded_by("network"),
    Flag{"--allow-network", "", "", kNetwork, "the same as --network full",
         [](Options& o, Value flag, Value) -> Result<void> {
           set_value(o, Key::network, flag, std::string(to_text(NetworkMode::full)));
           return {};
         }}
        .bounded_by("network"),
    Flag{"--allow-net", "", "HOST[:PORT]", kNetwork,
         "let HOST be reached: a name, *.example.com, an address, 10.0.0.0/8, or a group of hosts "
         "like @github (`coop policy hosts`; default ports: 80, 443)",
         destination<Key::network_allow>, kHostValue}
        .bounded_by("network.allow"),
    Flag{"--deny-net", "", "HOST[:PORT]", kNetwork, "deny HOST, whatever allows it",
         destination<Key::network_deny>, kHostValue}
        .without_key(kNarrows),
    Flag{"--allow-udp", "", "CIDR:PORT", kNetwork,
         "let UDP be sent to a port of an address or network, like 10.0.0.0/8:5000 or "
         "[fd00::/8]:5000",
         destination<Key::network_udp>}
        .bounded_by("network.udp"),
    Flag{
        "--publish", "", "[ADDR:]HOST:SANDBOX", kNetwork,
        "forward port HOST of this machine to port SANDBOX inside (ADDR: 127.0.0.1); PORT for both",
        destination<Key::network_publish>}
        .bounded_by("network.publish"),
    Flag{"--host-port", "", "PORT", kNetwork,
         "forward localhost:PORT inside to this machine's localhost:PORT",
         destination<Key::network_host_ports>}
        .bounded_by("network.host_ports"),
    Flag{"--mptcp", "", "", kNetwork, "let programs inside use Multipath TCP",
         boolean<Key::network_mptcp, true>}
        .bounded_by("network.mptcp"),
    Flag{"--socket", "", "PATH", kNetwork,
         "let the Unix socket PATH be connected to; docker.sock and others like it need --unsafe "
         "control_sockets",
         add_socket, kPathValue}
        .bounded_by("sockets"),
    Flag{"--unsafe", "", "WORD", kNetwork,
         "confirm a dangerous grant by its name: host_network, control_sockets", confirm_grant,
         one_of("host_network control_sockets")}
        .bounded_by("unsafe"),
    Flag{"--memory", "-m", "SIZE", kLimits,
         "memory of the whole sandbox: 512m, 2g, unlimited (default)", setting<Key::memory>}
        .bounded_by("memory"),
    Flag{"--pids", "", "N", kLimits, "processes and threads (default: 4096), or unlimited",
         setting<Key::pids_limit>}
        .bounded_by("pids_limit"),
    Flag{"--cpus", "", "N", kLimits, "CPU time, in processors: 2, 0.5", setting<Key::cpus>}
        .bounded_by("cpus"),
    Flag{"--tmp-size", "", "SIZE", kLimits,
         "size of /tmp and other private file systems (default: 512m)", setting<Key::tmp_size>}
        .bounded_by("tmp_size"),
    Flag{"--open-files", "--files", "N", kLimits, "open descriptors of each process (default: 640)",
         setting<Key::open_files>}
        .bounded_by("open_files"),
    Flag{"--file-size", "", "SIZE", kLimits, "size of any one file written",
         setting<Key::file_size>}
        .bounded_by("file_size"),
    Flag{"--timeout", "-t", "DURATION", kLimits, "kill everything after: 30s, 5m (exit code 124)",
         setting<Key::timeout>}
        .bounded_by("timeout"),
    Flag{"--output-limit", "", "SIZE", kLimits,
         "with --json: bytes kept of each stream (default: 1m)", setting<Key::output_limit>}
        .bounded_by("output_limit"),
    Flag{"--require", "", "MECHANISM", kStrictness, "fail without it: landlock, proc, limits",
         set_need<Need::required>, one_of("landlock proc limits")}
        .without_key(kNarrows),
    Flag{"--best-effort", "", "MECHANISM", kStrictness, "go on without it, and say so",
         set_need<Need::best_effort>, one_of("landlock proc limits")}
        .bounded_by("landlock proc limits"),
    Flag{"--mode", "", "static|dynamic", kStrictness,
         "static (default): paths are granted before the start; dynamic is not in this version",
         choose_mode, one_of("static dynamic")}
        .without_key("static is the only one"),
    Flag{"--static", "", "", kStrictness, "the same as --mode static",
         [](Options&, Value, Value) -> Result<void> { return {}; }}
        .without_key("static is the only one"),
    Flag{"--containers", "", "", kStrictness, "not in this version", not_yet}.without_key(
        "not in this version"),
    Flag{"--vm", "", "", kStrictness, "not in this version", not_yet}.without_key(
        "not in this version"),
    Flag{"--allow-kvm", "", "", kStrictness, "not in this version", not_yet}.without_key(
        "not in this version"),
    Flag{"--config", "", "FILE", kPeople,
         "take the settings of this coop.toml (default with the flags below: the one of your "
         "configuration directory)",
         role<&Role::config>, kPathValue}
        .without_key(kWho),
    Flag{"--as", "", "USER", kPeople, "run as this user of coop.toml: trust and overrides apply",
         role<&Role::user>}
        .without_key(kWho),
    Flag{"--channel", "", "SENDER", kPeople,
         "run for a sender, like signal:+15555550100: the user who matches, or public",
         role<&Role::sender>}
        .without_key(kWho),
    Flag{"--group", "", "", kPeople, "in a group conversation: trust is at most familiar",
         choose<&Role::conversation, Conversation::group>}
        .without_key(kWho),
    Flag{"--agent", "", "ID", kPeople, "with the settings and workspace of this agent",
         role<&Role::agent>}
        .without_key(kWho),
    Flag{"--cron", "", "NAME", kPeople,
         "with the user and overrides of this job; without a COMMAND its own", role<&Role::cron>}
        .without_key(kWho),
    Flag{"--verbose", "-v", "", kOutput, "log each step on standard error",
         choose<&Options::verbose, true>}
        .without_key(kShown),
    Flag{"--log-format", "", "text|json", kOutput,
         "with -v: json is one object a line (default: text at a terminal, else json)",
         choose_log_format, one_of("text json")}
        .without_key(kShown),
    Flag{"--quiet", "-q", "", kOutput, "at a terminal: no line about the sandbox before it starts",
         choose<&Options::quiet, true>}
        .without_key(kShown),
    Flag{"--tty", "", "", kOutput, "give the command a terminal of its own",
         choose<&Options::terminal, Terminal::always>}
        .without_key(kShown),
    Flag{"--no-tty", "", "", kOutput, "never; by default it gets one when you are at a terminal",
         choose<&Options::terminal, Terminal::never>}
        .without_key(kShown),
    Flag{
        "--terminal", "", "WORD", kOutput,
        "filtered (default): keep control sequences from your terminal that write the clipboard or "
        "make it type; raw: let everything through",
        setting<Key::terminal>, one_of("filtered raw")}
        .bounded_by("terminal"),
    Flag{"--json", "", "", kOutput, "print the result as JSON", choose<&Options::json, true>}
        .without_key(kShown),
    Flag{"--help", "-h", "", kOutput, "show this", choose<&Options::help, true>}.without_key(
        kShown),
};

// A command's own flag of the same name is not that of `coop run`.
bool is_run_flag(const Parsed& parsed, std::string_view name) {
  return !contains(parsed.command->flags, name, &Flag::name);
}

}  // namespace

std::span<const Flag> flags() { return kFlags; }

Result<Options> options_of(const Parsed& parsed) {
  Options options;
  for (const auto& [name, value] : parsed.given)
    if (const auto* flag = std::ranges::find(kFlags, name, &Flag::name);
        flag != kFlags.end() && is_run_flag(parsed, name))
      TRY(flag->apply(options, flag->name, value.value_or("")));
  options.command = parsed.arguments;
  TRY(check_flags(options));
  return options;
}

}  // namespace coop::cli
