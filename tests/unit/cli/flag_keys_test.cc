// Every flag of `coop run` that grants something has a key by which an organisation bounds it.
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "cli/flags.h"
#include "golden/golden.h"
#include "policy/settings/read_values.h"
#include "run_options.h"

namespace coop::cli {
namespace {

// The same words with and without the ceiling.
struct Bounded {
  std::string_view flag;
  std::vector<std::string> words;
  std::string_view ceiling;
};

const std::vector<Bounded>& all_bounded() {
  static const std::vector<Bounded> kAll{
      {"--workspace", {"--workspace", "/home/ann/work"}, "workspaces = [\"/srv\"]"},
      {"--view", {"--view", "host"}, "view = \"minimal\""},
      {"--home", {"--home", "claude"}, "home = \"ephemeral\""},
      {"--home", {"--home", "claude"}, "home = \"codex\""},
      {"--home", {"--home", "workspace"}, "home = \"ephemeral\""},
      {"--show-home", {"--view", "host", "--show-home"}, "show_home = false"},
      {"--rw", {"--rw", "/opt"}, "writable_paths = []"},
      {"--ro", {"--ro", "/opt"}, "readable_paths = []"},
      {"--overlay", {"--overlay", "/opt"}, "readable_paths = []\noverlay_paths = []"},
      {"--tmpfs", {"--tmpfs", "/opt"}, "tmpfs_paths = []"},
      {"--tmpfs", {"--tmpfs", "build"}, "tmpfs_paths = [\"/opt\"]"},
      {"--tmpfs", {"--tmpfs", "/srv/../opt"}, "tmpfs_paths = [\"/srv\"]"},
      {"--cache", {"--cache", "cargo"}, "cache_volumes = []"},
      {"--share-cache", {"--share-cache", "cargo"}, "share_caches = []"},
      {"--allow-guarded", {"--allow-guarded", ".envrc"}, "allow_guarded = [\".git/config\"]"},
      {"--as-root", {"--as-root"}, "as_root = false"},
      {"--env", {"--env", "COLOUR=1"}, "env = { names = [\"CI_*\"] }"},
      {"--env", {"--env", "COLOUR=1"}, "env = { set = { COLOUR = \"2\" } }"},
      {"--pass-env", {"--pass-env", "COLOUR"}, "env = { names = [\"CI_*\"] }"},
      {"--pass-env", {"--pass-env", "COLOUR"}, "env = { pass = [] }"},
      {"--unsafe-env", {"--unsafe-env", "LD_PRELOAD"}, "env = { unsafe = [] }"},
      {"--hostname", {"--hostname", "box"}, "hostname = \"\""},
      {"--time-offset", {"--time-offset", "-60"}, "time_offset = 59"},
      {"--debug", {"--debug"}, "debug = false"},
      {"--network", {"--network", "full"}, "network = \"allowlist\""},
      {"--allow-network", {"--allow-network"}, "network = \"allowlist\""},
      {"--allow-net", {"--allow-net", "a.example"}, "network = { allow = [\"b.example\"] }"},
      {"--allow-udp", {"--allow-udp", "10.0.0.1:53"}, "network = { udp = [] }"},
      {"--publish", {"--publish", "127.0.0.1:8080:80"}, "network = { publish = [] }"},
      {"--publish", {"--publish", "127.0.0.1:8080:80"}, "network = \"none\""},
      {"--mptcp", {"--mptcp"}, "network = { mptcp = false }"},
      {"--host-port", {"--host-port", "5432"}, "network = { host_ports = [] }"},
      {"--socket", {"--socket", "/srv/a.sock"}, "sockets = []"},
      {"--unsafe", {"--unsafe", "control_sockets"}, "unsafe = []"},
      {"--terminal", {"--terminal", "raw"}, "terminal = \"filtered\""},
      {"--memory", {"--memory", "2g"}, "memory = \"1g\""},
      {"--pids", {"--pids", "20"}, "pids_limit = 10"},
      {"--cpus", {"--cpus", "2"}, "cpus = 1"},
      {"--tmp-size", {"--tmp-size", "2g"}, "tmp_size = \"1g\""},
      {"--open-files", {"--open-files", "20"}, "open_files = 10"},
      {"--file-size", {"--file-size", "unlimited"}, "file_size = \"1g\""},
      {"--timeout", {"--timeout", "2m"}, "timeout = \"1m\""},
      {"--output-limit", {"--output-limit", "2m"}, "output_limit = \"1m\""},
      {"--best-effort", {"--best-effort", "landlock"}, "require = [\"landlock\"]"},
  };
  return kAll;
}

policy::Settings ceiling_of(std::string_view text) {
  policy::Findings findings;
  policy::Settings settings = policy::read_policy(
      "[sandbox]\n" + std::string(text) + "\n",
      {.file = "/etc/coop/policy.toml", .scope = Scope::organisation}, findings);
  EXPECT_TRUE(findings.empty()) << text << ": " << to_text(findings.front());
  return settings;
}

Result<request::Resolved> resolved(const Bounded& row, std::vector<policy::Layer> files) {
  std::vector<std::string> words = row.words;
  words.insert(words.end(), {"--", "true"});
  const Options options = TRY(parse(words));
  return request::resolve_layers(
      std::move(files), policy::Approval::none, options.wanted,
      HostFacts{.home = "/home/ann", .working_directory = "/home/ann/work"}, "/home/ann/work");
}

TEST(FlagKeysTest, EveryFlagHasAKeyOrAReasonWhyItNeedsNone) {
  for (const Flag& flag : flags()) {
    EXPECT_NE(flag.keys.empty(), flag.no_key.empty()) << flag.name;
    for (const std::string_view key : policy::split_words(flag.keys))
      EXPECT_NE(std::ranges::find(policy::keys(), key, &policy::KeyInfo::name),
                policy::keys().end())
          << flag.name << ": " << key;
  }
}

TEST(FlagKeysTest, TheOrganisationBoundsEveryFlagThatHasAKey) {
  for (const Flag& flag : flags())
    if (!flag.keys.empty())
      EXPECT_NE(std::ranges::find(all_bounded(), flag.name, &Bounded::flag), all_bounded().end())
          << flag.name << " is not tried";
  for (const Bounded& row : all_bounded()) {
    EXPECT_TRUE(resolved(row, {}).has_value()) << row.flag;  // control
    const Result<request::Resolved> bounded =
        resolved(row, {{Scope::organisation, ceiling_of(row.ceiling)}});
    if (row.flag == "--workspace") {  // the planner knows where it really is
      ASSERT_TRUE(bounded.has_value());
      EXPECT_EQ(bounded->policy.bounds.workspaces, std::vector<Path>{"/srv"});
      continue;
    }
    ASSERT_FALSE(bounded.has_value()) << row.flag << " with " << row.ceiling;
    EXPECT_THAT(to_text(bounded.error()), testing::HasSubstr("beyond the organisation's"))
        << row.flag;
  }
}

// Options of sdk/typescript are flags by name.
TEST(FlagKeysTest, TypeScriptHasTheSameOptions) {
  std::ifstream file(COOP_SOURCE_DIRECTORY "/sdk/typescript/src/policy.ts");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  ASSERT_THAT(source, testing::HasSubstr("export interface PolicyOptions {"));
  const auto option_of = [](std::string_view flag) {
    std::string option;
    for (const char letter : flag.substr(2))
      if (option.ends_with('-')) option.back() = static_cast<char>(letter - 'a' + 'A');
      else option += letter;
    return option;
  };
  const std::set<std::string_view> others{
      // Arguments of their own, which are no policy.
      "--workspace", "--chdir", "--config", "--as", "--as-self", "--agent", "--group", "--channel",
      "--cron",
      // The terminal and what coop prints: the package has pipes and reads JSON.
      "--terminal", "--tty", "--no-tty", "--json", "--quiet", "--verbose", "--log-format", "--help",
      // The default; or refused in this version.
      "--debug", "--static", "--allow-network", "--mode", "--containers", "--vm", "--allow-kvm"};
  for (const Flag& flag : flags())
    if (!others.contains(flag.name))
      EXPECT_THAT(source, testing::HasSubstr("  " + option_of(flag.name) + "?: ")) << flag.name;
}

TEST(FlagKeysTest, AWildcardThatPassesNothingIsNoted) {
  const Options options = *parse(
      std::vector<std::string>{"--pass-env", "OPENAI_*", "--pass-env", "LD_*", "--", "true"});
  const HostFacts facts{.home = "/home/ann",
                        .working_directory = "/home/ann/work",
                        .environment = {{"ANTHROPIC_API_KEY", "k"}, {"LD_PRELOAD", "l"}}};
  const Result<request::Resolved> resolved =
      request::resolve_layers({}, policy::Approval::none, options.wanted, facts, "/home/ann/work");
  ASSERT_TRUE(resolved.has_value()) << to_text(resolved.error());
  EXPECT_THAT(resolved->policy.notes,
              testing::ElementsAre(testing::HasSubstr("\"OPENAI_*\" passes nothing"),
                                   testing::HasSubstr("\"LD_*\" passes nothing")));
}

TEST(FlagKeysTest, AWildcardPassesTheVariablesThatMatchAndInjectNothing) {
  const Options options = *parse(
      std::vector<std::string>{"--pass-env", "ANTHROPIC_*", "--pass-env", "LD*", "--", "true"});
  const HostFacts facts{.home = "/home/ann",
                        .working_directory = "/home/ann/work",
                        .environment = {{"ANTHROPIC_API_KEY", "k"},
                                        {"ANTHROPIC_BASE_URL", "u"},
                                        {"LDAP_HOST", "h"},
                                        {"LD_PRELOAD", "l"},
                                        {"OTHER", "o"}}};
  const auto with = [&](std::vector<policy::Layer> files) {
    return request::resolve_layers(std::move(files), policy::Approval::none, options.wanted, facts,
                                   "/home/ann/work");
  };
  const Result<request::Resolved> all = with({});
  ASSERT_TRUE(all.has_value()) << to_text(all.error());
  EXPECT_EQ(all->policy.pass_environment,
            (std::vector<std::string>{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "LDAP_HOST"}));
  EXPECT_THAT(all->policy.notes, testing::IsEmpty());
  // The organisation's list is compared with each of them.
  EXPECT_TRUE(
      with({{Scope::organisation, ceiling_of("env = { names = [\"A*\", \"L*\"] }")}}).has_value());
  EXPECT_FALSE(
      with({{Scope::organisation, ceiling_of("env = { names = [\"ANTHROPIC_API_KEY\"] }")}})
          .has_value());
}

TEST(FlagKeysTest, WordsOfLaterVersionsAreKnown) {
  const auto of = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--", "true"});
    const Result<Options> options = parse(words);
    return options ? "accepted" : to_text(options.error());
  };
  EXPECT_EQ(of({"--mode", "static"}), "accepted");
  EXPECT_EQ(of({"--static"}), "accepted");
  EXPECT_EQ(of({"--allow-network"}), "accepted");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--mode", "dynamic"}, {"--containers"}, {"--vm"}, {"--allow-kvm"}})
    EXPECT_THAT(of(words), testing::HasSubstr("not in this version"));
}

TEST(FlagKeysTest, WhatTheOrganisationAllowsStaysAllowed) {
  const std::vector<Bounded> rows{
      {"--tmpfs", {"--tmpfs", "/opt/a"}, "tmpfs_paths = [\"/opt\"]"},
      {"--allow-guarded", {"--allow-guarded", ".envrc"}, "allow_guarded = [\".envrc\"]"},
      {"--env", {"--env", "CI_JOB=1"}, "env = { names = [\"CI_*\"] }"},
      {"--env", {"--env", "COLOUR=2"}, "env = { names = [], set = { COLOUR = \"2\" } }"},
      {"--pass-env", {"--pass-env", "COLOUR"}, "env = { names = [], pass = [\"COLOUR\"] }"},
      {"--hostname", {"--hostname", "box"}, "hostname = \"box\""},
      {"--time-offset", {"--time-offset", "-60"}, "time_offset = 60"},
      {"--open-files", {"--open-files", "10"}, "open_files = 10"},
  };
  for (const Bounded& row : rows) {
    const Result<request::Resolved> within =
        resolved(row, {{Scope::organisation, ceiling_of(row.ceiling)}});
    EXPECT_TRUE(within.has_value()) << row.flag << ": " << to_text(within.error());
  }
}

std::string key_table() {
  std::string text = "| Flag | Key |\n|---|---|\n";
  for (const Flag& flag : flags()) {
    std::string keys;
    for (const std::string_view key : policy::split_words(flag.keys))
      keys += (keys.empty() ? "`" : ", `") + std::string(key) + "`";
    text += "| `" + std::string(flag.name) + "` | " +
            (keys.empty() ? "none: " + std::string(flag.no_key) : keys) + " |\n";
  }
  return text;
}

TEST(FlagKeysTest, TheGuideHasTheTableOfFlagsAndKeys) {
  const std::string path = std::string(COOP_SOURCE_DIRECTORY) + "/docs/guides/policy-files.md";
  const std::string begin = "<!-- flags and keys -->\n";
  const std::string guide = test::contents_of(path);
  const std::size_t from = guide.find(begin);
  ASSERT_NE(from, std::string::npos);
  const std::size_t start = from + begin.size();
  const std::size_t end = guide.find("<!-- end -->", start);
  ASSERT_NE(end, std::string::npos);
  const char* update = std::getenv("COOP_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream(path, std::ios::binary)
        << guide.substr(0, start) + key_table() + guide.substr(end);
    return;
  }
  EXPECT_EQ(guide.substr(start, end - start), key_table())
      << "COOP_UPDATE_GOLDEN=1 rewrites the table";
}

}  // namespace
}  // namespace coop::cli
