// Reading [sandbox]: every key, good and bad, in each of its three shapes.
#include "policy/settings/settings.h"

#include <gmock/gmock.h>

#include "report/text.h"
#include "settings_support.h"

namespace coop::policy {
namespace {

using testing_support::Outcome;
using testing_support::read;
using testing_support::source_of;
using testing_support::without_origins;

Setting scalar(Scalar value) { return {.value = std::move(value)}; }
Setting texts(const std::vector<std::string>& items) {
  Setting setting;
  for (const std::string& text : items) setting.items.push_back({.text = text});
  return setting;
}
Setting hosts(const std::vector<std::string>& items) {
  Setting setting;
  for (const std::string& text : items)
    setting.items.push_back({.text = text, .destination = parse_destination(text).value()});
  return setting;
}
Setting path_list(std::vector<Item> items) { return {.items = std::move(items)}; }

struct Good {
  std::string_view line;
  Settings settings;
};

void expect_good(const std::vector<Good>& cases, Shape shape) {
  for (const Good& good : cases) {
    const Outcome outcome = read("[sandbox]\n" + std::string(good.line) + "\n", shape);
    EXPECT_EQ(outcome.findings, Findings{}) << good.line;
    EXPECT_EQ(without_origins(outcome.settings), good.settings) << good.line;
  }
}

TEST(SettingsTest, EveryKeyIsRead) {
  expect_good(
      {
          {"mode = \"disabled\"", {{Key::mode, scalar("disabled")}}},
          {"view = \"host\"", {{Key::view, scalar("host")}}},
          {"writable_paths = [\"~/w\", \"src?\"]",
           {{Key::writable_paths,
             path_list({{.text = "~/w", .path = "/home/ann/w"},
                        {.text = "src", .path = "/base/src", .if_missing = Missing::skip}})}}},
          {"readable_paths = [\"/opt/*\"]",
           {{Key::readable_paths,
             path_list({{.text = "/opt/*", .path = "/opt/*", .pattern = true}})}}},
          {"hidden_paths = []", {{Key::hidden_paths, {}}}},
          {"overlay_paths = [\"$DATA\"]",
           {{Key::overlay_paths, path_list({{.text = "$DATA", .path = "/data"}})}}},
          {"protected_paths = [\"/a\"]",
           {{Key::protected_paths, path_list({{.text = "/a", .path = "/a"}})}}},
          {"network = \"veth\"", {{Key::network, scalar("veth")}}},
          {"network = { mode = \"full\", deny = [\"10.0.0.0/8\"] }",
           {{Key::network, scalar("full")}, {Key::network_deny, hosts({"10.0.0.0/8"})}}},
          {"network = { allow = [\"Example.COM:8443\", \"*.pypi.org\"] }",
           {{Key::network, scalar("allowlist")},
            {Key::network_allow, hosts({"example.com:8443", "*.pypi.org"})}}},
          {"network.allow = []",
           {{Key::network, scalar("allowlist")}, {Key::network_allow, texts({})}}},
          {"network = {}", {}},
          {"memory = \"2g\"", {{Key::memory, scalar(std::uint64_t{2} << 30)}}},
          {"memory = 5000000", {{Key::memory, scalar(std::uint64_t{5000000})}}},
          {"memory = \"unlimited\"", {{Key::memory, scalar(Unlimited{})}}},
          {"pids_limit = 512", {{Key::pids_limit, scalar(std::uint64_t{512})}}},
          {"pids_limit = \"unlimited\"", {{Key::pids_limit, scalar(Unlimited{})}}},
          {"cpus = 4", {{Key::cpus, scalar(std::uint64_t{4000})}}},
          {"cpus = 1.5", {{Key::cpus, scalar(std::uint64_t{1500})}}},
          {"cpus = 0.01", {{Key::cpus, scalar(std::uint64_t{10})}}},
          {"cpus = \"0.25\"", {{Key::cpus, scalar(std::uint64_t{250})}}},
          {"cpus = \"unlimited\"", {{Key::cpus, scalar(Unlimited{})}}},
          {"tmp_size = \"64k\"", {{Key::tmp_size, scalar(std::uint64_t{65536})}}},
          {"timeout = \"1h30m\"", {{Key::timeout, scalar(std::uint64_t{5400000})}}},
          {"timeout = 10", {{Key::timeout, scalar(std::uint64_t{10000})}}},
          {"timeout = \"unlimited\"", {{Key::timeout, scalar(Unlimited{})}}},
          {"output_limit = 0", {{Key::output_limit, scalar(std::uint64_t{0})}}},
          {"show_home = true", {{Key::show_home, scalar(true)}}},
          {"hide_secrets = true", {{Key::hide_secrets, scalar(true)}}},
          {"debug = false", {{Key::debug, scalar(false)}}},
          {"containers = true", {{Key::containers, scalar(true)}}},
          {"vm = true", {{Key::vm, scalar(true)}}},
          {"env = { pass = [\"TERM\"], set = { A = \"1\", B = \"\" }, unsafe = [\"LD_PRELOAD\"] }",
           {{Key::env_pass, texts({"TERM"})},
            {Key::env_set, {.items = {{.text = "A", .value = "1"}, {.text = "B", .value = ""}}}},
            {Key::env_unsafe, texts({"LD_PRELOAD"})}}},
          {"backend = \"sandbox-exec\"", {{Key::backend, scalar("sandbox-exec")}}},
          {"base_image = \"registry.example/my-org/x:1@sha256:ab\"",
           {{Key::base_image, scalar("registry.example/my-org/x:1@sha256:ab")}}},
          {"auto_commit = true", {{Key::auto_commit, scalar(true)}}},
          {"cache_volumes = [\"cargo\", \"pip\", \"npm\"]",
           {{Key::cache_volumes, texts({"cargo", "pip", "npm"})}}},
          {"share_caches = [\"cargo\"]", {{Key::share_caches, texts({"cargo"})}}},
          {"require = [\"landlock\", \"limits\"]\nbest_effort = [\"proc\"]",
           {{Key::landlock, scalar("required")},
            {Key::proc, scalar("best_effort")},
            {Key::limits, scalar("required")}}},
          {"unsafe = [\"host_network\", \"control_sockets\"]",
           {{Key::unsafe_grants, texts({"host_network", "control_sockets"})}}},
      },
      Shape::policy_file);
}

TEST(SettingsTest, ConfigurationsHaveOldSpellingsAndAWorkspace) {
  expect_good({{"workspace = \"~/a$$b?\"", {{Key::workspace, scalar("/home/ann/a$b?")}}},
               {"enabled = true", {{Key::mode, scalar("enabled")}}},
               {"enabled = false", {{Key::mode, scalar("disabled")}}},
               {"enabled = true\nmode = \"enabled\"", {{Key::mode, scalar("enabled")}}},
               {"allow_network = true", {{Key::network, scalar("full")}}},
               {"allow_network = false", {{Key::network, scalar("none")}}},
               {"network = \"bridge\"", {{Key::network, scalar("full")}}},
               {"network = \"bridge\"\nallow_network = true", {{Key::network, scalar("full")}}},
               {"network.mode = \"bridge\"", {{Key::network, scalar("full")}}},
               {"pids = 7", {{Key::pids_limit, scalar(std::uint64_t{7})}}},
               {"pids = 7\npids_limit = 7", {{Key::pids_limit, scalar(std::uint64_t{7})}}},
               {"image = \"a\"", {{Key::base_image, scalar("a")}}}},
              Shape::config);
}

TEST(SettingsTest, OverridesHaveFewKeysAndSkipWhatIsEmpty) {
  expect_good({{"image = \"a:1\"\nnetwork = \"bridge\"\nmemory = \"4g\"\ncpus = 2\npids = 9",
                {{Key::network, scalar("full")},
                 {Key::memory, scalar(std::uint64_t{4} << 30)},
                 {Key::pids_limit, scalar(std::uint64_t{9})},
                 {Key::cpus, scalar(std::uint64_t{2000})},
                 {Key::base_image, scalar("a:1")}}},
               {"base_image = \"b\"\nallow_network = true\npids_limit = 2",
                {{Key::network, scalar("full")},
                 {Key::pids_limit, scalar(std::uint64_t{2})},
                 {Key::base_image, scalar("b")}}},
               {"image = \"\"\nnetwork = \"\"\nmemory = \"\"\ncpus = \"\"\npids = \"\"", {}}},
              Shape::override);
}

TEST(SettingsTest, ValuesKnowWhereTheyWereWritten) {
  const Outcome outcome = read(
      "[sandbox]\n"
      "memory = \"2g\"\n"
      "hidden_paths = [\n"
      "  \"/a\",\n"
      "]\n"
      "network = { allow = [\"x.org\"] }\n"
      "env.set.A = \"1\"\n"
      "require = [\"proc\"]\n");
  const auto at = [](int line, int column) {
    return Origin{Scope::user, "p.toml", {line, column}};
  };
  const Settings expected{
      {Key::hidden_paths,
       {.items = {{.text = "/a", .path = "/a", .origin = at(4, 3)}}, .origin = at(3, 1)}},
      {Key::network, {.value = "allowlist", .origin = at(6, 13)}},
      {Key::network_allow,
       {.items = {{.text = "x.org",
                   .destination = parse_destination("x.org").value(),
                   .origin = at(6, 22)}},
        .origin = at(6, 13)}},
      {Key::memory, {.value = std::uint64_t{2} << 30, .origin = at(2, 10)}},
      {Key::env_set,
       {.items = {{.text = "A", .value = "1", .origin = at(7, 9)}}, .origin = at(7, 5)}},
      {Key::proc, {.value = "required", .origin = at(8, 12)}},
  };
  EXPECT_EQ(outcome.findings, Findings{});
  EXPECT_EQ(outcome.settings, expected);
}

TEST(SettingsTest, AGroupIsReadAsItsHostsAndKeepsItsName) {
  const Outcome outcome = read("[sandbox.network]\nallow = [\"@Bitbucket\"]\n");
  const Origin list{Scope::user, "p.toml", {2, 1}};
  const Origin origin{.scope = Scope::user,
                      .file = "p.toml",
                      .at = {2, 10},
                      .name = "@bitbucket",
                      .part = Part::host_group};
  Setting expected = hosts({"bitbucket.org", "bitbucket.org:22", "api.bitbucket.org"});
  expected.origin = list;
  for (Item& item : expected.items) item.origin = origin;
  EXPECT_EQ(outcome.findings, Findings{});
  EXPECT_EQ(outcome.settings.at(Key::network_allow), expected);
  EXPECT_EQ(report::to_text(origin), "p.toml:2 @bitbucket");
}

TEST(SettingsTest, GoodItemsStayWhenOthersAreBad) {
  const Outcome outcome = read("[sandbox]\nhidden_paths = [\"/a\", \"\", 3, \"/b\"]\nvm = 1\n");
  EXPECT_EQ(without_origins(outcome.settings),
            (Settings{{Key::hidden_paths,
                       path_list({{.text = "/a", .path = "/a"}, {.text = "/b", .path = "/b"}})}}));
  EXPECT_EQ(outcome.findings.size(), 3U);
}

TEST(SettingsTest, OriginsHaveAText) {
  EXPECT_EQ(report::to_text(Origin::of_coop()), "built-in");
  EXPECT_EQ(report::to_text(Origin{}), "program");
  EXPECT_EQ(report::to_text(Origin{Scope::organisation, "/etc/coop/policy.toml", {3, 4}}),
            "/etc/coop/policy.toml:3");
  EXPECT_EQ(report::to_text(Origin::of_flag("--memory")), "--memory");
  EXPECT_EQ(report::to_text(Origin{Scope::project, "a\x1b.toml", {1, 1}}), "a\\x1b.toml:1");
}

TEST(SettingsTest, TheTableOfKeysIsWhole) {
  for (const KeyInfo& row : keys()) {
    EXPECT_EQ(&info(row.key), &row);
    EXPECT_FALSE(row.name.empty());
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_TRUE(row.check.starts_with("sandbox_")) << row.name;
    EXPECT_EQ(is_list(row.key), row.initial.text == "[]" || row.initial.text == "{}") << row.name;
  }
}

// The default of each key is a valid value in a file.
TEST(SettingsTest, InitialValuesReadBackAsThemselves) {
  for (const KeyInfo& row : keys()) {
    if (is_list(row.key) || row.initial.text.empty()) continue;
    std::string line;
    if (row.words == "required best_effort")
      line = std::string(row.initial.text == "required" ? "require" : "best_effort") + " = [\"" +
             std::string(row.name) + "\"]";
    else if (row.type == KeyType::boolean || row.type == KeyType::seconds ||
             (row.type == KeyType::count && row.initial.text != "unlimited"))
      line = std::string(row.name) + " = " + std::string(row.initial.text);
    else line = std::string(row.name) + " = \"" + std::string(row.initial.text) + "\"";
    const Outcome outcome = read("[sandbox]\n" + line);
    EXPECT_EQ(outcome.findings, Findings{}) << line;
    ASSERT_TRUE(outcome.settings.contains(row.key)) << line;
    std::string text = value_text(row.key, outcome.settings.at(row.key));
    std::erase(text, '"');
    EXPECT_EQ(text, row.initial.text) << row.name;
  }
}

}  // namespace
}  // namespace coop::policy
