#include "cli/flags.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/path.h"
#include "base/quantity.h"
#include "cli/network_flags.h"
#include "policy/policy.h"

namespace coop::cli {

namespace {

using Value = std::string_view;

constexpr std::string_view kFiles = "Files";
constexpr std::string_view kIdentity = "Identity and environment";
constexpr std::string_view kNetwork = "Network";
constexpr std::string_view kLimits = "Limits";
constexpr std::string_view kStrictness = "Strictness";
constexpr std::string_view kPeople = "People and agents (coop.toml)";
constexpr std::string_view kOutput = "Terminal and output";

Result<void> add_rule(Options& options, RuleKind kind, const char* flag, Value value) {
  Missing if_missing = Missing::fail;
  if (value.ends_with('?')) {
    value.remove_suffix(1);
    if_missing = Missing::skip;
  }
  if (value.empty()) return invalid(flag, "the path is empty");
  options.policy.rules.push_back(PathRule{.kind = kind,
                                          .path = Path(value),
                                          .if_missing = if_missing,
                                          .origin = flag,
                                          .reason = "asked for on the command line"});
  return {};
}

template <typename T>
Result<void> assign(std::string_view flag, T& field, auto parsed) {
  if (!parsed) return with_context(flag, Result<void>(std::unexpected(std::move(parsed).error())));
  field = static_cast<T>(std::move(*parsed));
  return {};
}

Result<void> positive(std::string_view flag, std::optional<std::uint64_t>& field,
                      Result<std::uint64_t> parsed) {
  const std::uint64_t number = TRY(with_context(flag, std::move(parsed)));
  if (number == 0) return invalid(flag, "must be more than 0");
  field = number;
  return {};
}

Result<void> set_environment(Options& options, Value value) {
  const std::size_t equals = value.find('=');
  if (equals == Value::npos || equals == 0)
    return invalid("--env", "\"" + printable(value) + "\" is not NAME=VALUE",
                   "to pass a variable of your own environment on, use --pass-env NAME");
  options.policy.set_environment[std::string(value.substr(0, equals))] = value.substr(equals + 1);
  return {};
}

Result<void> set_hostname(Options& options, Value value) {
  const bool good =
      !value.empty() && value.size() <= 63 && std::ranges::all_of(value, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.';
      });
  if (!good)
    return invalid("--hostname", "\"" + printable(value) + "\" is not a host name",
                   "letters, digits, '-' and '.', at most 63");
  options.policy.hostname = value;
  return {};
}

Result<void> set_need(Options& options, std::string_view flag, Need need, Value value) {
  Result<Mechanism> mechanism = parse_mechanism(value);
  if (!mechanism) return with_context(flag, Result<void>(std::unexpected(mechanism.error())));
  options.policy.needs[*mechanism] = need;
  return {};
}

Result<void> choose_view(Options& options, Value value) {
  if (value == "minimal") options.policy.view = View::minimal;
  else if (value == "host") options.policy.view = View::host;
  else return invalid("--view", "\"" + printable(value) + "\" is not a view", "minimal or host");
  return {};
}

Result<void> name(std::string& field, const char* flag, Value value) {
  if (value.empty()) return invalid(flag, "the name is empty");
  field = value;
  return {};
}

Result<void> choose_log_format(Options& options, Value value) {
  if (value == "text") options.log_format = LogFormat::text;
  else if (value == "json") options.log_format = LogFormat::json;
  else
    return invalid("--log-format", "\"" + printable(value) + "\" is not a format", "text or json");
  return {};
}

constexpr std::array kFlags{
    Flag{"--workspace", "-w", "DIR", kFiles, "directory to work in (default: the current one)",
         [](Options& o, Value v) -> Result<void> {
           if (v.empty()) return invalid("--workspace", "the path is empty");
           o.policy.workspace = v;
           return {};
         },
         "@path"},
    Flag{"--view", "", "minimal|host", kFiles,
         "minimal: system programs and the workspace at /work; host: the machine in its usual "
         "places, read-only, without its secrets",
         choose_view, "minimal host"},
    Flag{"--rw", "", "PATH", kFiles, "show PATH writable (PATH? if it may be missing)",
         [](Options& o, Value v) { return add_rule(o, RuleKind::read_write, "--rw", v); }, "@path"},
    Flag{"--ro", "", "PATH", kFiles, "show PATH read-only",
         [](Options& o, Value v) { return add_rule(o, RuleKind::read_only, "--ro", v); }, "@path"},
    Flag{"--hide", "--blacklist", "PATH", kFiles, "hide PATH under every name it has",
         [](Options& o, Value v) { return add_rule(o, RuleKind::hide, "--hide", v); }, "@path"},
    Flag{"--overlay", "", "PATH", kFiles, "make PATH writable in a private layer that vanishes",
         [](Options& o, Value v) { return add_rule(o, RuleKind::overlay, "--overlay", v); },
         "@path"},
    Flag{"--tmpfs", "", "PATH", kFiles, "put an empty writable directory at PATH",
         [](Options& o, Value v) { return add_rule(o, RuleKind::tmpfs, "--tmpfs", v); }, "@path"},
    Flag{"--cache", "", "NAME", kFiles,
         "make a toolchain's caches writable: cargo, go, npm, pip, …",
         [](Options& o, Value v) -> Result<void> {
           o.caches.emplace_back(v);
           return {};
         },
         "@cache"},
    Flag{"--allow-guarded", "", "NAME", kFiles,
         "let the command change NAME (a name in policies/guards.txt, like .git/config)",
         [](Options& o, Value v) -> Result<void> {
           o.policy.allow_guarded.emplace_back(v);
           return {};
         },
         "@guard"},
    Flag{"--chdir", "-C", "DIR", kFiles, "start in DIR, a path inside the sandbox",
         [](Options& o, Value v) -> Result<void> {
           if (!v.starts_with('/'))
             return invalid("--chdir", "\"" + printable(v) + "\" is not absolute",
                            "name a path inside the sandbox, like /work/src");
           o.policy.directory = normalize(v);
           return {};
         }},
    Flag{"--as-self", "", "", kIdentity, "keep your user id inside (default)",
         [](Options& o, Value) -> Result<void> {
           o.policy.identity = Identity::self;
           return {};
         }},
    Flag{"--as-root", "", "", kIdentity, "be uid 0 inside; it gives no rights outside",
         [](Options& o, Value) -> Result<void> {
           o.policy.identity = Identity::root;
           return {};
         }},
    Flag{"--env", "-e", "NAME=VALUE", kIdentity, "set a variable", set_environment},
    Flag{"--pass-env", "", "NAME", kIdentity, "pass a variable of yours on; most are not",
         [](Options& o, Value v) -> Result<void> {
           if (v.empty() || v.find('=') != Value::npos)
             return invalid("--pass-env", "\"" + printable(v) + "\" is not a variable's name");
           o.policy.pass_environment.emplace_back(v);
           return {};
         }},
    Flag{"--unsafe-env", "", "NAME", kIdentity,
         "allow --env or --pass-env of a variable that injects code, like LD_PRELOAD",
         [](Options& o, Value v) -> Result<void> {
           o.policy.unsafe_environment.emplace_back(v);
           return {};
         }},
    Flag{"--hostname", "", "NAME", kIdentity, "hostname inside (default: coop-<session>)",
         set_hostname},
    Flag{"--time-offset", "", "SECONDS", kIdentity, "shift the monotonic and boot clocks",
         [](Options& o, Value v) {
           return assign("--time-offset", o.policy.time_offset, parse_signed(v));
         }},
    Flag{"--debug", "", "", kIdentity, "let processes inside trace each other (default)",
         [](Options& o, Value) -> Result<void> {
           o.policy.debugging = Debugging::allowed;
           return {};
         }},
    Flag{"--no-debug", "", "", kIdentity, "deny ptrace and process_vm_* inside",
         [](Options& o, Value) -> Result<void> {
           o.policy.debugging = Debugging::denied;
           return {};
         }},
    Flag{"--network", "", "none|allowlist|full|veth|host", kNetwork,
         "none: loopback only (default); allowlist: what --allow-net names; full: the internet, "
         "and of "
         "private networks what --allow-net names; veth: the same by the kernel, for root; host: "
         "the "
         "host's own, which needs --unsafe host_network",
         choose_network, "none allowlist full veth host"},
    Flag{"--allow-net", "", "HOST[:PORT]", kNetwork,
         "let HOST be reached: a name, *.example.com, an address, 10.0.0.0/8 (default ports: 80, "
         "443)",
         allow_host},
    Flag{"--deny-net", "", "HOST[:PORT]", kNetwork, "deny HOST, whatever allows it", deny_host},
    Flag{"--allow-udp", "", "CIDR:PORT", kNetwork,
         "let UDP be sent to a port of an address or network, like 10.0.0.0/8:5000 or "
         "[fd00::/8]:5000",
         allow_udp},
    Flag{"--publish", "", "[ADDR:]HOST:SANDBOX", kNetwork,
         "lead port HOST of this machine to port SANDBOX inside (ADDR: 127.0.0.1); PORT for both",
         publish},
    Flag{"--host-port", "", "PORT", kNetwork,
         "lead localhost:PORT inside to this machine's localhost:PORT", allow_host_port},
    Flag{"--socket", "", "PATH", kNetwork,
         "let the Unix socket PATH be connected to; docker.sock and others like it need --unsafe "
         "control_sockets",
         add_socket, "@path"},
    Flag{"--unsafe", "", "WORD", kNetwork,
         "confirm a dangerous grant by its name: host_network, control_sockets", confirm_grant,
         "host_network control_sockets"},
    Flag{"--memory", "-m", "SIZE", kLimits,
         "memory of the whole sandbox: 512m, 2g, unlimited (default)",
         [](Options& o, Value v) -> Result<void> {
           if (v == "unlimited") {
             o.policy.limits.memory.reset();
             return {};
           }
           return positive("--memory", o.policy.limits.memory, parse_size(v));
         }},
    Flag{"--pids", "", "N", kLimits, "processes and threads (default: 4096), or unlimited",
         [](Options& o, Value v) -> Result<void> {
           if (v == "unlimited") {
             o.policy.limits.pids.reset();
             return {};
           }
           return positive("--pids", o.policy.limits.pids, parse_count(v));
         }},
    Flag{"--cpus", "", "N", kLimits, "processors' worth of time: 2, 0.5",
         [](Options& o, Value v) {
           return assign("--cpus", o.policy.limits.milli_cpus, parse_milli(v));
         }},
    Flag{"--tmp-size", "", "SIZE", kLimits,
         "size of /tmp and other private file systems (default: 512m)",
         [](Options& o, Value v) -> Result<void> {
           std::optional<std::uint64_t> size;
           if (Result<void> parsed = positive("--tmp-size", size, parse_size(v)); !parsed)
             return parsed;
           o.policy.limits.tmp_size = *size;
           return {};
         }},
    Flag{"--open-files", "--files", "N", kLimits, "open descriptors of each process",
         [](Options& o, Value v) {
           return positive("--open-files", o.policy.limits.open_files, parse_count(v));
         }},
    Flag{"--file-size", "", "SIZE", kLimits, "size of any one file written",
         [](Options& o, Value v) {
           return positive("--file-size", o.policy.limits.file_size, parse_size(v));
         }},
    Flag{"--timeout", "-t", "DURATION", kLimits, "kill everything after: 30s, 5m (exit code 124)",
         [](Options& o, Value v) {
           return assign("--timeout", o.policy.limits.timeout, parse_duration(v));
         }},
    Flag{"--output-limit", "", "SIZE", kLimits,
         "with --json: bytes kept of each stream (default: 1m)",
         [](Options& o, Value v) {
           return assign("--output-limit", o.policy.limits.output_limit, parse_size(v));
         }},
    Flag{"--require", "", "MECHANISM", kStrictness, "fail without it: landlock, proc, limits",
         [](Options& o, Value v) { return set_need(o, "--require", Need::required, v); },
         "landlock proc limits"},
    Flag{"--best-effort", "", "MECHANISM", kStrictness, "go on without it, and say so",
         [](Options& o, Value v) { return set_need(o, "--best-effort", Need::best_effort, v); },
         "landlock proc limits"},
    Flag{"--config", "", "FILE", kPeople,
         "take the settings of this coop.toml (default with the flags below: ./coop.toml)",
         [](Options& o, Value v) { return name(o.role.config, "--config", v); }, "@path"},
    Flag{"--as", "", "USER", kPeople, "run as this user of coop.toml: trust and overrides apply",
         [](Options& o, Value v) { return name(o.role.user, "--as", v); }},
    Flag{"--channel", "", "SENDER", kPeople,
         "run for a sender, like signal:+15555550100: whoever matches, or public",
         [](Options& o, Value v) { return name(o.role.sender, "--channel", v); }},
    Flag{"--group", "", "", kPeople, "in a group conversation: nobody is more than familiar",
         [](Options& o, Value) -> Result<void> {
           o.role.conversation = policy::Conversation::group;
           return {};
         }},
    Flag{"--agent", "", "ID", kPeople, "with the settings and workspace of this agent",
         [](Options& o, Value v) { return name(o.role.agent, "--agent", v); }},
    Flag{"--cron", "", "NAME", kPeople,
         "with the user and overrides of this job; without a COMMAND its own",
         [](Options& o, Value v) { return name(o.role.cron, "--cron", v); }},
    Flag{"--verbose", "-v", "", kOutput, "log each step on standard error",
         [](Options& o, Value) -> Result<void> {
           o.verbose = true;
           return {};
         }},
    Flag{"--log-format", "", "text|json", kOutput,
         "with -v: json is one object a line (default: text at a terminal, else json)",
         choose_log_format, "text json"},
    Flag{"--quiet", "-q", "", kOutput, "at a terminal: no line about the sandbox before it starts",
         [](Options& o, Value) -> Result<void> {
           o.quiet = true;
           return {};
         }},
    Flag{"--tty", "", "", kOutput, "give the command a terminal of its own",
         [](Options& o, Value) -> Result<void> {
           o.terminal = Terminal::always;
           return {};
         }},
    Flag{"--no-tty", "", "", kOutput, "never; by default it gets one when you are at a terminal",
         [](Options& o, Value) -> Result<void> {
           o.terminal = Terminal::never;
           return {};
         }},
    Flag{"--json", "", "", kOutput, "print the result as JSON",
         [](Options& o, Value) -> Result<void> {
           o.json = true;
           return {};
         }},
    Flag{"--why", "", "", kOutput, "plan: the reason of each step and rule",
         [](Options& o, Value) -> Result<void> {
           o.why = true;
           return {};
         }},
    Flag{"--help", "-h", "", kOutput, "show this",
         [](Options& o, Value) -> Result<void> {
           o.help = true;
           return {};
         }},
};

const Flag* find(std::string_view name) {
  for (const Flag& flag : kFlags)
    if (flag.name == name || (!flag.alias.empty() && flag.alias == name)) return &flag;
  return nullptr;
}

std::string suggestion(std::string_view name) {
  if (name.size() > 64) return {};
  std::array<std::string_view, kFlags.size()> names{};
  std::ranges::transform(kFlags, names.begin(), &Flag::name);
  const std::string_view best = nearest(name, names);
  return best.empty() ? "see `coop run --help`" : "did you mean " + std::string(best) + "?";
}

}  // namespace

std::span<const Flag> flags() { return kFlags; }

Result<Options> parse(std::span<const std::string> arguments, Policy base) {
  const HostNetwork host_network =
      base.network == NetworkMode::host ? HostNetwork::granted_by_file : HostNetwork::not_granted;
  Options options{.policy = std::move(base)};
  std::size_t index = 0;
  for (; index < arguments.size(); ++index) {
    const std::string_view word = arguments[index];
    if (word == "--") {
      ++index;
      break;
    }
    if (!word.starts_with('-') || word == "-") break;
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const std::string_view name = word.substr(0, equals);
    const Flag* flag = find(name);
    if (flag == nullptr) return invalid("unknown flag", printable(name), suggestion(name));
    std::string_view value;
    if (!flag->value.empty()) {
      if (equals != std::string_view::npos) {
        value = word.substr(equals + 1);
      } else if (index + 1 < arguments.size() && arguments[index + 1] != "--") {
        value = arguments[++index];
      } else {
        return invalid(name, "needs a value: " + std::string(flag->value));
      }
    } else if (equals != std::string_view::npos) {
      return invalid(name, "takes no value");
    }
    TRY(flag->apply(options, value));
  }
  options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(index), arguments.end());
  TRY(settle_network(options, host_network));
  return options;
}

}  // namespace coop::cli
