// The promises of the manual and the help, tested through the program.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/path.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

bool installed(const std::string& program) {
  return run_bare({"sh", "-c", "command -v " + program + " >/dev/null"}).exit_code == 0;
}

Ran in_project(const Workspace& workspace, const Arguments& arguments) {
  return run_coop(arguments, workspace.options());
}

KERNEL_TEST(EndToEnd, HelloFromASandbox) {
  const Workspace workspace;
  const Ran ran = in_project(
      workspace,
      {"run", "--", "sh", "-c", "echo hello from $(hostname); ls /; echo in home:; ls -A /home"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::StartsWith("hello from coop-"));
  for (const char* name : {"\nbin\n", "\nusr\n", "\nwork\n", "\ntmp\n", "\nproc\n"})
    EXPECT_THAT(ran.out, HasSubstr(name));
  for (const char* name : {"\nroot\n", "\nmnt\n", "\nboot\n"})
    EXPECT_THAT(ran.out, testing::Not(HasSubstr(name)));
  EXPECT_THAT(ran.out, testing::EndsWith("\nin home:\nuser\n"));  // no user of the host
}

KERNEL_TEST(EndToEnd, BuildAProjectAndKeepTheResult) {
  if (!installed("make") || !installed("cc")) GTEST_SKIP() << "no make or compiler";
  const Workspace workspace;
  write_file(workspace / "main.c", "int main(void) { return 0; }\n");
  write_file(workspace / "Makefile",
             "test: main\n\t./main && echo passed\nmain: main.c\n\t@cc -o main main.c\n");
  for (const char* view : {"minimal", "host"}) {
    const Ran ran = in_project(workspace, {"run", "--view", view, "--", "make", "-s", "test"});
    EXPECT_EQ(ran.out, "passed\n") << ran.err;
  }
  EXPECT_EQ(run_bare({workspace / "main"}).exit_code, 0);  // the program is on the host, and runs
}

KERNEL_TEST(EndToEnd, TheExamplesOfTheHelp) {
  const Workspace workspace;
  write_file(workspace / ".env", "KEY=s3cret\n");
  write_file(workspace / "script.sh", "echo \"env: $(cat .env)\"\n");
  const Ran ran = in_project(workspace, {"run", "--ro", "/usr/share?", "--hide", ".env", "--memory",
                                         "2g", "--timeout", "10m", "--", "sh", "script.sh"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "env: \n");
  const Ran json = in_project(workspace, {"run", "--json", "--", "sh", "script.sh"});
  EXPECT_EQ(json_of(json)["stdout"]["text"], "env: KEY=s3cret\n");
}

KERNEL_TEST(EndToEnd, AnAgentWithTheHostsToolsAndWithoutItsSecrets) {
  const Workspace workspace{visible_place()};
  make_directories(workspace.around() / ".ssh");
  write_file(workspace.around() / ".ssh/id_ed25519", "s3cret");
  write_file(workspace.around() / "notes", "private\n");
  make_directories(workspace.around() / ".local/bin");
  write_file(workspace.around() / ".local/bin/tool", "readable\n");
  const std::string home = workspace.around().path();
  const Ran ran = in_project(
      workspace,
      {"run", "--view", "host", "--", "sh", "-c",
       "cat ~/.local/bin/tool; cat ~/notes ~/.ssh/*; echo x > ~/notes; echo done > result"});
  EXPECT_EQ(ran.out, "readable\n") << ran.err;
  EXPECT_EQ(read_file(home + "/notes"), "private\n");
  EXPECT_EQ(read_file(workspace / "result"), "done\n");
}

KERNEL_TEST(EndToEnd, AQuarantinedFileCanBePutBackAndThenStays) {
  const Workspace workspace;
  const Ran made = in_project(workspace, {"run", "--", "sh", "-c", "echo mine > .envrc"});
  EXPECT_FALSE(exists(workspace / ".envrc"));
  const std::size_t at = made.err.find("coop quarantine restore ");
  ASSERT_NE(at, std::string::npos) << made.err;
  const std::string id = made.err.substr(at + 24, 8);
  const nlohmann::json listed =
      json_of(in_project(workspace, {"quarantine", "list", id, "--json"}));
  EXPECT_EQ(listed["runs"][0]["files"][0]["path"], workspace / ".envrc");
  EXPECT_EQ(in_project(workspace, {"quarantine", "restore", id, "other"}).exit_code, 125);
  const Ran back = in_project(workspace, {"quarantine", "restore", id, ".envrc"});
  EXPECT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(in_project(workspace, {"run", "--", "cat", ".envrc"}).out, "mine\n");
  EXPECT_TRUE(exists(workspace / ".envrc"));  // it is the user's own now
  // Inside, the quarantine is not there.
  EXPECT_THAT(in_project(workspace, {"run", "--view", "host", "--", "ls",
                                     parent_of(std::string(listed["runs"][0]["directory"]))})
                  .out,
              testing::Not(HasSubstr(id)));
  EXPECT_EQ(in_project(workspace, {"quarantine", "remove", id}).exit_code, 0);
  EXPECT_EQ(in_project(workspace, {"quarantine", "list", id}).exit_code, 125);
}

KERNEL_TEST(EndToEnd, ThePlanIsWhatRunDoes) {
  const Workspace workspace;
  const Ran plan = in_project(workspace, {"plan", "--hide", "payload", "--", "true"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("hide \"/work/payload\""));
  EXPECT_THAT(plan.out, HasSubstr("bind read-write \"" + workspace.path() + "\" at \"/work\""));
  const Ran why = in_project(workspace, {"plan", "--why"});
  EXPECT_THAT(why.out, HasSubstr("--workspace: the directory to work in"));
  EXPECT_THAT(why.out, HasSubstr("allow read: "));
  EXPECT_GT(why.out.size(), plan.out.size());
  const nlohmann::json json = json_of(in_project(workspace, {"plan", "--json", "--memory", "1g"}));
  for (const char* key : {"session", "view", "workspace", "directory", "namespaces", "steps",
                          "group", "guards", "environment", "notes"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const nlohmann::json& step : json["steps"])
    for (const char* key : {"action", "says", "origin", "why"})
      EXPECT_TRUE(step[key].is_string()) << step;
  EXPECT_EQ(in_project(workspace, {"plan", "--ro", "/no/such"}).exit_code, 125);
}

KERNEL_TEST(EndToEnd, StatusSaysWhatTheMachineOffers) {
  const Ran text = run_coop({"status"});
  EXPECT_EQ(text.exit_code, 0) << text.out;
  EXPECT_THAT(text.out, HasSubstr("The default sandbox can run here."));
  EXPECT_EQ(run_coop({"sandbox", "status"}).exit_code, 0);
  const nlohmann::json json = json_of(run_coop({"status", "--json"}));
  EXPECT_EQ(json["can_sandbox"], true);
  for (const char* key : {"version", "kernel", "architecture", "isolation", "missing", "degraded",
                          "nested_in", "features", "landlock_abi", "proc", "cgroup"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const auto& [name, feature] : json["features"].items())
    EXPECT_TRUE(feature["available"].is_boolean() && feature["reason"].is_string() &&
                feature["fix"].is_string())
        << name;
  for (const char* name : {"user_namespace", "landlock", "seccomp", "cgroup", "proc", "overlay"})
    EXPECT_TRUE(json["features"].contains(name)) << name;
  EXPECT_EQ(run_coop({"status", "--nonsense"}).exit_code, 125);
}

TEST(EndToEnd, HelpAndVersion) {
  for (const char* word : {"--help", "-h", "help"}) {
    const Ran help = run_coop({word});
    EXPECT_EQ(help.exit_code, 0);
    for (const char* command : {"run", "plan", "status", "completion", "man"})
      EXPECT_THAT(help.out, HasSubstr(std::string("coop ") + command));
  }
  for (const char* command : {"run", "plan", "status", "completion"}) {
    const Ran help = run_coop({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr(std::string("usage: coop ") + command));
    EXPECT_EQ(help.err, "");
  }
  EXPECT_THAT(run_coop({"--version"}).out,
              testing::MatchesRegex("coop [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{}, {"policy"}, {"config"}, {"quarantine"}}) {
    const Ran nothing = run_coop(words);
    EXPECT_EQ(nothing.exit_code, 125);
    EXPECT_EQ(nothing.out, "");
    EXPECT_THAT(nothing.err, HasSubstr("usage:"));
    EXPECT_THAT(nothing.err, testing::EndsWith("coop: no command was named\n"));
  }
}

TEST(EndToEnd, CompletionScriptsAreValid) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran script = run_coop({"completion", shell});
    EXPECT_EQ(script.exit_code, 0);
    EXPECT_THAT(script.out, HasSubstr("coop"));
    if (!installed(shell)) continue;
    const Ran checked = run_bare({shell, "-n"}, {.input = script.out});
    EXPECT_EQ(checked.exit_code, 0) << shell << ": " << checked.err;
  }
  EXPECT_EQ(run_coop({"completion", "csh"}).exit_code, 125);
  EXPECT_EQ(run_coop({"completion"}).exit_code, 125);
}

TEST(EndToEnd, CompletionOffersFlagsValuesAndCommands) {
  const std::string script = run_coop({"completion", "bash"}).out;
  const auto completed = [&](const std::string& words, int index) {
    return run_bare({"bash", "--norc", "-c",
                     script + "\nCOMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(index) +
                         "; _coop; printf '%s\\n' \"${COMPREPLY[@]}\""})
        .out;
  };
  EXPECT_EQ(completed("coop st", 1), "status\n");
  EXPECT_EQ(completed("coop run --mem", 2), "--memory\n");
  EXPECT_EQ(completed("coop run --view h", 3), "host\n");
  EXPECT_EQ(completed("coop run --cache carg", 3), "cargo\n");
  EXPECT_EQ(completed("coop run --allow-guarded .envr", 3), ".envrc\n");
  EXPECT_THAT(completed("coop run -- ech", 3), HasSubstr("echo\n"));
}

TEST(EndToEnd, TheManualPagesRenderWithoutWarnings) {
  for (const char* name : {"coop", "coop-run", "coop-policy", "coop-mcp"}) {
    const Ran page = run_coop({"man", name});
    EXPECT_EQ(page.exit_code, 0);
    EXPECT_THAT(page.out, testing::StartsWith(".TH COOP"));
    for (const char* section : {"NAME", "DESCRIPTION", "EXAMPLES", "SEE ALSO"})
      EXPECT_THAT(page.out, HasSubstr(std::string(".SH ") + section + "\n")) << name;
    if (!installed("groff")) continue;
    const Ran rendered =
        run_bare({"groff", "-man", "-Tutf8", "-ww", "-Kutf8"}, {.input = page.out});
    EXPECT_EQ(rendered.exit_code, 0);
    EXPECT_EQ(rendered.err, "") << name;
  }
  EXPECT_EQ(run_coop({"man", "coop-nothing"}).exit_code, 125);
  EXPECT_EQ(run_coop({"man", "run"}).out, run_coop({"man", "coop-run"}).out);
  EXPECT_EQ(run_coop({"man", "plan"}).out, run_coop({"man", "coop-run"}).out);
  EXPECT_EQ(run_coop({"man", "tool"}).out, run_coop({"man", "coop-mcp"}).out);
  EXPECT_EQ(run_coop({"man", "quarantine"}).out, run_coop({"man", "coop"}).out);
}

TEST(EndToEnd, ThePageOnToolsIsWhatTheirTableSays) {
  EXPECT_EQ(run_coop({"man", "coop-mcp"}).out,
            read_file(std::string(COOP_SOURCE_DIRECTORY) + "/docs/man/coop-mcp.1"));
}

TEST(EndToEnd, EveryCommandShowsItsHelp) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"run"},
                                             {"plan"},
                                             {"policy"},
                                             {"policy", "show"},
                                             {"policy", "check"},
                                             {"policy", "explain"},
                                             {"policy", "diff"},
                                             {"policy", "export"},
                                             {"policy", "import"},
                                             {"policy", "approve"},
                                             {"policy", "schema"},
                                             {"trust"},
                                             {"config"},
                                             {"config", "check"},
                                             {"tool"},
                                             {"mcp"},
                                             {"status"},
                                             {"completion"},
                                             {"man"}})
    for (const char* word : {"--help", "-h"}) {
      std::vector<std::string> words = command;
      words.emplace_back(word);
      const Ran help = run_coop(words);
      EXPECT_EQ(help.exit_code, 0) << command.back();
      EXPECT_EQ(help.err, "");
      EXPECT_THAT(help.out, testing::StartsWith("usage: coop " + command.front()));
      EXPECT_THAT(help.out, HasSubstr("examples:\n"));
    }
}

}  // namespace
}  // namespace coop::tests
