// What is said about mistakes in [sandbox]: the whole finding, for every key.
#include <gmock/gmock.h>

#include "policy/settings/settings.h"
#include "settings_support.h"

namespace coop::policy {
namespace {

using testing_support::Outcome;
using testing_support::read;

constexpr std::string_view kBytesFix = "a number without a unit is bytes; write 512m or 2g";
constexpr std::string_view kSizeFix =
    R"(write a number with an optional unit: 512, 64k, 100m, 2g, 1t)";
constexpr std::string_view kHostFix =
    R"(write HOST, HOST:PORT, *.example.com, an IP address or a network like 10.0.0.0/8)";
constexpr std::string_view kImageFix =
    R"(write it like "ubuntu:24.04" or "registry.example/name/image:tag")";
constexpr std::string_view kNameFix = R"(use letters, digits and "_", and no digit in front)";
constexpr std::string_view kStrings = R"(write a list of strings: ["…", "…"])";
constexpr std::string_view kKeys =
    "one of: mode, owner_bypass, view, home, show_home, hide_secrets, workspaces, writable_paths, "
    "readable_paths, hidden_paths, overlay_paths, tmpfs_paths, protected_paths, allow_guarded, "
    "network, sockets, memory, pids_limit, cpus, tmp_size, open_files, file_size, timeout, "
    "output_limit, debug, as_root, hostname, time_offset, terminal, containers, vm, backend, "
    "base_image, "
    "auto_commit, cache_volumes, share_caches, unsafe, env, require, "
    "best_effort";
constexpr std::string_view kOverridable =
    R"(one of: image, base_image, network, allow_network, memory, cpus, pids, pids_limit)";

struct Bad {
  std::string_view lines;  // below [sandbox]
  std::string_view head;   // place, severity and check
  std::string_view message;
  std::string_view fix;
};

void expect_findings(const std::vector<Bad>& cases, Shape shape) {
  for (const Bad& bad : cases) {
    const Outcome outcome = read("[sandbox]\n" + std::string(bad.lines) + "\n", shape);
    const std::string expected = "p.toml:" + std::string(bad.head) + ": " +
                                 std::string(bad.message) + "\n    fix: " + std::string(bad.fix) +
                                 "\n";
    ASSERT_EQ(outcome.findings.size(), 1U) << bad.lines;
    EXPECT_EQ(to_text(outcome.findings[0]), expected) << bad.lines;
  }
}

TEST(SettingsFindingsTest, EveryKeyRefusesWhatIsNotItsValue) {
  expect_findings(
      {
          {R"(mode = "on")", "2:8: error: sandbox_settings", R"(mode: "on" is unknown)",
           "one of: enabled, disabled"},
          {R"(mode = "enable")", "2:8: error: sandbox_settings", R"(mode: "enable" is unknown)",
           R"(did you mean "enabled"?)"},
          {"mode = true", "2:8: error: sandbox_settings",
           "mode: expected one of enabled, disabled, found true or false",
           R"(for example: mode = "enabled")"},
          {R"(view = "hots")", "2:8: error: sandbox_settings", R"(view: "hots" is unknown)",
           R"(did you mean "host"?)"},
          {R"(home = ".ssh")", "2:8: error: sandbox_settings",
           R"(home: ".ssh" is not the name of a home)",
           "ephemeral, workspace, or a name: letters, digits, '.', '_' and '-', at most 64, not "
           "starting with a dot or dash"},
          {"home = 1", "2:8: error: sandbox_settings",
           R"(home: expected "ephemeral", "workspace" or a name, found a whole number)",
           R"(for example: home = "ephemeral")"},
          {"view = []", "2:8: error: sandbox_settings",
           "view: expected one of minimal, host, found a list", R"(for example: view = "minimal")"},
          {R"(workspaces = ["/srv"])", "2:1: error: sandbox_paths",
           "workspaces is a key of the organisation's policy only", "remove the line"},
          {R"(env = { names = ["A"] })", "2:9: error: sandbox_environment",
           "env.names is a key of the organisation's policy only", "remove the line"},
          {R"(hostname = "a b")", "2:12: error: sandbox_settings",
           R"(hostname: "a b" is not a host name)", "letters, digits, '-' and '.', at most 63"},
          {R"(time_offset = "1h")", "2:15: error: sandbox_settings",
           "time_offset: expected a whole number of seconds, found a string",
           "for example: time_offset = -3600"},
          {R"(time_offset = 9000000000)", "2:15: error: sandbox_settings", "time_offset: too large",
           "for example: time_offset = -3600"},
          {R"(writable_paths = "~/x")", "2:18: error: sandbox_paths",
           "writable_paths: expected a list of paths, found a string", kStrings},
          {R"(writable_paths = ["/a", 3])", "2:25: error: sandbox_paths",
           "writable_paths: expected strings in the list, found a whole number", kStrings},
          {R"(readable_paths = [""])", "2:19: error: sandbox_paths",
           "readable_paths: a path is empty", "write a path or remove it"},
          {R"(readable_paths = ["?"])", "2:19: error: sandbox_paths",
           "readable_paths: a path is empty", "write a path or remove it"},
          {R"(readable_paths = ["../x"])", "2:19: error: sandbox_paths",
           R"(readable_paths: "../x" has ".." in it)", "write the directory it leads to"},
          {R"(hidden_paths = ["$UNSET/x"])", "2:17: error: sandbox_paths",
           R"(hidden_paths: "$UNSET/x": $UNSET is not set)",
           "set the variable or write the path itself"},
          {R"(hidden_paths = ["~bob/x"])", "2:17: error: sandbox_paths",
           R"(hidden_paths: "~bob/x": only your own home can be written as "~")",
           R"(write the whole path, or "./~…" for a name that starts with "~")"},
          {R"(overlay_paths = ["/a/**/b"])", "2:18: error: sandbox_paths",
           R"(overlay_paths: "/a/**/b" has "**" in it)",
           R"(write one "*" for each level of directories)"},
          {R"(overlay_paths = ["$STAR/*"])", "2:18: error: sandbox_paths",
           R"(overlay_paths: "$STAR/*" has wildcards, and so has what it starts from or puts in)",
           "write the whole path"},
          {R"(protected_paths = ["/a[b"])", "2:20: error: sandbox_paths",
           R"(protected_paths: "/a[b" has a "[" without "]")", "write [[] to mean the character"},
          {"protected_paths = {}", "2:19: error: sandbox_paths",
           "protected_paths: expected a list of paths, found a table", kStrings},
          {R"(workspace = "/w")", "2:1: error: unknown_key",
           R"(unknown key "workspace" in [sandbox])", "only coop.toml names a workspace"},
          {R"(network = "fulll")", "2:11: error: sandbox_network", R"(network: "fulll" is unknown)",
           R"(did you mean "full"?)"},
          {R"(network = "bridge")", "2:11: error: sandbox_network",
           R"(network: "bridge" is a word of coop.toml)", R"(write "full")"},
          {R"(network = "internet")", "2:11: error: sandbox_network",
           R"(network: "internet" is unknown)", "one of: none, allowlist, full, veth, host"},
          {"network = 3", "2:11: error: sandbox_network",
           "network: expected one of none, allowlist, full, veth, host, found a whole number",
           R"(for example: network = "none")"},
          {R"(network = { mode = "bridge" })", "2:20: error: sandbox_network",
           R"(network.mode: "bridge" is a word of coop.toml)", R"(write "full")"},
          {"network = { mode = 1 }", "2:20: error: sandbox_network",
           "network.mode: expected one of none, allowlist, full, veth, host, found a whole number",
           R"(for example: network.mode = "none")"},
          {R"(network = { allowed = ["a.org"] })", "2:13: error: unknown_key",
           R"(unknown key "allowed" in [sandbox.network])", R"(did you mean "allow"?)"},
          {R"(network = { allow = "a.org" })", "2:21: error: sandbox_network",
           "network.allow: expected a list of hosts, found a string", kStrings},
          {R"(network = { allow = ["https://a.org/x"] })", "2:22: error: sandbox_network",
           R"(network.allow: "https://a.org/x" is a URL)", "write only its host, like example.com"},
          {R"(network = { allow = ["a.org:0", "ok.org"] })", "2:22: error: sandbox_network",
           R"(network.allow: "a.org:0" needs a port from 1 to 65535 after the colon)", kHostFix},
          {"network = { allow = [1] }", "2:22: error: sandbox_network",
           "network.allow: expected strings in the list, found a whole number", kStrings},
          {R"(network = { deny = ["127.1"] })", "2:21: error: sandbox_network",
           R"(network.deny: "127.1" is neither a host name nor a whole IP address)", kHostFix},
          {R"(network = { deny = ["10.1.2.3/8"] })", "2:21: error: sandbox_network",
           R"(network.deny: "10.1.2.3/8" has host bits set)",
           "write 10.0.0.0/8, or the address alone"},
          {R"(memory = "2x")", "2:10: error: sandbox_memory", R"(memory: "2x" has an unknown unit)",
           kSizeFix},
          {R"(memory = "lots")", "2:10: error: sandbox_memory", R"(memory: "lots" is not a size)",
           kSizeFix},
          {"memory = []", "2:10: error: sandbox_memory",
           R"(memory: expected a size like "2g", found a list)", R"(for example: memory = "2g")"},
          {"memory = 0", "2:10: error: sandbox_memory", "memory: must be at least 4m", kBytesFix},
          {"memory = 2", "2:10: error: sandbox_memory", "memory: must be at least 4m", kBytesFix},
          {"memory = -1", "2:10: error: sandbox_memory", "memory: a size cannot be negative",
           R"(for example: memory = "2g")"},
          {"memory = 2.5", "2:10: error: sandbox_memory",
           R"(memory: expected a size like "2g", found a number)", R"(for example: memory = "2g")"},
          {"memory = true", "2:10: error: sandbox_memory",
           R"(memory: expected a size like "2g", found true or false)",
           R"(for example: memory = "2g")"},
          {R"(memory = "5000000t")", "2:10: error: sandbox_memory", "memory: too large",
           R"(for example: memory = "2g")"},
          {"memory = 4611686018427387905", "2:10: error: sandbox_memory", "memory: too large",
           R"(for example: memory = "2g")"},
          {R"(memory = "a\u001bb")", "2:10: error: sandbox_memory",
           R"(memory: "a\x1bb" is not a size)", kSizeFix},
          {"pids_limit = 0", "2:14: error: sandbox_pids", "pids_limit: must be at least 2",
           "for example: pids_limit = 512"},
          {"pids_limit = -5", "2:14: error: sandbox_pids", "pids_limit: must be at least 2",
           "for example: pids_limit = 512"},
          {R"(pids_limit = "512")", "2:14: error: sandbox_pids",
           R"(pids_limit: expected a whole number or "unlimited", found a string)",
           "for example: pids_limit = 512"},
          {"pids_limit = 1.5", "2:14: error: sandbox_pids",
           R"(pids_limit: expected a whole number or "unlimited", found a number)",
           "for example: pids_limit = 512"},
          {"pids_limit = 4194305", "2:14: error: sandbox_pids",
           "pids_limit: more than any kernel allows", R"(write at most 4194304, or "unlimited")"},
          {"cpus = 0", "2:8: error: sandbox_cpus", "cpus: must be at least 0.01",
           "for example: cpus = 1.5"},
          {"cpus = -1.5", "2:8: error: sandbox_cpus", "cpus: must be at least 0.01",
           "for example: cpus = 1.5"},
          {"cpus = 0.0001", "2:8: error: sandbox_cpus", "cpus: has more than three decimals",
           "for example: cpus = 1.5"},
          {"cpus = 1.2345", "2:8: error: sandbox_cpus", "cpus: has more than three decimals",
           "for example: cpus = 1.5"},
          {R"(cpus = "two")", "2:8: error: sandbox_cpus", R"(cpus: "two" is not a number)",
           "write a number of processors like 2 or 0.5"},
          {"cpus = 1000001", "2:8: error: sandbox_cpus",
           "cpus: more processors than any machine has", "for example: cpus = 1.5"},
          {"cpus = 1e300", "2:8: error: sandbox_cpus", "cpus: more processors than any machine has",
           "for example: cpus = 1.5"},
          {"cpus = [1]", "2:8: error: sandbox_cpus",
           "cpus: expected a number of processors like 2 or 1.5, found a list",
           "for example: cpus = 1.5"},
          {R"(tmp_size = "unlimited")", "2:12: error: sandbox_limits",
           R"(tmp_size: "unlimited" is not a size)", kSizeFix},
          {"tmp_size = 0", "2:12: error: sandbox_limits", "tmp_size: must be at least 4k",
           kBytesFix},
          {"file_size = 0", "2:13: error: sandbox_limits", "file_size: must be at least 1",
           kBytesFix},
          {"open_files = 1", "2:14: error: sandbox_limits", "open_files: must be at least 8",
           "for example: open_files = 512"},
          {"tmp_size = {}", "2:12: error: sandbox_limits",
           R"(tmp_size: expected a size like "2g", found a table)",
           R"(for example: tmp_size = "2g")"},
          {R"(timeout = "10x")", "2:11: error: sandbox_limits",
           R"(timeout: "10x" is not a duration)", "write a duration like 250ms, 30s, 2m or 1h30m"},
          {"timeout = 0", "2:11: error: sandbox_limits", "timeout: must be at least 1ms",
           R"(for example: timeout = "10m")"},
          {"timeout = -1", "2:11: error: sandbox_limits", "timeout: must be at least 1ms",
           R"(for example: timeout = "10m")"},
          {"timeout = 9223372036854775807", "2:11: error: sandbox_limits",
           R"(timeout: "9223372036854775807" is longer than a year)",
           "write a duration like 250ms, 30s, 2m or 1h30m"},
          {"timeout = 1.5", "2:11: error: sandbox_limits",
           R"(timeout: expected a duration like "10m", found a number)",
           R"(for example: timeout = "10m")"},
          {R"(output_limit = "1q")", "2:16: error: sandbox_limits",
           R"(output_limit: "1q" has an unknown unit)", kSizeFix},
          {"output_limit = -1", "2:16: error: sandbox_limits",
           "output_limit: a size cannot be negative", R"(for example: output_limit = "2g")"},
          {"output_limit = false", "2:16: error: sandbox_limits",
           R"(output_limit: expected a size like "2g", found true or false)",
           R"(for example: output_limit = "2g")"},
          {R"(debug = "yes")", "2:9: error: sandbox_settings",
           "debug: expected true or false, found a string", "for example: debug = true"},
          {"containers = 1", "2:14: error: sandbox_settings",
           "containers: expected true or false, found a whole number",
           "for example: containers = true"},
          {"vm = []", "2:6: error: sandbox_settings", "vm: expected true or false, found a list",
           "for example: vm = true"},
          {R"(env = ["A"])", "2:7: error: sandbox_environment",
           "env: expected a table, found a list",
           R"(for example: env = { pass = ["NAME"], set = { NAME = "value" } })"},
          {R"(env = { pas = ["A"] })", "2:9: error: unknown_key",
           R"(unknown key "pas" in [sandbox.env])", R"(did you mean "pass"?)"},
          {R"(env = { pass = ["A B"] })", "2:17: error: sandbox_environment",
           R"(env.pass: "A B" is not the name of a variable)", kNameFix},
          {R"(env = { pass = "A" })", "2:16: error: sandbox_environment",
           "env.pass: expected a list of names, found a string", kStrings},
          {"env = { pass = [1] }", "2:17: error: sandbox_environment",
           "env.pass: expected strings in the list, found a whole number", kStrings},
          {R"(env = { set = ["A=1"] })", "2:15: error: sandbox_environment",
           R"(env.set: expected a table like { NAME = "value" }, found a list)",
           R"(for example: env.set = { NAME = "value" })"},
          {R"(env = { set = { "A=B" = "1" } })", "2:17: error: sandbox_environment",
           R"(env.set: "A=B" is not the name of a variable)", kNameFix},
          {"env = { set = { A = 1 } }", "2:21: error: sandbox_environment",
           R"(env.set: "A": expected a string, found a whole number)", "write the value in quotes"},
          {R"(env = { unsafe = [""] })", "2:19: error: sandbox_environment",
           R"(env.unsafe: "" is not the name of a variable)", kNameFix},
          {R"(backend = "dokcer")", "2:11: error: sandbox_backend",
           R"(backend: "dokcer" is unknown)", R"(did you mean "docker"?)"},
          {R"(backend = "qemu")", "2:11: error: sandbox_backend", R"(backend: "qemu" is unknown)",
           "one of: auto, kernel, bwrap, docker, podman, gvisor, apple, sandbox-exec, kubernetes"},
          {"backend = 1", "2:11: error: sandbox_backend",
           "backend: expected one of auto, kernel, bwrap, docker, podman, gvisor, apple, "
           "sandbox-exec, kubernetes, found a whole number",
           R"(for example: backend = "auto")"},
          {R"(base_image = "")", "2:14: error: sandbox_image",
           "base_image: the name of an image is empty", kImageFix},
          {R"(base_image = "-v")", "2:14: error: sandbox_image",
           R"(base_image: "-v" starts with a dash)", kImageFix},
          {R"(base_image = "a b")", "2:14: error: sandbox_image",
           R"(base_image: "a b" is not the name of an image)", kImageFix},
          {"base_image = 3", "2:14: error: sandbox_image",
           R"(base_image: expected an image like "ubuntu:24.04", found a whole number)",
           R"(for example: base_image = "ubuntu:24.04")"},
          {R"(auto_commit = "true")", "2:15: error: sandbox_settings",
           "auto_commit: expected true or false, found a string",
           "for example: auto_commit = true"},
          {R"(cache_volumes = ["carg"])", "2:18: error: sandbox_settings",
           R"(cache_volumes: "carg" is unknown)", R"(did you mean "cargo"?)"},
          {R"(cache_volumes = "cargo")", "2:17: error: sandbox_settings",
           "cache_volumes: expected a list of names, found a string", kStrings},
          {R"(cache_volumes = ["everything-at-once"])", "2:18: error: sandbox_settings",
           R"(cache_volumes: "everything-at-once" is unknown)",
           "one of: cargo, go, pip, uv, poetry, npm, yarn, pnpm, bun, deno, ccache, sccache, "
           "bazel, maven, gradle, composer, nuget, huggingface"},
          {R"(require = ["seccomp"])", "2:12: error: sandbox_settings",
           R"(require: "seccomp" is not a mechanism)", "one of: landlock, proc, limits"},
          {R"(require = "landlock")", "2:11: error: sandbox_settings",
           "require: expected a list of mechanisms, found a string", kStrings},
          {"require = [1]", "2:12: error: sandbox_settings",
           "require: expected strings in the list, found a whole number", kStrings},
          {R"(best_effort = ["lanlock"])", "2:16: error: sandbox_settings",
           R"(best_effort: "lanlock" is not a mechanism)", R"(did you mean "landlock"?)"},
          {R"(require = ["landlock", "proc"])"
           "\n"
           R"(best_effort = ["limits", "landlock"])",
           "3:26: error: sandbox_settings",
           R"(best_effort: "landlock" is in require too, in line 2)", "keep it in one of the two"},
          {R"(best_effort = ["proc"])"
           "\n"
           R"(require = ["proc"])",
           "3:12: error: sandbox_settings", R"(require: "proc" is in best_effort too, in line 2)",
           "keep it in one of the two"},
          {R"(unsafe = ["host_netwrok"])", "2:11: error: sandbox_settings",
           R"(unsafe: "host_netwrok" is unknown)", R"(did you mean "host_network"?)"},
          {"unsafe = true", "2:10: error: sandbox_settings",
           "unsafe: expected a list of names, found true or false", kStrings},
          {R"(memroy = "2g")", "2:1: error: unknown_key", R"(unknown key "memroy" in [sandbox])",
           R"(did you mean "memory"?)"},
          {"enabled = true", "2:1: error: unknown_key", R"(unknown key "enabled" in [sandbox])",
           R"(write mode = "enabled" or mode = "disabled")"},
          {"allow_network = true", "2:1: error: unknown_key",
           R"(unknown key "allow_network" in [sandbox])",
           R"(write network = "full" or network = "none")"},
          {"pids = 1", "2:1: error: unknown_key", R"(unknown key "pids" in [sandbox])",
           R"(did you mean "pids_limit"?)"},
          {R"(image = "a")", "2:1: error: unknown_key", R"(unknown key "image" in [sandbox])",
           R"(did you mean "base_image"?)"},
          {R"(landlock = "required")", "2:1: error: unknown_key",
           R"(unknown key "landlock" in [sandbox])",
           R"(write require = ["landlock"] or best_effort = ["landlock"])"},
          {"frobnicate_everything = 1", "2:1: error: unknown_key",
           R"(unknown key "frobnicate_everything" in [sandbox])", kKeys},
      },
      Shape::policy_file);
}

TEST(SettingsFindingsTest, OldSpellingsAreCheckedLikeNewOnesAndMustNotContradict) {
  expect_findings(
      {
          {R"(enabled = "yes")", "2:11: error: sandbox_settings",
           "enabled: expected true or false, found a string", "for example: enabled = true"},
          {R"(enabled = true)"
           "\n"
           R"(mode = "disabled")",
           "3:8: error: sandbox_settings",
           R"(mode: contradicts line 2, which means mode = "enabled")", "keep one of the two"},
          {R"(mode = "enabled")"
           "\n"
           R"(enabled = false)",
           "3:11: error: sandbox_settings",
           R"(enabled: contradicts line 2, which means mode = "enabled")", "keep one of the two"},
          {"allow_network = 1", "2:17: error: sandbox_network",
           "allow_network: expected true or false, found a whole number",
           "for example: allow_network = true"},
          {R"(allow_network = true)"
           "\n"
           R"(network = "none")",
           "3:11: error: sandbox_network",
           R"(network: contradicts line 2, which means network = "full")", "keep one of the two"},
          {R"(network = "full")"
           "\n"
           R"(allow_network = false)",
           "3:17: error: sandbox_network",
           R"(allow_network: contradicts line 2, which means network = "full")",
           "keep one of the two"},
          {R"(allow_network = true)"
           "\n"
           R"(network = { allow = ["a.org"] })",
           "3:13: error: sandbox_network",
           R"(network.allow: contradicts line 2, which means network = "full")",
           "keep one of the two"},
          {"pids = 0", "2:8: error: sandbox_pids", "pids: must be at least 2",
           "for example: pids = 512"},
          {"pids = 3\npids_limit = 2", "3:14: error: sandbox_pids",
           "pids_limit: contradicts line 2, which means pids_limit = 3", "keep one of the two"},
          {R"(image = "a b")", "2:9: error: sandbox_image",
           R"(image: "a b" is not the name of an image)", kImageFix},
          {R"(image = "a")"
           "\n"
           R"(base_image = "b")",
           "3:14: error: sandbox_image",
           R"(base_image: contradicts line 2, which means base_image = "a")",
           "keep one of the two"},
          {R"(workspace = "")", "2:13: error: sandbox_paths", "workspace: a path is empty",
           "write a path or remove it"},
          {"workspace = 1", "2:13: error: sandbox_paths",
           "workspace: expected a path, found a whole number",
           R"(for example: workspace = "~/work")"},
          {R"(workspace = "~x")", "2:13: error: sandbox_paths",
           R"(workspace: "~x": only your own home can be written as "~")",
           R"(write the whole path, or "./~…" for a name that starts with "~")"},
          {"enabld = true", "2:1: error: unknown_key", R"(unknown key "enabld" in [sandbox])",
           R"(did you mean "enabled"?)"},
          {R"(network = "bride")", "2:11: error: sandbox_network", R"(network: "bride" is unknown)",
           R"(did you mean "bridge"?)"},
      },
      Shape::config);
}

TEST(SettingsFindingsTest, InOverridesEveryMistakeIsOneOfOverrides) {
  expect_findings(
      {
          {R"(view = "host")", "2:1: error: sandbox_overrides",
           R"(unknown key "view" in an override)", kOverridable},
          {R"(imag = "a")", "2:1: error: sandbox_overrides", R"(unknown key "imag" in an override)",
           R"(did you mean "image"?)"},
          {R"(image = "-x")", "2:9: error: sandbox_overrides", R"(image: "-x" starts with a dash)",
           kImageFix},
          {R"(network = "brigde")", "2:11: error: sandbox_overrides",
           R"(network: "brigde" is unknown)", R"(did you mean "bridge"?)"},
          {"network = { alow = [] }", "2:13: error: sandbox_overrides",
           R"(unknown key "alow" in [sandbox.network])", R"(did you mean "allow"?)"},
          {R"(allow_network = "yes")", "2:17: error: sandbox_overrides",
           "allow_network: expected true or false, found a string",
           "for example: allow_network = true"},
          {R"(allow_network = true)"
           "\n"
           R"(network = "none")",
           "3:11: error: sandbox_overrides",
           R"(network: contradicts line 2, which means network = "full")", "keep one of the two"},
          {R"(memory = "2x")", "2:10: error: sandbox_overrides",
           R"(memory: "2x" has an unknown unit)", kSizeFix},
          {"cpus = 0", "2:8: error: sandbox_overrides", "cpus: must be at least 0.01",
           "for example: cpus = 1.5"},
          {"pids = -1", "2:8: error: sandbox_overrides", "pids: must be at least 2",
           "for example: pids = 512"},
          {"pids_limit = []", "2:14: error: sandbox_overrides",
           R"(pids_limit: expected a whole number or "unlimited", found a list)",
           "for example: pids_limit = 512"},
          {"env = {}", "2:1: error: sandbox_overrides", R"(unknown key "env" in an override)",
           kOverridable},
      },
      Shape::override);
}

}  // namespace
}  // namespace coop::policy
