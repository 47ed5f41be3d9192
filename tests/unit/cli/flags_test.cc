// The command line of `run` and `plan`, and that every flag is documented everywhere.
#include "cli/flags.h"

#include <gmock/gmock.h>

#include "cli/usage/usage.h"
#include "policy/policy.h"
#include "run_options.h"

namespace coop::cli {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

Options must_parse(const Words& words) {
  Result<Options> options = parse(words);
  if (options) return *options;
  ADD_FAILURE() << to_text(options.error());
  return {};
}

// What the flags alone amount to.
Policy policy_of(const Options& options) {
  Result<request::Resolved> resolved =
      request::resolve_layers({}, policy::Approval::none, options.wanted,
                              HostFacts{.home = "/home/ann", .working_directory = "/home/ann"}, {});
  if (resolved) return std::move(resolved->policy);
  ADD_FAILURE() << to_text(resolved.error());
  return {};
}

Policy must_mean(const Words& words) { return policy_of(must_parse(words)); }

Error must_refuse(const Words& words) {
  Result<Options> options = parse(words);
  if (!options) return options.error();
  ADD_FAILURE() << "accepted " << testing::PrintToString(words);
  return {};
}

TEST(FlagsTest, RulesKeepTheirOrder) {
  const Options options = must_parse({"--rw", "a", "--hide=b", "--ro", "c?", "--blacklist", "d",
                                      "--overlay", "e", "--tmpfs=f?", "--", "x"});
  const std::string reason = "asked for on the command line";
  const std::vector<PathRule> expected{
      {RuleKind::read_write, "a", Missing::fail, Origin::of_flag("--rw"), reason},
      {RuleKind::hide, "b", Missing::fail, Origin::of_flag("--hide"), reason},
      {RuleKind::read_only, "c", Missing::skip, Origin::of_flag("--ro"), reason},
      {RuleKind::hide, "d", Missing::fail, Origin::of_flag("--hide"), reason},
      {RuleKind::overlay, "e", Missing::fail, Origin::of_flag("--overlay"), reason},
      {RuleKind::tmpfs, "f", Missing::skip, Origin::of_flag("--tmpfs"), reason}};
  EXPECT_EQ(policy_of(options).rules, expected);
  EXPECT_EQ(options.command, Words{"x"});
}

TEST(FlagsTest, TheCommandStartsAtTheFirstWordOrAfterTheDashes) {
  EXPECT_EQ(must_parse({"make", "--rw", "x"}).command, (Words{"make", "--rw", "x"}));
  EXPECT_EQ(must_parse({"--", "--rw", "x"}).command, (Words{"--rw", "x"}));
  EXPECT_EQ(must_parse({"--", "--", "x"}).command, (Words{"--", "x"}));
  EXPECT_EQ(must_parse({"--json", "--", "-c"}).command, Words{"-c"});
  EXPECT_EQ(must_parse({"-", "x"}).command, (Words{"-", "x"}));
  EXPECT_EQ(must_parse({"--json", "--"}).command, Words{});
  EXPECT_EQ(must_parse({}).command, Words{});
  EXPECT_EQ(must_parse({"", "x"}).command, (Words{"", "x"}));
}

TEST(FlagsTest, ValuesComeBehindOrAfterAnEqualsSign) {
  EXPECT_EQ(must_mean({"--env", "A=b=c", "--env=D=", "-e", "E=f"}).set_environment,
            (std::map<std::string, std::string>{{"A", "b=c"}, {"D", ""}, {"E", "f"}}));
  EXPECT_EQ(must_parse({"--workspace=/x=y"}).wanted.workspace, "/x=y");
  EXPECT_EQ(must_parse({"-w", "-odd-name"}).wanted.workspace, "-odd-name");
  EXPECT_EQ(must_mean({"--time-offset", "-5"}).time_offset, -5);
}

TEST(FlagsTest, EveryFlagDoesItsThing) {
  const Options options =
      must_parse({"--view",          "host",        "--as-root",    "--no-debug",
                  "--hostname",      "box-1",       "--chdir",      "/work/../work/src",
                  "--pass-env",      "TOKEN",       "--memory",     "2g",
                  "--pids",          "7",           "--cpus",       "0.5",
                  "--tmp-size",      "1m",          "--open-files", "9",
                  "--file-size",     "3k",          "--timeout",    "1m30s",
                  "--output-limit",  "10",          "--require",    "landlock",
                  "--best-effort",   "proc",        "--tty",        "--json",
                  "--allow-guarded", ".envrc",      "--network",    "host",
                  "--unsafe",        "host_network"});
  Policy expected;
  expected.view = View::host;
  expected.identity = Identity::root;
  expected.debugging = Debugging::denied;
  expected.hostname = "box-1";
  expected.directory = "/work/src";
  expected.pass_environment = {"TOKEN"};
  expected.allow_guarded = {".envrc"};
  expected.network = NetworkMode::host;
  expected.needs = {{Mechanism::landlock, Need::required}, {Mechanism::proc, Need::best_effort}};
  expected.limits = {.memory = 2ULL << 30,
                     .pids = 7,
                     .milli_cpus = 500,
                     .tmp_size = 1 << 20,
                     .open_files = 9,
                     .file_size = 3072,
                     .timeout = std::chrono::seconds(90),
                     .output_limit = 10};
  EXPECT_EQ(policy_of(options), expected);
  EXPECT_EQ(options.terminal, Terminal::always);
  EXPECT_TRUE(options.json);
  EXPECT_THAT(must_mean({"--cache", "npm"}).rules,
              testing::ElementsAre(testing::Field(&PathRule::kind, RuleKind::overlay)));
  EXPECT_THAT(must_mean({"--share-cache", "npm"}).rules,
              testing::ElementsAre(testing::Field(&PathRule::kind, RuleKind::read_write)));
  EXPECT_EQ(must_mean({"--view", "host", "--show-home"}).home_view, HomeView::shown);
  EXPECT_EQ(must_mean({"--hide-secrets"}).workspace_secrets, WorkspaceSecrets::hidden);
}

TEST(FlagsTest, TheLaterOfTwoOppositesWins) {
  EXPECT_EQ(must_mean({"--as-root", "--as-self"}).identity, Identity::self);
  EXPECT_EQ(must_mean({"--no-debug", "--debug"}).debugging, Debugging::allowed);
  EXPECT_EQ(must_mean({"--memory", "1g", "--memory", "unlimited"}).limits.memory, std::nullopt);
  EXPECT_EQ(must_mean({"--pids", "unlimited"}).limits.pids, std::nullopt);
  EXPECT_EQ(must_parse({"--tty", "--no-tty"}).terminal, Terminal::never);
}

TEST(FlagsTest, AnUnknownFlagIsAnErrorWithASuggestion) {
  const Error error = must_refuse({"--netwrok", "none"});
  EXPECT_THAT(to_text(error), HasSubstr("--netwrok"));
  EXPECT_EQ(error.hint, "did you mean --network?");
  EXPECT_EQ(must_refuse({"--completely-different"}).hint, "see `coop run --help`");
  EXPECT_EQ(must_refuse({"-x"}).kind, Error::Kind::invalid);
  EXPECT_EQ(must_refuse({std::string(100000, '-')}).hint, "see `coop run --help`");
  EXPECT_THAT(to_text(must_refuse({"--\x1b]0;x"})), testing::Not(HasSubstr("\x1b")));
}

TEST(FlagsTest, OfTheNamesThatAWordStartsTheShortestIsSuggested) {
  EXPECT_THAT(must_refuse({"--tim", "3"}).hint, HasSubstr("--timeout"));
}

TEST(FlagsTest, MissingAndSuperfluousValuesAreErrors) {
  for (const Flag& flag : flags()) {
    const std::string name(flag.name);
    if (flag.placeholder.empty()) {
      EXPECT_EQ(to_text(must_refuse({name + "=x", "--", "true"})), name + ": takes no value")
          << name;
    } else {
      EXPECT_THAT(to_text(must_refuse({name})), HasSubstr("needs a value")) << name;
      EXPECT_THAT(to_text(must_refuse({name, "--", "true"})), HasSubstr("needs a value")) << name;
    }
  }
}

TEST(FlagsTest, WrongValuesAreErrorsThatNameTheFlag) {
  const Words wrong[] = {{"--view", "all"},
                         {"--network", "open"},
                         {"--allow-net", "*"},
                         {"--deny-net", ""},
                         {"--allow-udp", "example.com:53"},
                         {"--publish", "0:80"},
                         {"--host-port", "http"},
                         {"--socket", ""},
                         {"--unsafe", "everything"},
                         {"--rw", ""},
                         {"--hide", "?"},
                         {"--env", "NAME"},
                         {"--env", "=x"},
                         {"--pass-env", "A=b"},
                         {"--pass-env", ""},
                         {"--hostname", ""},
                         {"--hostname", "a b"},
                         {"--hostname", std::string(64, 'a')},
                         {"--chdir", "src"},
                         {"--memory", "lots"},
                         {"--memory", "0"},
                         {"--pids", "0"},
                         {"--pids", "-1"},
                         {"--pids", "4194305"},
                         {"--cpus", "0"},
                         {"--cpus", "1000001"},
                         {"--tmp-size", "0"},
                         {"--open-files", "0"},
                         {"--open-files", "1073741817"},
                         {"--file-size", "x"},
                         {"--timeout", "0"},
                         {"--timeout", "soon"},
                         {"--output-limit", "-1"},
                         {"--require", "luck"},
                         {"--best-effort", "seccomp"},
                         {"--time-offset", "x"},
                         {"--time-offset", "99999999999999"},
                         {"--workspace", ""}};
  for (const Words& words : wrong) {
    const Error error = must_refuse(words);
    EXPECT_EQ(error.kind, Error::Kind::invalid) << words[0];
    EXPECT_THAT(to_text(error), HasSubstr(words[0]));
  }
}

TEST(FlagsTest, TheHostsNetworkNeedsItsDangerousWord) {
  const Error error = must_refuse({"--network", "host", "--", "true"});
  EXPECT_THAT(error.hint, HasSubstr("--unsafe host_network"));
  EXPECT_EQ(must_mean({"--unsafe", "host_network", "--network", "host"}).network,
            NetworkMode::host);
  EXPECT_EQ(must_mean({"--unsafe", "host_network"}).network,
            NetworkMode::none);  // confirms, does not grant
}

std::string printed(const Words& words) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(main_with(words), 0);
  return testing::internal::GetCapturedStdout();
}

// As a reader sees it: roff writes a minus as \- and an apostrophe as \(aq.
std::string rendered(std::string text) {
  for (std::size_t at = text.find("\\(aq"); at != std::string::npos; at = text.find("\\(aq"))
    text.replace(at, 4, "'");
  std::erase(text, '\\');
  return text;
}

TEST(FlagsTest, EveryFlagIsInTheHelpTheManualAndTheCompletions) {
  const std::string manual = rendered(printed({"man", "coop-run"}));
  const std::string bash = printed({"completion", "bash"});
  const std::string zsh = printed({"completion", "zsh"});
  const std::string fish = printed({"completion", "fish"});
  for (const Flag& flag : flags()) {
    const std::string name(flag.name);
    for (const char* command : {"run", "plan"})
      EXPECT_THAT(help_text(*find_command(command)), HasSubstr("  " + name));
    EXPECT_THAT(manual, HasSubstr(".B " + name));
    EXPECT_THAT(manual, HasSubstr(flag.help));
    EXPECT_THAT(bash, HasSubstr(name));
    EXPECT_THAT(zsh, HasSubstr("'*" + name + (flag.placeholder.empty() ? "[" : "=[")));
    EXPECT_THAT(fish, HasSubstr(" -l " + name.substr(2) + " "));
    if (!flag.alias.empty()) {
      EXPECT_THAT(help_text(*find_command("run")), HasSubstr(", " + std::string(flag.alias)));
    }
  }
}

TEST(FlagsTest, NamesAndAliasesAreUnique) {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags()) {
    names.push_back(flag.name);
    if (!flag.alias.empty()) names.push_back(flag.alias);
    EXPECT_FALSE(flag.help.empty());
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(FlagsTest, HelpFitsATerminal) {
  const std::string help = help_text(*find_command("run"));
  std::size_t start = 0;
  for (std::size_t end = help.find('\n'); end != std::string::npos;
       start = end + 1, end = help.find('\n', start))
    EXPECT_LE(end - start, 102u) << help.substr(start, end - start);
}

}  // namespace
}  // namespace coop::cli
