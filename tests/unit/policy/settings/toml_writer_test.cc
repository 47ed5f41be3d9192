// Settings as TOML: what is written reads back as the same.
#include "policy/settings/toml_text.h"

#include <gmock/gmock.h>

#include "policy/merge/compare.h"
#include "policy/settings/settings.h"
#include "report/settings.h"
#include "settings_support.h"

namespace coop::policy {
namespace {

using testing_support::Outcome;
using testing_support::read;
using testing_support::without_origins;

TEST(TomlWriterTest, TextIsQuotedAndNothingInItReachesATerminal) {
  EXPECT_EQ(toml_text("a b"), R"("a b")");
  EXPECT_EQ(toml_text(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(toml_text("\x1b[1m\n\x7f"), R"("\u001B[1m\u000A\u007F")");
  EXPECT_EQ(toml_text("\xc2\x9b"), R"("\u009B")");
  EXPECT_EQ(toml_text("b\xc3\xbc\xf0\x9f\x90\x94"), "\"b\xc3\xbc\xf0\x9f\x90\x94\"");
  EXPECT_EQ(toml_text("\xff\xc3"), R"("\uFFFD\uFFFD")");
  EXPECT_EQ(toml_key("A_1-b"), "A_1-b");
  EXPECT_EQ(toml_key("a.b"), R"("a.b")");
  EXPECT_EQ(toml_key(""), R"("")");
}

TEST(TomlWriterTest, ValuesAreWrittenAsPeopleWouldWriteThem) {
  const auto number = [](Key key, std::uint64_t value) {
    return value_text(key, Setting{.value = value});
  };
  EXPECT_EQ(number(Key::memory, std::uint64_t{2} << 30), R"("2g")");
  EXPECT_EQ(number(Key::memory, std::uint64_t{3} << 40), R"("3t")");
  EXPECT_EQ(number(Key::memory, 1536), "1536");
  EXPECT_EQ(number(Key::memory, 2048), R"("2k")");
  EXPECT_EQ(number(Key::output_limit, 0), "0");
  EXPECT_EQ(number(Key::pids_limit, 512), "512");
  EXPECT_EQ(number(Key::cpus, 2000), "2");
  EXPECT_EQ(number(Key::cpus, 1500), "1.5");
  EXPECT_EQ(number(Key::cpus, 10), "0.01");
  EXPECT_EQ(number(Key::timeout, 600000), R"("10m")");
  EXPECT_EQ(number(Key::timeout, 1500), R"("1500ms")");
  EXPECT_EQ(value_text(Key::memory, {.value = Unlimited{}}), R"("unlimited")");
  EXPECT_EQ(value_text(Key::memory, {}), "");
  EXPECT_EQ(value_text(Key::debug, {.value = true}), "true");
  EXPECT_EQ(value_text(Key::vm, {.value = false}), "false");
  EXPECT_EQ(value_text(Key::network, {.value = "none"}), R"("none")");
  EXPECT_EQ(value_text(Key::workspace, {.value = "/a$b"}), R"("/a$$b")");
  EXPECT_EQ(value_text(Key::hidden_paths, {}), "[]");
  EXPECT_EQ(value_text(Key::hidden_paths, {.items = {{.text = "~/a", .path = "/home/ann/a"},
                                                     {.text = "b", .if_missing = Missing::skip}}}),
            R"(["~/a", "b?"])");
  EXPECT_EQ(value_text(Key::env_set, {}), "{}");
  EXPECT_EQ(value_text(Key::env_set,
                       {.items = {{.text = "A", .value = "1"}, {.text = "B", .value = "\""}}}),
            R"({ A = "1", B = "\"" })");
}

// Every key, in the order and the places a person expects.
constexpr std::string_view kEverything = R"([sandbox]
mode = "enabled"
owner_bypass = false
view = "host"
home = "claude"
show_home = true
hide_secrets = false
writable_paths = ["~/w", "src?", "$DATA/*.o?"]
readable_paths = ["/opt"]
hidden_paths = []
overlay_paths = ["/o"]
tmpfs_paths = ["/t"]
protected_paths = ["/p"]
allow_guarded = [".envrc", "~/.bashrc"]
sockets = ["~/x.sock", "$DATA/y.sock"]
memory = "2g"
pids_limit = 512
cpus = 1.5
tmp_size = 5000
open_files = 100
file_size = "1g"
timeout = "10m"
output_limit = 0
debug = false
as_root = true
hostname = "box"
time_offset = -60
terminal = "raw"
containers = true
vm = false
backend = "bwrap"
base_image = "ubuntu:24.04"
auto_commit = true
cache_volumes = ["cargo", "pip"]
share_caches = ["npm"]
unsafe = ["host_network", "control_sockets"]
require = ["landlock", "proc"]
best_effort = ["limits"]

[sandbox.network]
mode = "full"
allow = ["example.com:443", "*.org"]
deny = ["10.0.0.0/8"]
udp = ["10.0.0.0/8:53", "[fd00::/8]:5000"]
publish = ["127.0.0.1:8080:80", "[::1]:8080:80"]
host_ports = [5432, 6379]
mptcp = true

[sandbox.env]
pass = ["TERM"]
set = { A = "1", B = "\u001B" }
unsafe = ["LD_PRELOAD"]
)";

TEST(TomlWriterTest, EverythingIsWrittenInOrder) {
  const Outcome outcome = read(kEverything);
  EXPECT_EQ(outcome.findings, Findings{});
  EXPECT_EQ(outcome.settings.size(),
            keys().size() - 3);  // not the workspace, nor the organisation's own
  EXPECT_EQ(to_toml(outcome.settings), kEverything);
}

TEST(TomlWriterTest, LongListsAreBroken) {
  const std::string text = R"([sandbox]
hidden_paths = [
  "/a-rather-long-name-of-a-folder/and-another-one/number-one",
  "/a-rather-long-name-of-a-folder/and-another-one/number-two?",
]
)";
  const Outcome outcome = read(text);
  EXPECT_EQ(outcome.findings, Findings{});
  EXPECT_EQ(to_toml(outcome.settings), text);
}

// A group stays the group that was written, so that it means what a later version of coop lists.
TEST(TomlWriterTest, AGroupOfHostsIsWrittenAsOne) {
  const std::string text = R"([sandbox]

[sandbox.network]
mode = "allowlist"
allow = ["@rust", "example.com", "@github:22"]
deny = ["@npm"]
)";
  const Outcome outcome = read(text);
  EXPECT_EQ(outcome.findings, Findings{});
  EXPECT_EQ(to_toml(outcome.settings), text);
}

// A part of a group is not the group.
TEST(TomlWriterTest, WhatIsLeftOfAGroupIsWrittenAsHosts) {
  Settings settings = read("[sandbox.network]\nallow = [\"@bitbucket\"]").settings;
  std::vector<Item>& items = settings.at(Key::network_allow).items;
  items.erase(items.begin());
  EXPECT_EQ(value_text(Key::network_allow, settings.at(Key::network_allow)),
            R"(["bitbucket.org:22", "api.bitbucket.org"])");
}

TEST(TomlWriterTest, WhatIsWrittenReadsBackAsTheSame) {
  const std::vector<std::string_view> documents{
      "",
      "[sandbox]",
      kEverything,
      "[sandbox]\nnetwork = \"none\"",
      "[sandbox]\nnetwork = \"allowlist\"",
      "[sandbox.network]\nallow = []",
      "[sandbox.network]\ndeny = [\"A.ORG\"]",
      "[sandbox.network]\nmode = \"host\"\ndeny = []",
      "[sandbox.network]\nmode = \"none\"\nallow = [\"[::1]:80\", \"fd00::/8\"]",
      "[sandbox.env]\nset = {}",
      "[sandbox.env.set]\nA = '''\n\"quotes\" \\ and\n\tlines'''\nB = \"\\u0085\\u202e\"",
      "[sandbox]\nenv.pass = []\nenv.unsafe = [\"A\"]",
      "[sandbox]\nmemory = \"1.5g\"\ntmp_size = 4097\noutput_limit = \"3t\"",
      "[sandbox]\nmemory = 4611686018427387904\ntimeout = \"1.001s\"",
      "[sandbox]\nmemory = \"unlimited\"\npids_limit = \"unlimited\"\ncpus = \"unlimited\"\n"
      "timeout = \"unlimited\"",
      "[sandbox]\ncpus = 0.011\npids_limit = 2\ntimeout = \"1ms\"",
      "[sandbox]\ncpus = 999999.999\npids_limit = 4194304\ntimeout = \"8784h\"",
      "[sandbox]\ncpus = 1000000",
      "[sandbox]\ncpus = 0.29",
      "[sandbox]\nreadable_paths = ['~', '~?', '$STAR', '/a?[?]?', '/$$HOME', './~x', '[!a-c]']",
      "[sandbox]\nhidden_paths = [\"/with \\\"quotes\\\"\", \"/new\\nline\", \"/b\u00fc\"]",
      "[sandbox]\nrequire = []\nbest_effort = [\"proc\", \"proc\"]",
      "[sandbox]\ncache_volumes = [\"go\", \"go\"]\nunsafe = []",
      "[sandbox.network]\nallow = [\"github.com\", \"@GitHub\", \"@rust\", \"@github:22\", "
      "\"@github\", \"@github\"]\ndeny = [\"@npm:8080\", \"@github:22\"]",
  };
  for (const std::string_view document : documents) {
    const Outcome first = read(document);
    ASSERT_EQ(first.findings, Findings{}) << document;
    const std::string text = to_toml(first.settings);
    const Outcome second = read(text);
    EXPECT_EQ(second.findings, Findings{}) << text;
    EXPECT_EQ(without_origins(second.settings), without_origins(first.settings)) << text;
    EXPECT_EQ(to_toml(second.settings), text);
  }
}

// `coop policy show` prints a policy file, with and without origins.
TEST(TomlWriterTest, WhatIsShownReadsBackAsTheSame) {
  using report::Defaults;
  using report::Origins;
  for (const std::string_view document :
       {kEverything, std::string_view("[sandbox.env]\nset = { A = \"b\\nc\" }"),
        std::string_view("[sandbox]\nbest_effort = [\"proc\"]\nhidden_paths = [\"/new\\nline\"]"),
        std::string_view("[sandbox.network]\nallow = [\"@npm\", \"@bitbucket:22\"]")})
    for (const Origins origins : {Origins::left_out, Origins::shown}) {
      const Outcome first = read(document);
      const std::string text = report::settings_text(first.settings, origins, Defaults::left_out);
      const Outcome second = read(text);
      EXPECT_EQ(second.findings, Findings{}) << text;
      EXPECT_EQ(without_origins(second.settings), without_origins(first.settings)) << text;
      const Outcome whole = read(report::settings_text(first.settings, origins, Defaults::shown));
      EXPECT_EQ(whole.findings, Findings{});
      EXPECT_GT(whole.settings.size(), 40U);
      for (const auto& [key, setting] : without_origins(first.settings))
        EXPECT_EQ(without_origins(whole.settings).at(key), setting) << info(key).name;
    }
}

// Defaults too: what holds where nothing is set, and not the name of an image that is empty.
TEST(TomlWriterTest, TheDefaultsThatAreShownAreAPolicyFile) {
  const Outcome defaults =
      read(report::settings_text({}, report::Origins::shown, report::Defaults::shown));
  EXPECT_EQ(defaults.findings, Findings{});
  for (const auto& [key, setting] : defaults.settings)
    if (!is_list(key)) EXPECT_EQ(setting.value, built_in(key)) << info(key).name;
}

TEST(TomlWriterTest, OldSpellingsAndAWorkspaceReadBackFromAConfiguration) {
  for (const Shape shape : {Shape::config, Shape::override}) {
    const Outcome first =
        read(shape == Shape::config
                 ? "[sandbox]\nworkspace = \"$AGAIN/w*?\"\nenabled = true\nnetwork = "
                   "\"bridge\"\npids = 3"
                 : "[sandbox]\nimage = \"a\"\nallow_network = true\npids = 3\nmemory = \"\"",
             shape);
    ASSERT_EQ(first.findings, Findings{});
    const Outcome second = read(to_toml(first.settings), shape);
    EXPECT_EQ(second.findings, Findings{}) << to_toml(first.settings);
    EXPECT_EQ(without_origins(second.settings), without_origins(first.settings));
    EXPECT_EQ(first.settings.size(), shape == Shape::config ? 4U : 3U);
  }
}

}  // namespace
}  // namespace coop::policy
