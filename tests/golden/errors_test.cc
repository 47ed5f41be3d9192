// What people read when a command line is wrong: a bad value for each flag, and the mistakes of each command.
#include <set>

#include "cli/flags.h"
#include "cli/usage/usage.h"
#include "golden/golden.h"
#include "unit/support/cli_runner.h"
#include "unit/support/temp_tree.h"

namespace coop::test {
namespace {

using Words = std::vector<std::string>;

// Each is refused before a sandbox is planned.
const std::vector<Words> kBadFlags{
    {"--workspace", ""},
    {"--workspace", "nowhere"},
    {"--workspace", "/dev/null"},
    {"--view", "big"},
    {"--rw", ""},
    {"--ro", ""},
    {"--hide", ""},
    {"--overlay", ""},
    {"--tmpfs", ""},
    {"--cache", "carg"},
    {"--share-cache", "pip"},
    {"--home", ".ssh"},
    {"--home", "ephemral"},
    {"--home", "a/b"},
    {"--home", ""},
    {"--preset", ""},
    {"--preset", "clade"},
    {"--import-login"},
    {"--show-home"},
    {"--chdir", "src"},
    {"--env", "NAME"},
    {"--env", "LD_PRELOAD=x"},
    {"--pass-env", "BASH_ENV"},
    {"--pass-env", "NAME=value"},
    {"--pass-env", "A[B"},
    {"--mode", "dynamic"},
    {"--mode", "other"},
    {"--vm"},
    {"--hostname", "two words"},
    {"--time-offset", "soon"},
    {"--terminal", "loud"},
    {"--network", "fast"},
    {"--network", "host"},
    {"--allow-net", "http://example.com"},
    {"--allow-net", "*"},
    {"--allow-net", "@githb"},
    {"--allow-net", "@npm:22"},
    {"--allow-net", "10.0.0.1/8"},
    {"--allow-net", "example.com:99999"},
    {"--deny-net", ""},
    {"--network", "full", "--deny-net", "example.com"},
    {"--allow-udp", "example.com:53"},
    {"--allow-udp", "10.0.0.1"},
    {"--allow-udp", "@npm"},
    {"--publish", "70000"},
    {"--publish", "@npm"},
    {"--publish", "a:b:c:d"},
    {"--host-port", "0"},
    {"--socket", ""},
    {"--unsafe", "everything"},
    {"--memory", "much"},
    {"--memory", "0"},
    {"--memory", "99999999999999999999g"},
    {"--pids", "0"},
    {"--pids", "-1"},
    {"--cpus", "all"},
    {"--tmp-size", "0"},
    {"--open-files", "x"},
    {"--file-size", "2q"},
    {"--timeout", "soon"},
    {"--timeout", "0"},
    {"--timeout", "99999999999999999999h"},
    {"--output-limit", "x"},
    {"--require", "everything"},
    {"--best-effort", "seccomp"},
    {"--config", ""},
    {"--config", "nowhere.toml"},
    {"--as", ""},
    {"--as", "bob", "--channel", "signal:1"},
    {"--channel", ""},
    {"--group"},
    {"--agent", ""},
    {"--cron", ""},
    {"--log-format", "xml"},
    {"--memry", "1g"},
    {"--json=yes"},
    {"--qwertyuiop"},
};

// Flags whose every value is good until a sandbox is planned.
const std::set<std::string> kTakesAnything{"--allow-guarded", "--unsafe-env"};

const std::vector<Words> kBadCommands{
    {"rnu"},
    {"runn"},
    {"--vers"},
    {"--qwertyuiop"},
    {"qwertyuiop"},
    {"help", "nothing"},
    {"plan", "--nope"},
    {"run"},
    {"run", "--"},
    {"policy", "shwo"},
    {"policy", "show", "--orign"},
    {"policy", "show", "twice"},
    {"policy", "check", "a", "b"},
    {"policy", "check", "nowhere.toml"},
    {"policy", "explain"},
    {"policy", "explain", "a", "b"},
    {"policy", "explain", "@npm"},
    {"policy", "hosts", "npx"},
    {"policy", "diff", "user"},
    {"policy", "diff", "user", "nowhere.toml"},
    {"policy", "export", "--scope", "usr"},
    {"policy", "export", "--scope"},
    {"policy", "import"},
    {"policy", "import", "nowhere.toml"},
    {"policy", "approve"},
    {"policy", "schema", "now"},
    {"policy", "show", "-w", "nowhere"},
    {"trust"},
    {"trust", "terminal:default"},
    {"trust", "a", "b"},
    {"config", "chek"},
    {"config", "check"},
    {"config", "check", "nowhere.toml"},
    {"status", "now"},
    {"status", "--jsno"},
    {"completion"},
    {"completion", "csh"},
    {"man", "coop-nothing"},
    {"mcp", "--token-file", "token"},
    {"mcp", "--htp", "127.0.0.1:0"},
    {"mcp", "now"},
    {"tool", "bash", "{}", "{}"},
    {"tool", "--lst"},
};

class ErrorsTest : public testing::Test {
 protected:
  std::string said(const Words& words) const {
    const Ran ran = run_cli(tree.path(), {{"HOME", tree / "home"}, {"USER", "ann"}}, words);
    std::string line = "$ coop";
    for (const std::string& word : words)
      line += word.empty() || word.find(' ') != std::string::npos ? " '" + word + "'" : " " + word;
    std::string text = line + "\n" + ran.out + ran.error;
    for (std::size_t at = 0; (at = text.find(tree.path(), at)) != std::string::npos;)
      text.replace(at, tree.path().size(), "");
    EXPECT_EQ(ran.code, 125) << text;
    EXPECT_EQ(ran.out, "") << line;
    return text;
  }

  const TempTree tree;
};

TEST_F(ErrorsTest, OfFlags) {
  std::string text;
  std::set<std::string> tried;
  for (const Words& flags : kBadFlags) {
    Words words{"run"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "true"});
    text += said(words);
    tried.insert(flags.front());
  }
  for (const cli::Flag& flag : cli::flags()) {
    if (flag.placeholder.empty()) continue;
    const std::string name(flag.name);
    EXPECT_TRUE(tried.contains(name) || kTakesAnything.contains(name)) << name;
    EXPECT_NE(said({"plan", name}).find(name + ": needs a value: "), std::string::npos) << name;
  }
  expect_golden("errors_of_flags.txt", text);
}

TEST_F(ErrorsTest, OfCommands) {
  std::string text;
  for (const Words& words : kBadCommands) text += said(words);
  expect_golden("errors_of_commands.txt", text);
}

TEST_F(ErrorsTest, EveryFlagOfEveryCommandIsChecked) {
  for (const cli::CommandInfo& command : cli::commands()) {
    if (command.run == nullptr) continue;
    Words start;
    std::istringstream name{std::string(command.name)};
    for (std::string word; name >> word;) start.push_back(word);
    const auto with = [&](const std::string& word) {
      Words words = start;
      words.push_back(word);
      return said(words);
    };
    EXPECT_NE(with("--no-such-flag-at-all").find("unknown flag --no-such-flag-at-all"),
              std::string::npos);
    for (const cli::Flag& flag : cli::flags_of(command)) {
      const std::string wrong = flag.placeholder.empty() ? with(std::string(flag.name) + "=x")
                                                         : with(std::string(flag.name));
      const std::string expected = flag.placeholder.empty()
                                       ? ": takes no value"
                                       : ": needs a value: " + std::string(flag.placeholder);
      EXPECT_NE(wrong.find(std::string(flag.name) + expected), std::string::npos) << wrong;
    }
  }
}

// A synopsis, an example or a text that names a flag which is not there would mislead.
TEST_F(ErrorsTest, ExamplesParse) {
  for (const cli::CommandInfo& command : cli::commands()) {
    std::istringstream lines{std::string(command.examples)};
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words_of(line);
      Words words;
      for (std::string word; words_of >> word && word != ">" && word != "|";) words.push_back(word);
      if (words.front() != "coop") continue;
      const bool grouped = words[1] == "policy" || words[1] == "config" ||
                           words[1] == "quarantine" || words[1] == "home";
      const std::string name = words[1] + (grouped ? " " + words[2] : "");
      const cli::CommandInfo* found = cli::find_command(name);
      ASSERT_NE(found, nullptr) << line;
      if (line.find('\'') != std::string::npos) continue;  // quoted words are for a shell
      const Words rest(words.begin() + (grouped ? 3 : 2), words.end());
      const Result<cli::Parsed> parsed = cli::parse_command(*found, rest);
      EXPECT_TRUE(parsed.has_value()) << line;
    }
  }
}

}  // namespace
}  // namespace coop::test
