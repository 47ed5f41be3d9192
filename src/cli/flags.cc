#include "cli/flags.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"
#include "policy/destinations/port_rule.h"
#include "policy/policy.h"
#include "policy/settings/read_items.h"

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

Result<std::uint64_t> positive(Value flag, Result<std::uint64_t> parsed) {
  const std::uint64_t number = TRY(of_flag(flag, std::move(parsed)));
  if (number == 0) return invalid(flag, "must be more than 0");
  return number;
}

Result<policy::Scalar> parse_scalar(const policy::KeyInfo& key, Value flag, Value value) {
  using policy::KeyType;
  if (key.unlimited && value == "unlimited") return policy::Unlimited{};
  if (key.key == Key::output_limit) return TRY(of_flag(flag, parse_size(value)));
  if (key.type == KeyType::size) return TRY(positive(flag, parse_size(value)));
  if (key.type == KeyType::count) return TRY(positive(flag, parse_count(value)));
  if (key.type == KeyType::cpus) return TRY(of_flag(flag, parse_milli(value)));
  if (key.type == KeyType::duration) {
    const std::chrono::milliseconds time = TRY(of_flag(flag, parse_duration(value)));
    return static_cast<std::uint64_t>(time.count());
  }
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
  item.origin = Origin::of_flag(flag);
  policy::Setting& setting = options.wanted.flags[key];
  setting.origin = item.origin;
  setting.items.push_back(std::move(item));
}

template <Key key>
Result<void> setting(Options& options, Value flag, Value value) {
  policy::Scalar parsed = TRY(parse_scalar(policy::info(key), flag, value));
  set_value(options, key, flag, std::move(parsed));
  return {};
}

template <bool allowed>
Result<void> debug(Options& options, Value flag, Value) {
  set_value(options, Key::debug, flag, allowed);
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
  Item item = TRY(of_flag(flag, policy::read_item(policy::info(key), std::string(value))));
  if (item.published &&
      contains(items_of(options.wanted.flags, key), item.published, &Item::published))
    return invalid(flag,
                   policy::host_side(*item.published) + " is published twice (" +
                       std::string(flag) + ": " + item.text + ")",
                   "choose another port of the host for one of them");
  add_item(options, key, flag, std::move(item));
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
  return name<Key::env_pass>(options, flag, value);
}

Result<void> set_hostname(Options& options, Value flag, Value value) {
  const bool good =
      !value.empty() && value.size() <= 63 && std::ranges::all_of(value, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.';
      });
  if (!good)
    return invalid(flag, "\"" + printable(value) + "\" is not a host name",
                   "letters, digits, '-' and '.', at most 63");
  options.wanted.unkeyed.hostname = value;
  return {};
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

template <std::optional<std::uint64_t> Limits::* field, Result<std::uint64_t> (*parse)(Value)>
Result<void> limit(Options& options, Value flag, Value value) {
  options.wanted.unkeyed.limits.*field = TRY(positive(flag, parse(value)));
  return {};
}

template <typename T>
T& field_of(Options& options, T Options::* field) {
  return options.*field;
}
template <typename T>
T& field_of(Options& options, T Policy::* field) {
  return options.wanted.unkeyed.*field;
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
         kPathValue},
    Flag{"--view", "", "minimal|host", kFiles,
         "minimal: system programs and the workspace at /work; host: the machine in its usual "
         "places, read-only, without its secrets",
         setting<Key::view>, one_of("minimal host")},
    Flag{"--rw", "", "PATH", kFiles, "show PATH writable (PATH? if it may be missing)",
         rule<RuleKind::read_write>, kPathValue},
    Flag{"--ro", "", "PATH", kFiles, "show PATH read-only", rule<RuleKind::read_only>, kPathValue},
    Flag{"--hide", "--blacklist", "PATH", kFiles, "hide PATH under every name it has",
         rule<RuleKind::hide>, kPathValue},
    Flag{"--overlay", "", "PATH", kFiles, "make PATH writable in a private layer that vanishes",
         rule<RuleKind::overlay>, kPathValue},
    Flag{"--tmpfs", "", "PATH", kFiles, "put an empty writable directory at PATH",
         rule<RuleKind::tmpfs>, kPathValue},
    Flag{"--cache", "", "NAME", kFiles,
         "make a toolchain's caches writable: cargo, go, npm, pip, …", name<Key::cache_volumes>,
         kCacheValue},
    Flag{"--allow-guarded", "", "NAME", kFiles,
         "let the command change NAME (a name in policies/guards.txt, like .git/config)",
         [](Options& o, Value, Value v) -> Result<void> {
           o.wanted.unkeyed.allow_guarded.emplace_back(v);
           return {};
         },
         kGuardValue},
    Flag{"--chdir", "-C", "DIR", kFiles, "start in DIR, a path inside the sandbox",
         [](Options& o, Value flag, Value v) -> Result<void> {
           if (!v.starts_with('/'))
             return invalid(flag, "\"" + printable(v) + "\" is not absolute",
                            "name a path inside the sandbox, like /work/src");
           o.wanted.unkeyed.directory = normalize(v);
           return {};
         }},
    Flag{"--as-self", "", "", kIdentity, "keep your user id inside (default)",
         choose<&Policy::identity, Identity::self>},
    Flag{"--as-root", "", "", kIdentity, "be uid 0 inside; it gives no rights outside",
         choose<&Policy::identity, Identity::root>},
    Flag{"--env", "-e", "NAME=VALUE", kIdentity, "set a variable", set_environment},
    Flag{"--pass-env", "", "NAME", kIdentity, "pass a variable of yours on; most are not",
         pass_environment},
    Flag{"--unsafe-env", "", "NAME", kIdentity,
         "allow --env or --pass-env of a variable that injects code, like LD_PRELOAD",
         name<Key::env_unsafe>},
    Flag{"--hostname", "", "NAME", kIdentity, "hostname inside (default: coop-<id>)", set_hostname},
    Flag{"--time-offset", "", "SECONDS", kIdentity, "shift the monotonic and boot clocks",
         [](Options& o, Value flag, Value v) -> Result<void> {
           o.wanted.unkeyed.time_offset = TRY(of_flag(flag, parse_signed(v)));
           return {};
         }},
    Flag{"--debug", "", "", kIdentity, "let processes inside trace each other (default)",
         debug<true>},
    Flag{"--no-debug", "", "", kIdentity, "deny ptrace and process_vm_* inside", debug<false>},
    Flag{"--network", "", "none|allowlist|full|veth|host", kNetwork,
         "none: loopback only (default); allowlist: what --allow-net names; full: the internet, "
         "and of private networks what --allow-net names; veth: the same through a veth pair "
         "(needs root); "
         "host: the host's own, which needs --unsafe host_network",
         choose_network, one_of("none allowlist full veth host")},
    Flag{"--allow-net", "", "HOST[:PORT]", kNetwork,
         "let HOST be reached: a name, *.example.com, an address, 10.0.0.0/8 (default ports: 80, "
         "443)",
         destination<Key::network_allow>},
    Flag{"--deny-net", "", "HOST[:PORT]", kNetwork, "deny HOST, whatever allows it",
         destination<Key::network_deny>},
    Flag{"--allow-udp", "", "CIDR:PORT", kNetwork,
         "let UDP be sent to a port of an address or network, like 10.0.0.0/8:5000 or "
         "[fd00::/8]:5000",
         destination<Key::network_udp>},
    Flag{
        "--publish", "", "[ADDR:]HOST:SANDBOX", kNetwork,
        "forward port HOST of this machine to port SANDBOX inside (ADDR: 127.0.0.1); PORT for both",
        destination<Key::network_publish>},
    Flag{"--host-port", "", "PORT", kNetwork,
         "forward localhost:PORT inside to this machine's localhost:PORT",
         destination<Key::network_host_ports>},
    Flag{"--socket", "", "PATH", kNetwork,
         "let the Unix socket PATH be connected to; docker.sock and others like it need --unsafe "
         "control_sockets",
         add_socket, kPathValue},
    Flag{"--unsafe", "", "WORD", kNetwork,
         "confirm a dangerous grant by its name: host_network, control_sockets", confirm_grant,
         one_of("host_network control_sockets")},
    Flag{
        "--terminal", "", "WORD", kIdentity,
        "filtered (default): keep control sequences from your terminal that write the clipboard or "
        "make it type; raw: let everything through",
        setting<Key::terminal>, one_of("filtered raw")},
    Flag{"--memory", "-m", "SIZE", kLimits,
         "memory of the whole sandbox: 512m, 2g, unlimited (default)", setting<Key::memory>},
    Flag{"--pids", "", "N", kLimits, "processes and threads (default: 4096), or unlimited",
         setting<Key::pids_limit>},
    Flag{"--cpus", "", "N", kLimits, "CPU time, in processors: 2, 0.5", setting<Key::cpus>},
    Flag{"--tmp-size", "", "SIZE", kLimits,
         "size of /tmp and other private file systems (default: 512m)", setting<Key::tmp_size>},
    Flag{"--open-files", "--files", "N", kLimits, "open descriptors of each process (default: 640)",
         limit<&Limits::open_files, parse_count>},
    Flag{"--file-size", "", "SIZE", kLimits, "size of any one file written",
         limit<&Limits::file_size, parse_size>},
    Flag{"--timeout", "-t", "DURATION", kLimits, "kill everything after: 30s, 5m (exit code 124)",
         setting<Key::timeout>},
    Flag{"--output-limit", "", "SIZE", kLimits,
         "with --json: bytes kept of each stream (default: 1m)", setting<Key::output_limit>},
    Flag{"--require", "", "MECHANISM", kStrictness, "fail without it: landlock, proc, limits",
         set_need<Need::required>, one_of("landlock proc limits")},
    Flag{"--best-effort", "", "MECHANISM", kStrictness, "go on without it, and say so",
         set_need<Need::best_effort>, one_of("landlock proc limits")},
    Flag{"--config", "", "FILE", kPeople,
         "take the settings of this coop.toml (default with the flags below: ./coop.toml)",
         role<&Role::config>, kPathValue},
    Flag{"--as", "", "USER", kPeople, "run as this user of coop.toml: trust and overrides apply",
         role<&Role::user>},
    Flag{"--channel", "", "SENDER", kPeople,
         "run for a sender, like signal:+15555550100: the user who matches, or public",
         role<&Role::sender>},
    Flag{"--group", "", "", kPeople, "in a group conversation: trust is at most familiar",
         choose<&Role::conversation, Conversation::group>},
    Flag{"--agent", "", "ID", kPeople, "with the settings and workspace of this agent",
         role<&Role::agent>},
    Flag{"--cron", "", "NAME", kPeople,
         "with the user and overrides of this job; without a COMMAND its own", role<&Role::cron>},
    Flag{"--verbose", "-v", "", kOutput, "log each step on standard error",
         choose<&Options::verbose, true>},
    Flag{"--log-format", "", "text|json", kOutput,
         "with -v: json is one object a line (default: text at a terminal, else json)",
         choose_log_format, one_of("text json")},
    Flag{"--quiet", "-q", "", kOutput, "at a terminal: no line about the sandbox before it starts",
         choose<&Options::quiet, true>},
    Flag{"--tty", "", "", kOutput, "give the command a terminal of its own",
         choose<&Options::terminal, Terminal::always>},
    Flag{"--no-tty", "", "", kOutput, "never; by default it gets one when you are at a terminal",
         choose<&Options::terminal, Terminal::never>},
    Flag{"--json", "", "", kOutput, "print the result as JSON", choose<&Options::json, true>},
    Flag{"--why", "", "", kOutput, "plan: the reason of each step and rule",
         choose<&Options::why, true>},
    Flag{"--help", "-h", "", kOutput, "show this", choose<&Options::help, true>},
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

Result<Options> parse(std::span<const std::string> words) {
  const Parsed parsed = TRY(parse_command(*find_command("run"), words));
  return options_of(parsed);
}

}  // namespace coop::cli
