// The presets of agents: what is shipped keeps its promises, and a mistake in one is a finding with its place.
#include "policy/presets/preset.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "coop/destination.h"
#include "policy/policy.h"
#include "policy/settings/document.h"
#include "unit/support/settings_support.h"

namespace coop::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Surroundings kSurroundings{.home = "/home/ann", .base = "/home/ann/project"};

struct ReadPreset {
  Preset preset{};
  Findings findings{};

  // "made-up:3: message" each.
  std::vector<std::string> found() const {
    std::vector<std::string> lines;
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.severity, Severity::error);
      lines.push_back(line_of(finding.file, finding.at) + ": " + finding.message);
    }
    return lines;
  }
};

ReadPreset read_one(const ShippedPreset& shipped) {
  ReadPreset result;
  result.preset = read_preset(shipped, kSurroundings, result.findings);
  return result;
}

ReadPreset made_up(std::string_view text) { return read_one({"made-up", text}); }

std::vector<Preset> all_presets() {
  std::vector<Preset> presets;
  for (const ShippedPreset& shipped : shipped_presets())
    presets.push_back(read_one(shipped).preset);
  return presets;
}

TEST(ShippedPresetTest, EveryOneIsReadWithoutAFinding) {
  ASSERT_GE(shipped_presets().size(), 10U);
  for (const ShippedPreset& shipped : shipped_presets())
    EXPECT_THAT(read_one(shipped).findings, IsEmpty()) << shipped.name;
}

TEST(ShippedPresetTest, NamesAreSortedAndUniqueAndCanBeNamesOfHomes) {
  const std::vector<std::string_view> names = preset_names();
  const std::set<std::string_view> sorted(names.begin(), names.end());
  EXPECT_THAT(names, testing::ElementsAreArray(sorted));
  for (const std::string_view name : names) {
    EXPECT_TRUE(is_home_name(name)) << name;
    EXPECT_NE(home_of(name).kind, HomeKind::ephemeral) << name;
    EXPECT_NE(home_of(name).kind, HomeKind::workspace) << name;
    // "NAME-project-1a2b3c4d": the longest that a preset's home can be.
    EXPECT_TRUE(is_home_name(std::string(name) + "-" + std::string(24, 'x') + "-1a2b3c4d")) << name;
  }
}

TEST(ShippedPresetTest, EachSaysWhatItIsFor) {
  for (const Preset& preset : all_presets()) {
    EXPECT_FALSE(preset.title.empty()) << preset.name;
    EXPECT_FALSE(preset.commands.empty()) << preset.name;
    EXPECT_FALSE(preset.own_sandbox.empty()) << preset.name;
    EXPECT_FALSE(preset.state.empty()) << preset.name;
    EXPECT_FALSE(preset.login.why.empty()) << preset.name;
    EXPECT_FALSE(preset.hosts.empty()) << preset.name;
    EXPECT_FALSE(items_of(preset.settings, Key::network_allow).empty()) << preset.name;
  }
}

// A reason that is missing is a reason that a reader cannot judge.
TEST(ShippedPresetTest, EachHostAndVariableHasItsReason) {
  for (const ShippedPreset& shipped : shipped_presets()) {
    bool in_list = false;
    bool reason_above = false;
    std::string_view rest = shipped.text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.starts_with("allow = [") || line.starts_with("pass = [")) in_list = true;
      if (line.starts_with("]")) in_list = false;
      if (in_list && line.starts_with("  \"")) {
        EXPECT_TRUE(line.contains(" # ") || reason_above) << shipped.name << ": " << line;
      }
      reason_above = line.starts_with("  #");
    }
  }
}

TEST(ShippedPresetTest, NoCommandBelongsToTwo) {
  std::map<std::string, std::string> owners;
  for (const Preset& preset : all_presets())
    for (const std::string& command : preset.commands) {
      EXPECT_FALSE(command.empty());
      EXPECT_FALSE(command.contains('/')) << command;
      EXPECT_TRUE(owners.emplace(command, preset.name).second)
          << command << ": " << owners[command] << " and " << preset.name;
    }
}

TEST(ShippedPresetTest, CommandsThatManyProgramsHaveAreNotClaimed) {
  for (const char* command : {"sh", "bash", "env", "node", "python", "python3", "git", "npx", "npm",
                              "uv", "cargo", "make", "code", "vim"})
    EXPECT_EQ(preset_for_command(command), nullptr) << command;
}

TEST(ShippedPresetTest, NothingIsGrantedButHostsAndVariables) {
  const std::set<Key> allowed{Key::view,          Key::hostname, Key::network,
                              Key::network_allow, Key::env_pass, Key::env_set};
  for (const Preset& preset : all_presets()) {
    for (const auto& [key, setting] : preset.settings)
      EXPECT_TRUE(allowed.contains(key)) << preset.name << ": " << info(key).name;
    const std::string_view network = word_of(preset.settings, Key::network);
    EXPECT_TRUE(network.empty() || network == "allowlist") << preset.name << ": " << network;
  }
}

TEST(ShippedPresetTest, NoHostIsAWildcardOfEveryName) {
  for (const Preset& preset : all_presets())
    for (const Item& item : items_of(preset.settings, Key::network_allow)) {
      EXPECT_TRUE(item.destination.has_value()) << preset.name << ": " << item.text;
      EXPECT_NE(item.text, "*") << preset.name;
      // "*.com" would be everybody's.
      if (!item.text.starts_with("*.")) continue;
      EXPECT_TRUE(item.text.substr(2).contains('.')) << preset.name << ": " << item.text;
    }
}

TEST(ShippedPresetTest, WhatHasAHostAsAnAllowIsListedByItsPurposeToo) {
  for (const Preset& preset : all_presets()) {
    std::set<std::string> listed(preset.login.hosts.begin(), preset.login.hosts.end());
    for (const PresetHosts& hosts : preset.hosts)
      listed.insert(hosts.hosts.begin(), hosts.hosts.end());
    for (const Item& item : items_of(preset.settings, Key::network_allow))
      EXPECT_TRUE(listed.contains(item.text)) << preset.name << ": " << item.text;
  }
}

// Keys that open a whole cloud account, or load code into the agent, are the user's to pass.
TEST(ShippedPresetTest, NoVariableOpensMoreThanTheModel) {
  const std::set<std::string> refused{"AWS_SECRET_ACCESS_KEY",
                                      "AWS_ACCESS_KEY_ID",
                                      "AWS_SESSION_TOKEN",
                                      "SSH_AUTH_SOCK",
                                      "GOOGLE_APPLICATION_CREDENTIALS",
                                      "LD_PRELOAD",
                                      "NODE_OPTIONS",
                                      "PYTHONPATH",
                                      "HOME",
                                      "PATH"};
  for (const Preset& preset : all_presets())
    for (const Key key : {Key::env_pass, Key::env_set})
      for (const Item& item : items_of(preset.settings, key)) {
        EXPECT_FALSE(refused.contains(item.text)) << preset.name << ": " << item.text;
        EXPECT_FALSE(item.text.contains('*')) << preset.name << ": " << item.text;
      }
}

TEST(ShippedPresetTest, FilesOfTheHomeAreWhatTheirNamesSay) {
  std::size_t checked = 0;
  for (const Preset& preset : all_presets())
    for (const HomeFile& file : preset.files) {
      EXPECT_EQ(file.origin.scope, Scope::preset);
      EXPECT_EQ(file.origin.file, preset.name);
      EXPECT_GT(file.origin.at.line, 0);
      EXPECT_FALSE(file.contents.empty()) << preset.name << ": " << file.path;
      // A login is never shipped.
      EXPECT_FALSE(contains(preset.login.files, file.path)) << preset.name << ": " << file.path;
      const bool json = file.path.ends_with(".json");
      if (!json && !file.path.ends_with(".toml")) continue;
      const bool valid = json ? !parse_json(file.contents).is_discarded()
                              : parse_document(file.contents, file.path).has_value();
      EXPECT_TRUE(valid) << preset.name << ": " << file.path;
      ++checked;
    }
  EXPECT_GT(checked, 0U);
}

// `state` is what a reader removes to forget the agent: settings and logins are in it.
TEST(ShippedPresetTest, FilesAndLoginsLieInWhatTheAgentKeeps) {
  const auto is_kept = [](const Preset& preset, const std::string& file) {
    return std::ranges::any_of(preset.state, [&](const std::string& kept) {
      return file == kept || file.starts_with(kept + "/");
    });
  };
  for (const Preset& preset : all_presets()) {
    for (const HomeFile& file : preset.files)
      EXPECT_TRUE(is_kept(preset, file.path)) << preset.name << ": " << file.path;
    for (const std::string& file : preset.login.files)
      EXPECT_TRUE(is_kept(preset, file)) << preset.name << ": " << file;
  }
}

// Given twice, some programs refuse to start.
TEST(ShippedPresetTest, AddedArgumentsAreNotAddedTwice) {
  for (const Preset& preset : all_presets()) {
    if (preset.arguments.add.empty()) continue;
    EXPECT_TRUE(preset.arguments.add.front().starts_with('-')) << preset.name;
    EXPECT_GT(preset.arguments.origin.at.line, 0) << preset.name;
    EXPECT_FALSE(preset.arguments.unless.empty()) << preset.name;
    for (const std::string& option : preset.arguments.unless)
      EXPECT_TRUE(mentions(std::vector<std::string>{option}, preset.arguments))
          << preset.name << ": " << option;
  }
}

TEST(PresetTest, ACommandHasThePresetThatListsIt) {
  for (const Preset& preset : all_presets())
    for (const std::string& command : preset.commands) {
      ASSERT_NE(preset_for_command(command), nullptr) << command;
      EXPECT_EQ(preset_for_command(command)->name, preset.name) << command;
    }
}

TEST(PresetTest, NoOtherWordHasOne) {
  // The second and third are in quotes in a preset, but are no commands of it.
  for (const char* command :
       {"", "@openai/codex", "danger-full-access", "Codex", "CODEX", "codex ", "codex\"",
        "\"codex\"", "\\u0063odex", ".codex", "cod", "no-such-agent"})
    EXPECT_EQ(preset_for_command(command), nullptr) << command;
  EXPECT_EQ(preset_for_command(std::string_view("codex\0x", 7)), nullptr);
  EXPECT_NE(preset_for_command("codex"), nullptr);  // control
}

TEST(PresetTest, IsFoundByItsWholeNameOnly) {
  ASSERT_NE(find_preset("claude"), nullptr);
  EXPECT_EQ(find_preset("claude")->name, "claude");
  for (const char* name : {"", "clau", "claude-code", "Claude", "claude\n"})
    EXPECT_EQ(find_preset(name), nullptr) << name;
}

constexpr std::string_view kWhole = R"([agent]
title = "Made Up"
commands = ["made", "up"]
packages = ["made-up"]
state = [".made"]
measured = "1.2"
own_sandbox = "none"

[login]
kind = "copy"
why = "A key."
files = [".made/auth.json"]
ports = [1455]
hosts = ["login.made.example"]

[arguments]
add = ["--no-sandbox"]
unless = ["--sandbox", "-s"]

[files]
".made/settings.json" = "{}"

[hosts]
api = ["api.made.example"]

[sandbox]
view = "host"
[sandbox.network]
mode = "allowlist"
allow = ["api.made.example"]
)";

// Columns are the document's, which has tests of its own.
Origin line_only(Origin origin) {
  origin.at.column = 0;
  return origin;
}

Preset without_columns(Preset preset) {
  preset.arguments.origin = line_only(preset.arguments.origin);
  for (HomeFile& file : preset.files) file.origin = line_only(file.origin);
  for (auto& [key, setting] : preset.settings) {
    setting.origin = line_only(setting.origin);
    for (Item& item : setting.items) item.origin = line_only(item.origin);
  }
  return preset;
}

TEST(PresetTest, EveryPartIsRead) {
  const auto at = [](int line) {
    return Origin{.scope = Scope::preset, .file = "made-up", .at = {line, 0}};
  };
  Preset expected{
      .name = "made-up",
      .title = "Made Up",
      .commands = {"made", "up"},
      .packages = {"made-up"},
      .state = {".made"},
      .measured = "1.2",
      .own_sandbox = "none",
      .login = {.kind = LoginKind::copy,
                .why = "A key.",
                .files = {".made/auth.json"},
                .ports = {1455},
                .hosts = {"login.made.example"}},
      .arguments = {.add = {"--no-sandbox"}, .unless = {"--sandbox", "-s"}, .origin = at(16)},
      .files = {{".made/settings.json", "{}", at(21)}},
      .hosts = {{"api", {"api.made.example"}}},
  };
  expected.settings[Key::view] = {.value = std::string("host"), .origin = at(27)};
  expected.settings[Key::network] = {.value = std::string("allowlist"), .origin = at(29)};
  expected.settings[Key::network_allow] = {
      .items = {{.text = "api.made.example",
                 .destination = parse_destination("api.made.example").value(),
                 .origin = at(30)}},
      .origin = at(30)};
  const ReadPreset whole = made_up(kWhole);
  EXPECT_THAT(whole.findings, IsEmpty());
  EXPECT_EQ(without_columns(whole.preset).settings, expected.settings);
  EXPECT_EQ(without_columns(whole.preset), expected);
}

TEST(PresetTest, AnEmptyOneHasNothing) {
  const ReadPreset empty = made_up("");
  EXPECT_THAT(empty.findings, IsEmpty());
  EXPECT_EQ(empty.preset, (Preset{.name = "made-up"}));
}

TEST(PresetTest, WhatIsUnknownIsAFinding) {
  EXPECT_THAT(made_up("[agnet]\ntitle = \"x\"\n").found(),
              ElementsAre("made-up:1: \"agnet\" is unknown"));
  EXPECT_THAT(made_up("[agent]\ntitle = \"x\"\ntitel = \"x\"\n").found(),
              ElementsAre("made-up:3: \"titel\" in [agent] is unknown"));
  EXPECT_THAT(made_up("[login]\nkind = \"copy\"\nport = [1]\n").found(),
              ElementsAre("made-up:3: \"port\" in [login] is unknown"));
  EXPECT_THAT(made_up("[arguments]\nadd = []\nalways = []\n").found(),
              ElementsAre("made-up:3: \"always\" in [arguments] is unknown"));
  const ReadPreset setting = made_up("[sandbox]\n\nviwe = \"host\"\n");
  ASSERT_EQ(setting.findings.size(), 1U);
  EXPECT_EQ(line_of(setting.findings[0].file, setting.findings[0].at), "made-up:3");
}

TEST(PresetTest, AWrongTypeIsAFinding) {
  for (const char* table : {"agent", "login", "arguments", "files", "hosts", "sandbox"})
    EXPECT_THAT(made_up("\n" + std::string(table) + " = 1\n").found(),
                ElementsAre("made-up:2: " + std::string(table) + " must be a table"));
  EXPECT_THAT(made_up("[agent]\ntitle = 1\n").found(),
              ElementsAre("made-up:2: title must be a text"));
  EXPECT_THAT(made_up("[agent]\ncommands = \"made\"\n").found(),
              ElementsAre("made-up:2: commands must be a list"));
  EXPECT_THAT(made_up("[agent]\ncommands = [\n\"made\",\n1]\n").found(),
              ElementsAre("made-up:4: commands must be a list of texts"));
  EXPECT_THAT(made_up("[hosts]\napi = \"a.example\"\n").found(),
              ElementsAre("made-up:2: api must be a list"));
  EXPECT_THAT(
      made_up("[files]\n\".made/x\" = 1\n").found(),
      ElementsAre("made-up:2: \".made/x\" must be a path below the home, with its contents"));
  EXPECT_FALSE(made_up("[agent").findings.empty());
}

// What is found wrong is left out.
TEST(PresetTest, PathsOutsideTheHomeAreFindings) {
  for (const char* path : {"../x", "/etc/passwd", "a/../../x", "..", "a/..", ""}) {
    const std::string quoted = "\"" + std::string(path) + "\"";
    const ReadPreset file = made_up("[files]\n" + quoted + " = \"text\"\n");
    EXPECT_THAT(file.found(), ElementsAre("made-up:2: " + quoted +
                                          " must be a path below the home, with its contents"));
    EXPECT_THAT(file.preset.files, IsEmpty());
    const ReadPreset login = made_up("[login]\nkind = \"copy\"\nfiles = [" + quoted + "]\n");
    ASSERT_EQ(login.findings.size(), 1U) << path;
    EXPECT_EQ(login.findings[0].message, quoted + " is not a path below the home");
    EXPECT_EQ(login.findings[0].file, "made-up");
  }
  EXPECT_THAT(made_up("[files]\n\"a..b/..c\" = \"text\"\n").findings, IsEmpty());  // control
}

TEST(PresetTest, PortsAndKindsAreChecked) {
  for (const char* port : {"0", "65536", "-1", "\"1455\"", "1.5"}) {
    const ReadPreset login =
        made_up("[login]\nkind = \"copy\"\nports = [\n" + std::string(port) + "]\n");
    EXPECT_THAT(login.found(), ElementsAre("made-up:4: ports must be a list of ports")) << port;
    EXPECT_THAT(login.preset.login.ports, IsEmpty()) << port;
  }
  for (const char* port : {"1", "65535"})
    EXPECT_THAT(made_up("[login]\nkind = \"copy\"\nports = [" + std::string(port) + "]\n").findings,
                IsEmpty());
  const ReadPreset kind = made_up("[login]\nkind = \"move\"\n");
  ASSERT_EQ(kind.findings.size(), 1U);
  EXPECT_THAT(kind.findings[0].message, "kind must be \"copy\" or \"fresh\"");
  EXPECT_EQ(line_of(kind.findings[0].file, kind.findings[0].at), "made-up:2");
  EXPECT_EQ(kind.preset.login.kind, LoginKind::fresh) << "the one that copies nothing";
}

bool speak_of(const std::vector<std::string>& words, std::vector<std::string> unless) {
  return mentions(words, {.add = {"-x"}, .unless = std::move(unless)});
}

TEST(MentionsTest, AnOptionInEachOfItsSpellings) {
  EXPECT_TRUE(speak_of({"exec", "--sandbox", "x"}, {"--sandbox"}));
  EXPECT_TRUE(speak_of({"--sandbox=x"}, {"--sandbox"}));
  EXPECT_TRUE(speak_of({"-s", "x"}, {"-s"}));
  EXPECT_TRUE(speak_of({"-sx"}, {"-s"}));
  EXPECT_TRUE(speak_of({"-s=x"}, {"-s"}));
  EXPECT_TRUE(speak_of({"a", "b", "-s"}, {"--other", "-s"}));
}

TEST(MentionsTest, AnotherWordIsNone) {
  EXPECT_FALSE(speak_of({}, {"-s"}));
  EXPECT_FALSE(speak_of({"-s"}, {}));
  EXPECT_FALSE(speak_of({"--sandboxed", "sandbox", "-sandbox", "--no-sandbox"}, {"--sandbox"}));
  EXPECT_FALSE(speak_of({"--s", "--sx", "s", "-", "-x"}, {"-s"}));
  EXPECT_FALSE(speak_of({"-longer"}, {"-long"})) << "only a short option has its value glued to it";
}

TEST(MentionsTest, ANameIsOneWithAValue) {
  // Of programs that take "NAME=VALUE" words: "-c", "sandbox_mode=…".
  EXPECT_TRUE(speak_of({"-c", "sandbox_mode=\"read-only\""}, {"sandbox_mode"}));
  EXPECT_FALSE(speak_of({"-c", "other_sandbox_mode=x"}, {"sandbox_mode"}));
}

TEST(MentionsTest, WhatFollowsADoubleDashIsNoOption) {
  EXPECT_FALSE(speak_of({"--", "--sandbox"}, {"--sandbox"}));
  EXPECT_FALSE(speak_of({"exec", "--", "-sx"}, {"-s"}));
  EXPECT_TRUE(speak_of({"--sandbox", "--", "x"}, {"--sandbox"}));
}

}  // namespace
}  // namespace coop::policy
