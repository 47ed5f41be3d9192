// Tools of each trust level, in the sandbox, or on the host for the owner.
#include "tools/toolbox.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "support/harness.h"

namespace coop::tools {
namespace {

using coop::tests::Workspace;
using policy::TrustLevel;

std::unique_ptr<Toolbox> open_toolbox(const Workspace& workspace,
                                      TrustLevel trust = TrustLevel::full,
                                      OnLeak on_leak = OnLeak::redact) {
  Result<std::unique_ptr<Toolbox>> toolbox = Toolbox::open(
      {.trust = trust, .policy = Policy{.workspace = workspace.path()}, .on_leak = on_leak});
  if (toolbox) return std::move(*toolbox);
  ADD_FAILURE() << to_text(toolbox.error());
  std::abort();
}

// Arguments for each tool that work at a sufficient trust level. fetch_url needs a network: refused
// by the address guard, after the trust check.
Json good_arguments(std::string_view tool) {
  if (tool == "bash") return {{"command", "echo hello"}};
  if (tool == "exec") return {{"program", "echo"}, {"arguments", {"hello"}}};
  if (tool == "write_file") return {{"path", "new.txt"}, {"content", "x"}};
  if (tool == "edit_file") return {{"path", "file.txt"}, {"old", "hello"}, {"new", "hello"}};
  if (tool == "list_files") return Json::object();
  if (tool == "search_files") return {{"pattern", "hello"}};
  if (tool == "fetch_url") return {{"url", "http://127.0.0.1/"}};
  return {{"path", "file.txt"}};
}

KERNEL_TEST(Toolbox, EachTrustMayUseItsToolsAndNoOther) {
  for (const TrustLevel trust : {TrustLevel::owner, TrustLevel::full, TrustLevel::inner,
                                 TrustLevel::familiar, TrustLevel::public_}) {
    const Workspace workspace;
    coop::tests::write_file(workspace / "file.txt", "hello\n");
    const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace, trust);
    EXPECT_EQ(toolbox->sandboxed(), trust != TrustLevel::owner);
    for (const ToolInfo& tool : tool_table()) {
      const ToolOutput output = toolbox->call(tool.name, good_arguments(tool.name));
      const bool may = policy::may_use(trust, tool.name);
      const std::string what = std::string(to_text(trust)) + " " + std::string(tool.name);
      if (!may) {
        EXPECT_TRUE(output.failed) << what;
        EXPECT_NE(output.text.find("needs the trust " + std::string(to_text(tool.least))),
                  std::string::npos)
            << what << ": " << output.text;
        EXPECT_NE(output.text.find("in coop.toml: trust = \"" + std::string(to_text(tool.least))),
                  std::string::npos)
            << what << ": " << output.text;
      } else if (tool.name == "fetch_url") {
        // The owner is stopped by the address guard; for others it is the sandbox's own loopback.
        EXPECT_TRUE(output.failed) << what;
        const char* rule = trust == TrustLevel::owner ? "loopback" : "is the sandbox itself";
        EXPECT_NE(output.text.find(rule), std::string::npos) << output.text;
      } else {
        EXPECT_FALSE(output.failed) << what << ": " << output.text;
      }
    }
  }
}

KERNEL_TEST(Toolbox, CommandsOfOthersAreInTheSandboxAndTheOwnersAreNot) {
  const Workspace workspace;
  const Json command{{"command", "hostname; cat /etc/passwd | wc -l"}};
  const ToolOutput inside = open_toolbox(workspace, TrustLevel::full)->call("bash", command);
  EXPECT_NE(inside.text.find("coop-"), std::string::npos) << inside.text;
  const ToolOutput outside = open_toolbox(workspace, TrustLevel::owner)->call("bash", command);
  EXPECT_EQ(outside.text.find("coop-"), std::string::npos) << outside.text;
}

// HOME is the workspace, and coop's own directories are not there yet.
KERNEL_TEST(Toolbox, ReadingMakesNothingAndCoopsOwnDirectoriesAreNotWritten) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "file.txt", "hello\n");
  const std::string home = ::getenv("HOME");
  ::setenv("HOME", workspace.path().c_str(), 1);
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  for (const char* tool : {"read_file", "list_files", "search_files"})
    EXPECT_FALSE(toolbox->call(tool, good_arguments(tool)).failed) << tool;
  EXPECT_FALSE(coop::tests::exists(workspace / ".config"));
  EXPECT_FALSE(coop::tests::exists(workspace / ".local"));
  for (const char* path : {".config/coop/policy.toml", ".local/state/coop/approvals/x"}) {
    EXPECT_TRUE(toolbox->call("write_file", {{"path", path}, {"content", "x"}}).failed) << path;
    EXPECT_FALSE(coop::tests::exists(workspace / path)) << path;
  }
  EXPECT_FALSE(toolbox->call("write_file", good_arguments("write_file")).failed);  // control
  ::setenv("HOME", home.c_str(), 1);
}

KERNEL_TEST(Toolbox, ACommandsEndIsInTheResult) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  const ToolOutput failed = toolbox->call("bash", {{"command", "echo out; echo err >&2; exit 3"}});
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.text, "out\nerr\n[exit code 3]");
  EXPECT_EQ(failed.structured["exit_code"], 3);
  const ToolOutput late = toolbox->call("bash", {{"command", "sleep 60"}, {"timeout", 1}});
  EXPECT_EQ(late.structured["outcome"], "timed_out");
  const ToolOutput much =
      toolbox->call("bash", {{"command",
                              "echo first; head -c 1000000 /dev/zero | tr '\\0' x; "
                              "echo; echo last"}});
  EXPECT_LT(much.text.size(), 110000U);
  EXPECT_TRUE(much.text.starts_with("first\n"));
  EXPECT_TRUE(much.text.ends_with("last\n"));
  EXPECT_NE(much.text.find("bytes cut"), std::string::npos);
}

KERNEL_TEST(Toolbox, OutputAndErrorsAreJoinedByALineEnd) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"true", ""},
      {"printf out", "out"},
      {"printf err >&2", "err"},
      {"printf out; printf err >&2", "out\nerr"},
      {"echo out; printf err >&2", "out\nerr"}};
  for (const auto& [command, text] : cases)
    EXPECT_EQ(toolbox->call("bash", {{"command", command}}).text, text) << command;
}

KERNEL_TEST(Toolbox, AMissingArgumentAndASandboxThatCannotStartAreToolErrors) {
  const Workspace workspace;
  const std::string granted = workspace.around() / "granted";
  coop::tests::make_directories(granted);
  Policy policy{.workspace = workspace.path()};
  policy.rules.push_back(PathRule{.kind = RuleKind::read_only,
                                  .path = granted,
                                  .origin = {Scope::user, "policy.toml", {3, 0}}});
  Result<std::unique_ptr<Toolbox>> opened = Toolbox::open({.policy = policy});
  ASSERT_TRUE(opened.has_value()) << to_text(opened.error());
  const std::unique_ptr<Toolbox> toolbox = std::move(*opened);
  const ToolOutput missing = toolbox->call("bash", Json::object());
  EXPECT_TRUE(missing.failed);
  EXPECT_NE(missing.text.find("\"command\" is missing"), std::string::npos) << missing.text;
  EXPECT_FALSE(toolbox->call("bash", {{"command", "true"}}).failed);  // control
  std::filesystem::remove(granted);
  const ToolOutput refused = toolbox->call("bash", {{"command", "touch ran"}});
  EXPECT_TRUE(refused.failed);
  EXPECT_NE(refused.text.find("does not exist"), std::string::npos) << refused.text;
  EXPECT_FALSE(coop::tests::exists(workspace / "ran"));
}

// What a command may do is decided by the sandbox, never by the look of its text.
KERNEL_TEST(Toolbox, NoCommandIsRefusedForItsText) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  const std::vector<std::pair<std::string, std::string>> commands{
      {"eval 'echo a'", "a\n"},
      {"echo $(echo b)", "b\n"},
      {"echo `echo c`", "c\n"},
      {"python3 -c 'print(\"d\")'", "d\n"},
      {"cat <<'END'\ne\nEND", "e\n"},
      {"set -- f; echo $1", "f\n"},
      {"sh -c 'echo g'", "g\n"},
      {"echo aA== | base64 -d; echo", "h\n"},
      {"export X=i; env | grep ^X= | cut -d= -f2", "i\n"},
      {"echo j | xargs echo", "j\n"},
      {"f() { echo k; }; f", "k\n"},
      {"exec 3>&1; echo l >&3", "l\n"},
      {"echo 'echo m' > m; . ./m", "m\n"}};
  for (const auto& [command, text] : commands)
    EXPECT_EQ(toolbox->call("bash", {{"command", command}}).text, text) << command;
}

KERNEL_TEST(Toolbox, WorkingDirectoriesAreInTheWorkspace) {
  const Workspace workspace;
  coop::tests::make_directories(workspace / "sub");
  coop::tests::make_symlink("/usr", workspace / "usr");
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  EXPECT_EQ(toolbox->call("bash", {{"command", "pwd"}, {"directory", "sub"}}).text, "/work/sub\n");
  for (const char* directory : {"..", "/etc", "missing", "usr", "payload"}) {
    const ToolOutput output = toolbox->call("bash", {{"command", "pwd"}, {"directory", directory}});
    EXPECT_TRUE(output.failed) << directory;
    EXPECT_NE(output.text.find("working directory"), std::string::npos) << output.text;
  }
}

KERNEL_TEST(Toolbox, ToolsOfTheWorkspaceAreOnThePath) {
  const Workspace workspace;
  coop::tests::make_directories(workspace / "tools/bin");
  coop::tests::write_file(workspace / "tools/bin/mine", "#!/bin/sh\necho mine\n");
  ::chmod((workspace / "tools/bin/mine").c_str(), 0755);
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  EXPECT_EQ(toolbox->call("bash", {{"command", "mine"}}).text, "mine\n");
  EXPECT_EQ(toolbox->call("exec", {{"program", "mine"}}).text, "mine\n");
  // They do not shadow other programs, and the owner does not run files that others have written.
  coop::tests::write_file(workspace / "tools/bin/ls", "#!/bin/sh\necho mine\n");
  ::chmod((workspace / "tools/bin/ls").c_str(), 0755);
  EXPECT_NE(toolbox->call("bash", {{"command", "ls"}}).text, "mine\n");
  const std::unique_ptr<Toolbox> owner = open_toolbox(workspace, TrustLevel::owner);
  EXPECT_NE(owner->call("bash", {{"command", "ls"}}).text, "mine\n");
  EXPECT_TRUE(owner->call("bash", {{"command", "mine"}}).failed);
}

KERNEL_TEST(Toolbox, TheOwnersToolsAreNotLedOutByALinkOfOthers) {
  const Workspace workspace;
  const std::string target = workspace.around().path() + "/target";
  coop::tests::write_file(target, "before");
  coop::tests::make_symlink(target, workspace / "report.md");
  const std::unique_ptr<Toolbox> owner = open_toolbox(workspace, TrustLevel::owner);
  EXPECT_FALSE(owner->call("write_file", {{"path", target}, {"content", "meant"}}).failed);
  const ToolOutput wrote =
      owner->call("write_file", {{"path", "report.md"}, {"content", "not meant"}});
  EXPECT_TRUE(wrote.failed);
  EXPECT_EQ(wrote.structured["denials"][0]["rule"], "links of the workspace");
  EXPECT_TRUE(owner->call("read_file", {{"path", "report.md"}}).failed);
  EXPECT_EQ(coop::tests::read_file(target), "meant");
}

KERNEL_TEST(Toolbox, NorUnderAnotherNameOfTheWorkspace) {
  const Workspace workspace;
  const std::string around = workspace.around().path();
  coop::tests::make_directories(around + "/out");
  coop::tests::make_directories(workspace / "sub");
  coop::tests::make_symlink(workspace.path(), around + "/alias");
  coop::tests::make_symlink(around + "/out/new", workspace / "file");
  coop::tests::make_symlink("../out", workspace / "directory");
  coop::tests::make_symlink(around + "/out/missing/more", workspace / "missing");
  coop::tests::make_symlink(workspace / "file", around + "/to_file");
  coop::tests::make_symlink("sub/../../alias/directory", workspace / "round");
  const std::unique_ptr<Toolbox> owner = open_toolbox(workspace, TrustLevel::owner);
  for (const std::string& path :
       {around + "/alias/file", around + "/alias/directory/new", around + "/alias/missing/new",
        around + "/to_file", workspace / "round/new", std::string("directory/new"),
        std::string("sub/../missing/new")}) {
    const ToolOutput wrote = owner->call("write_file", {{"path", path}, {"content", "evil"}});
    EXPECT_TRUE(wrote.failed) << path;
    EXPECT_EQ(wrote.structured["denials"][0]["rule"], "links of the workspace") << wrote.text;
  }
  EXPECT_TRUE(std::filesystem::is_empty(around + "/out"));
  // Controls: links that stay inside, the second name itself, and a path outside that is named.
  coop::tests::make_symlink("sub", workspace / "inner");
  coop::tests::make_symlink("sub/later", workspace / "dangling");
  for (const std::string& path :
       {around + "/alias/plain", std::string("inner/plain"), std::string("dangling"),
        around + "/alias/inner/deep/er", around + "/out/meant"}) {
    const ToolOutput wrote = owner->call("write_file", {{"path", path}, {"content", "good"}});
    EXPECT_FALSE(wrote.failed) << path << ": " << wrote.text;
  }
  for (const char* file : {"plain", "sub/plain", "sub/later", "sub/deep/er"})
    EXPECT_EQ(coop::tests::read_file(workspace / file), "good") << file;
}

KERNEL_TEST(Toolbox, ThePolicysLimitsBindEveryCall) {
  const Workspace workspace;
  for (const TrustLevel trust : {TrustLevel::inner, TrustLevel::owner}) {
    Policy policy{.workspace = workspace.path()};
    policy.limits.timeout = std::chrono::milliseconds(300);
    policy.limits.output_limit = 1000;
    const auto toolbox = Toolbox::open({.trust = trust, .policy = policy});
    ASSERT_TRUE(toolbox.has_value()) << to_text(toolbox.error());
    const ToolOutput slow = (*toolbox)->call("bash", {{"command", "sleep 5"}, {"timeout", 60}});
    EXPECT_EQ(slow.structured["outcome"], "timed_out") << slow.text;
    const ToolOutput much =
        (*toolbox)->call("bash", {{"command", "head -c 50000 /dev/zero | tr '\\0' x"}});
    EXPECT_FALSE(much.failed) << much.text;  // control: it works within them
    EXPECT_EQ(much.structured["stdout"]["total_bytes"], 50000);
    EXPECT_LT(much.text.size(), 1500U);
    // The organisation's bound counts whatever a file says.
    policy.limits.timeout.reset();
    policy.bounds.timeout = std::chrono::milliseconds(300);
    const auto bounded = Toolbox::open({.trust = trust, .policy = policy});
    ASSERT_TRUE(bounded.has_value());
    EXPECT_EQ((*bounded)->call("bash", {{"command", "sleep 5"}}).structured["outcome"],
              "timed_out");
  }
}

KERNEL_TEST(Toolbox, WhatTheOwnersCommandStartedEndsWithIt) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> owner = open_toolbox(workspace, TrustLevel::owner);
  const std::string marker = "63." + std::to_string(::getpid());
  const std::string daemon = "(setsid sleep " + marker + " &); (setsid -f sleep " + marker + "); ";
  const auto is_there = [&] { return !coop::tests::processes_with(marker).empty(); };
  // At its end, control included.
  const ToolOutput ended = owner->call(
      "bash", {{"command", daemon + "sleep 0.1; pgrep -f 'sleep " + marker + "' | wc -l"}});
  EXPECT_GE(std::stoi("0" + ended.text), 2) << ended.text;
  EXPECT_TRUE(coop::tests::all_gone(marker));
  // At the timeout, with SIGTERM ignored.
  const ToolOutput late = owner->call(
      "bash", {{"command", daemon + "trap '' TERM; while :; do sleep 1; done"}, {"timeout", 1}});
  EXPECT_EQ(late.structured["outcome"], "timed_out") << late.text;
  EXPECT_TRUE(coop::tests::all_gone(marker));
  // A command that obeys SIGTERM can still say something.
  const ToolOutput obeyed = owner->call(
      "bash", {{"command", "trap 'echo cleaned; exit 0' TERM; while :; do sleep 0.1; done"},
               {"timeout", 1}});
  EXPECT_EQ(obeyed.structured["stdout"]["text"], "cleaned\n");
  // When it is cancelled.
  const UniqueFd cancel(::eventfd(0, EFD_CLOEXEC));
  std::jthread canceller([&] {
    for (int round = 0; round < 500 && !is_there(); ++round) ::usleep(10000);
    EXPECT_TRUE(is_there());
    ::eventfd_write(cancel.get(), 1);
  });
  owner->call("bash", {{"command", daemon + "sleep " + marker}}, {.cancel_fd = cancel.get()});
  EXPECT_TRUE(coop::tests::all_gone(marker));
}

KERNEL_TEST(Toolbox, WithoutTheBypassTheOwnerIsSandboxed) {
  const Workspace workspace;
  const Json command{{"command", "hostname"}};
  const auto toolbox = Toolbox::open({.trust = TrustLevel::owner,
                                      .policy = Policy{.workspace = workspace.path()},
                                      .owner_bypass = false});
  ASSERT_TRUE(toolbox.has_value());
  EXPECT_TRUE((*toolbox)->sandboxed());
  EXPECT_TRUE((*toolbox)->call("bash", command).text.starts_with("coop-"));
  EXPECT_FALSE(open_toolbox(workspace, TrustLevel::owner)
                   ->call("bash", command)
                   .text.starts_with("coop-"));  // control
}

KERNEL_TEST(Toolbox, WhoTheAgentIsCommandsDoNotWriteEither) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "Soul.md", "me");
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  EXPECT_FALSE(toolbox->call("bash", {{"command", "echo x > other.md"}}).failed);  // control
  EXPECT_EQ(toolbox->call("bash", {{"command", "cat /work/Soul.md"}}).text, "me");
  EXPECT_TRUE(toolbox->call("bash", {{"command", "echo x > Soul.md"}}).failed);
  EXPECT_TRUE(toolbox->call("bash", {{"command", "mv Soul.md away.md"}}).failed);
  EXPECT_TRUE(toolbox->call("write_file", {{"path", "USER.md/x"}, {"content", "x"}}).failed);
  EXPECT_EQ(coop::tests::read_file(workspace / "Soul.md"), "me");
}

// Refused, or taken away when the command is over.
bool bash_keeps(Toolbox& toolbox, const std::string& path) {
  const ToolOutput output = toolbox.call(
      "bash", {{"command", "mkdir -p \"$(dirname '" + path + "')\" && echo x > '" + path + "'"}});
  return !output.failed && output.structured["quarantined"].empty();
}

KERNEL_TEST(Toolbox, GuardsHoldForCommandsAndFileToolsAlike) {
  const std::vector<std::pair<std::string, bool>> paths{
      {".vscode/tasks.json", false},
      {"sub/.vscode/tasks.json", false},
      {"node_modules/x/.vscode/tasks.json", true},
      {"sub/.github/workflows/ci.yml", true},
      {"repo/.vscode/tasks.json", false},
      {"repo/sub/.envrc", false},
      {".ENVRC", false},
      {"sub/.coop/policy.toml", false},
      {".git/hooks/pre-commit", false},
      {".git/Hooks/pre-commit", false},
      {".git/config", false},
      {".git/description", true},
      {"new/.git/config", false},
      {"sub/.git", false},
      {"store/hooks/update", false},
      {"store/refs/x", true},
      {"almost/config", true},
      {"almost/HEAD", false},
      {"githooks/pre-commit", false},
      {"shared/rc", false},
      {"shared/other", true},
      {".git/modules/a/hooks/x", true},
      {".git/modules/a/HEAD", true},
      {"repo/.git/worktrees/w/config.worktree", false},
      {"ordinary/file", true},
  };
  for (const auto& [path, allowed] : paths) {
    for (const bool by_command : {true, false}) {
      const Workspace workspace;
      const coop::tests::Ran made = coop::tests::run_bare(
          {"sh", "-c",
           "cd " + workspace.path() +
               " && git init -q . && git config core.hooksPath githooks && git init -q repo &&"
               " git init -q --bare store && mkdir -p sub almost/refs almost/objects shared &&"
               " echo x > almost/config && ln -s shared/rc .mcp.json"});
      ASSERT_EQ(made.exit_code, 0) << made.err;
      const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
      const bool kept =
          by_command ? bash_keeps(*toolbox, path)
                     : !toolbox->call("write_file", {{"path", path}, {"content", "x"}}).failed;
      EXPECT_EQ(kept, allowed) << path << (by_command ? " by bash" : " by write_file");
    }
  }
}

KERNEL_TEST(Toolbox, AFileWithASecretIsNotSentInPart) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "key", std::string("gh") + "p_" + std::string(36, 'a'));
  const ToolOutput output = open_toolbox(workspace)->call("send_file", {{"path", "key"}});
  EXPECT_TRUE(output.failed);
  EXPECT_FALSE(output.structured.contains("data"));
}

KERNEL_TEST(Toolbox, SecretsThatThePolicySetsAreKnown) {
  const Workspace workspace;
  Policy policy{.workspace = workspace.path()};
  policy.set_environment["MY_TOKEN"] = "plain-internal-value-123";
  const std::unique_ptr<Toolbox> toolbox = Toolbox::open({.policy = policy}).value();
  const ToolOutput output = toolbox->call("bash", {{"command", "echo $MY_TOKEN"}});
  EXPECT_EQ(output.text.find("plain-internal"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("MY_TOKEN"), std::string::npos) << output.text;
}

// Consecutive calls can use the port; no prepared sandbox occupies it.
KERNEL_TEST(Toolbox, APublishedPortServesEachCall) {
  const Workspace workspace;
  Policy policy;
  policy.workspace = workspace.path();
  policy.publish = {{.host = 18431, .sandbox = 8000, .origin = Origin::of_flag("--publish")}};
  const std::unique_ptr<Toolbox> toolbox = Toolbox::open({.policy = policy}).value();
  toolbox->warm_up();
  for (int count = 0; count < 3; ++count) {
    const ToolOutput output = toolbox->call("bash", {{"command", "echo served"}});
    EXPECT_FALSE(output.failed) << output.text;
    EXPECT_NE(output.text.find("served"), std::string::npos) << output.text;
  }
  EXPECT_FALSE(Pool::create(policy, 1).has_value());
}

KERNEL_TEST(Toolbox, VariablesThatInjectCodeAreRefused) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  EXPECT_EQ(toolbox
                ->call("exec", {{"program", "sh"},
                                {"arguments", {"-c", "echo $A"}},
                                {"environment", {{"A", "b"}}}})
                .text,
            "b\n");  // control
  // The name of a secret alone gives nothing away.
  EXPECT_EQ(toolbox
                ->call("exec", {{"program", "sh"},
                                {"arguments", {"-c", "echo $ANTHROPIC_API_KEY"}},
                                {"environment", {{"ANTHROPIC_API_KEY", "x"}}}})
                .text,
            "x\n");
  for (const char* name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "PYTHONPATH",
        "PYTHONSTARTUP", "NODE_OPTIONS", "RUBYOPT", "PERL5OPT", "PERL5LIB", "BASH_ENV", "ENV",
        "LD_PRELOAD=x", "BASH_FUNC_ls%%", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "LESSOPEN",
        "PS4"}) {
    const ToolOutput output =
        toolbox->call("exec", {{"program", "true"}, {"environment", {{name, "x"}}}});
    EXPECT_TRUE(output.failed) << name;
    EXPECT_NE(output.text.find("injects code"), std::string::npos) << output.text;
    EXPECT_EQ(output.text.find("--unsafe-env"), std::string::npos) << output.text;
  }
  EXPECT_TRUE(
      toolbox->call("exec", {{"program", "true"}, {"environment", {{"A\nB", "x"}}}}).failed);
}

KERNEL_TEST(Toolbox, WithoutASandboxNothingRuns) {
  const Workspace workspace;
  Policy policy{.workspace = workspace.path()};
  policy.network = NetworkMode::veth;  // which this version cannot do
  Result<std::unique_ptr<Toolbox>> toolbox = Toolbox::open({.policy = policy});
  if (!toolbox) return;  // refused even sooner
  const ToolOutput output = (*toolbox)->call("bash", {{"command", "touch ran"}});
  EXPECT_TRUE(output.failed);
  EXPECT_FALSE(coop::tests::exists(workspace / "ran"));
}

// Concatenated here, so that no secret scanner reports this file.
std::string some_secret() { return std::string("gh") + "p_" + std::string(36, 'a'); }

KERNEL_TEST(Toolbox, ASecretInTheArgumentsStopsTheCall) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  const ToolOutput output =
      toolbox->call("bash", {{"command", "touch ran; echo " + some_secret()}});
  EXPECT_TRUE(output.failed);
  EXPECT_NE(output.text.find("was not made"), std::string::npos) << output.text;
  EXPECT_FALSE(coop::tests::exists(workspace / "ran"));
}

KERNEL_TEST(Toolbox, ASecretInAResultIsReplacedWithheldOrEndsTheToolbox) {
  const Workspace workspace;
  coop::tests::write_file(workspace / "token", "token: " + some_secret() + "\n");
  const Json read{{"command", "cat token; base64 -w0 token"}};
  for (const OnLeak on_leak : {OnLeak::redact, OnLeak::block, OnLeak::terminate}) {
    const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace, TrustLevel::full, on_leak);
    const ToolOutput output = toolbox->call("bash", read);
    const std::string all = output.text + output.structured.dump();
    EXPECT_EQ(all.find(some_secret()), std::string::npos) << all;
    EXPECT_NE(output.text.find("leak guard"), std::string::npos) << output.text;
    EXPECT_EQ(output.failed, on_leak != OnLeak::redact);
    EXPECT_EQ(output.structured.value("redacted", false), on_leak == OnLeak::redact);
    EXPECT_EQ(toolbox->terminated(), on_leak == OnLeak::terminate);
    const ToolOutput next = toolbox->call("bash", {{"command", "true"}});
    EXPECT_EQ(next.failed, on_leak == OnLeak::terminate) << next.text;
    EXPECT_EQ(toolbox->call("read_file", {{"path", "token"}}).text.find(some_secret()),
              std::string::npos);
  }
}

// Redacted, it would be another file.
KERNEL_TEST(Toolbox, ASecretInABinaryFileWithholdsTheFile) {
  const Workspace workspace;
  const std::string zeros(100, '\0');
  coop::tests::write_file(workspace / "clean", zeros + "none" + zeros);
  coop::tests::write_file(workspace / "program", zeros + " " + some_secret() + " " + zeros);
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  EXPECT_TRUE(toolbox->call("read_file", {{"path", "clean"}}).structured.contains("data"));
  for (const char* tool : {"read_file", "send_file"}) {
    const ToolOutput output = toolbox->call(tool, {{"path", "program"}});
    EXPECT_TRUE(output.failed) << tool;
    EXPECT_FALSE(output.structured.contains("data")) << tool;
  }
}

KERNEL_TEST(Toolbox, WhatAppearsLaterAndMatchesAPatternIsHiddenToo) {
  const Workspace workspace;
  Policy policy{.workspace = workspace.path()};
  policy.rules.push_back(PathRule{.kind = RuleKind::hide,
                                  .path = workspace / "*.env",
                                  .if_missing = Missing::skip,
                                  .origin = {Scope::user, "policy.toml", {3, 0}},
                                  .pattern = true});
  Result<std::unique_ptr<Toolbox>> opened = Toolbox::open({.policy = policy});
  ASSERT_TRUE(opened.has_value()) << to_text(opened.error());
  const std::unique_ptr<Toolbox> toolbox = std::move(*opened);
  toolbox->warm_up();
  EXPECT_FALSE(toolbox->call("bash", {{"command", "true"}}).failed);
  // By another process, while a prepared sandbox waits.
  coop::tests::write_file(workspace / "later.env", "KEY=s3cret\n");
  coop::tests::write_file(workspace / "plain", "visible\n");
  const std::string read = toolbox->call("bash", {{"command", "cat later.env plain"}}).text;
  EXPECT_EQ(read.find("s3cret"), std::string::npos) << read;
  EXPECT_NE(read.find("visible"), std::string::npos) << read;  // control
  const ToolOutput file = toolbox->call("read_file", {{"path", "later.env"}});
  EXPECT_TRUE(file.failed);
  EXPECT_EQ(file.structured["denials"][0]["rule"], "policy.toml:3") << file.structured.dump();
  EXPECT_EQ(toolbox->call("search_files", {{"pattern", "s3cret"}}).text.find("KEY"),
            std::string::npos);
}

KERNEL_TEST(Toolbox, WithoutASandboxEveryAnswerSaysSo) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> off =
      Toolbox::open({.trust = TrustLevel::inner,
                     .policy = Policy{.workspace = workspace.path()},
                     .sandbox_enabled = false})
          .value();
  EXPECT_EQ(off->isolation(), Isolation::disabled);
  EXPECT_NE(off->instructions().find("DISABLED"), std::string::npos);
  EXPECT_EQ(off->call("bash", {{"command", "true"}}).structured["isolation"], "disabled");
  const std::unique_ptr<Toolbox> owner = open_toolbox(workspace, TrustLevel::owner);
  EXPECT_EQ(owner->call("bash", {{"command", "true"}}).structured["isolation"], "bypass");
  const std::unique_ptr<Toolbox> inside = open_toolbox(workspace);
  EXPECT_FALSE(inside->call("bash", {{"command", "true"}}).structured.contains("isolation"));
}

KERNEL_TEST(Toolbox, ASecretWithQuotesInItIsFoundInArgumentsToo) {
  const Workspace workspace;
  ::setenv("COOP_TEST_SECRET", "a\"b\\c-0123456789", 1);
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  ::unsetenv("COOP_TEST_SECRET");
  const ToolOutput output =
      toolbox->call("write_file", {{"path", "x"}, {"content", "k=a\"b\\c-0123456789"}});
  EXPECT_TRUE(output.failed) << output.text;
  EXPECT_FALSE(coop::tests::exists(workspace / "x"));
}

KERNEL_TEST(Toolbox, OutputArrivesWhileTheCommandRunsAndACancelEndsIt) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  const int cancel = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::string live;
  const CallHooks hooks{.progress =
                            [&](std::string_view piece) {
                              live += piece;
                              ::eventfd_write(cancel, 1);
                            },
                        .cancel_fd = cancel};
  // More than the leak guard holds back.
  const ToolOutput output =
      toolbox->call("bash", {{"command", "yes yyyy | head -c 100000; sleep 60"}}, hooks);
  ::close(cancel);
  EXPECT_FALSE(live.empty());
  EXPECT_TRUE(output.failed);
  EXPECT_EQ(output.structured["outcome"], "signalled") << output.structured.dump();
}

KERNEL_TEST(Toolbox, BashRunsCommandsWhereItIsInstalled) {
  const Workspace workspace;
  const Json command{{"command",
                      "set -o pipefail; source /dev/null && [[ abc == a* ]] && ! (false | true) && "
                      "echo \"${BASH_VERSION:+bash}\""}};
  for (const TrustLevel trust : {TrustLevel::full, TrustLevel::owner})
    EXPECT_EQ(open_toolbox(workspace, trust)->call("bash", command).text, "bash\n");
  // Without it /bin/sh does, and in each call.
  Policy without{.workspace = workspace.path()};
  without.rules.push_back(PathRule{.kind = RuleKind::hide, .path = "/usr/bin/bash"});
  Result<std::unique_ptr<Toolbox>> toolbox = Toolbox::open({.policy = without});
  ASSERT_TRUE(toolbox.has_value()) << to_text(toolbox.error());
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ((*toolbox)->call("bash", {{"command", "echo \"${BASH_VERSION:+bash}.\""}}).text,
              ".\n");
}

KERNEL_TEST(Toolbox, EndedBackgroundProcessesAreInTheNotes) {
  const Workspace workspace;
  for (const TrustLevel trust : {TrustLevel::full, TrustLevel::owner}) {
    const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace, trust);
    const ToolOutput left =
        toolbox->call("bash", {{"command", "(setsid sleep 60 >/dev/null 2>&1 &) ; echo done"}});
    EXPECT_FALSE(left.failed);
    EXPECT_NE(left.structured["notes"].dump().find("background processes"), std::string::npos)
        << left.structured;
    EXPECT_NE(left.text.find("background processes"), std::string::npos) << left.text;
    // Control: one that has ended by then, and one that was waited for.
    for (const char* command : {"(sleep 0 &) ; sleep 0.3", "sleep 0 & wait", "true | sleep 0"})
      EXPECT_EQ(toolbox->call("bash", {{"command", command}}).text, "") << command;
  }
}

KERNEL_TEST(Toolbox, ForOneCallNoSandboxIsPreparedAndTheWorkspaceIsLookedThroughTwice) {
  const Workspace workspace;
  coop::tests::make_directories(workspace / "sub");
  const auto looks_of = [&](Calls calls) {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    // Both kinds: equal events in a row are one.
    EXPECT_GE(
        ::inotify_add_watch(watch.get(), (workspace / "sub").c_str(), IN_OPEN | IN_CLOSE_NOWRITE),
        0);
    Result<std::unique_ptr<Toolbox>> toolbox =
        Toolbox::open({.policy = Policy{.workspace = workspace.path()}, .calls = calls});
    EXPECT_TRUE(toolbox.has_value());
    EXPECT_EQ((*toolbox)->call("bash", {{"command", "echo x"}}).text, "x\n");
    toolbox->reset();
    alignas(inotify_event) std::array<char, 65536> buffer;
    int looks = 0;
    for (ssize_t size = 0; (size = ::read(watch.get(), buffer.data(), buffer.size())) > 0;)
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        if ((event->mask & IN_OPEN) != 0) ++looks;
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    return looks;
  };
  EXPECT_LE(looks_of(Calls::one), 2);   // before and after, as `coop run`
  EXPECT_GT(looks_of(Calls::many), 2);  // control
}

KERNEL_TEST(Toolbox, TheLogHasEachCallWithNumbersPidAndLatency) {
  const Workspace workspace;
  const UniqueFd file(::memfd_create("log", MFD_CLOEXEC));
  Logger log(file.get(), LogFormat::json, LogLevel::debug);
  Result<std::unique_ptr<Toolbox>> toolbox =
      Toolbox::open({.user = "ann", .policy = Policy{.workspace = workspace.path()}, .log = &log});
  ASSERT_TRUE(toolbox.has_value());
  (*toolbox)->call("bash", {{"command", "mkdir -p .git/hooks; exit 3"}});
  ::lseek(file.get(), 0, SEEK_SET);
  std::istringstream lines(read_all(file.get(), "log").value());
  std::map<std::string, Json> records;
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line);
    EXPECT_EQ(record.at("pid"), ::getpid());
    records[record.at("message")] = record.at("fields");
  }
  EXPECT_EQ(records["calling a tool"]["tool"], "bash");
  EXPECT_EQ(records["starting a command"]["arguments"], 3);
  EXPECT_EQ(records["starting a command"]["network"], "none");
  EXPECT_EQ(records["starting a command"]["timeout_ms"], 120000);
  EXPECT_EQ(records["the command has ended"]["exit_code"], 3);
  EXPECT_TRUE(records["the command has ended"]["wall_us"].is_number());
  EXPECT_EQ(records["the tool has answered"]["outcome"], "exited");
  EXPECT_GT(records["the tool has answered"]["latency_us"], 0);
}

KERNEL_TEST(Toolbox, TheOwnersBypassIsLogged) {
  const Workspace workspace;
  for (const TrustLevel trust : {TrustLevel::owner, TrustLevel::full}) {
    const UniqueFd file(::memfd_create("log", MFD_CLOEXEC));
    Logger log(file.get(), LogFormat::json, LogLevel::info);
    Result<std::unique_ptr<Toolbox>> toolbox =
        Toolbox::open({.trust = trust,
                       .user = "ann",
                       .policy = Policy{.workspace = workspace.path()},
                       .log = &log});
    ASSERT_TRUE(toolbox.has_value());
    ::lseek(file.get(), 0, SEEK_SET);
    const std::string text = read_all(file.get(), "log").value();
    EXPECT_EQ(text.contains("the owner bypasses the sandbox"), trust == TrustLevel::owner) << text;
  }
}

// --- /tmp between calls ---------------------------------------------------------------------------

std::unique_ptr<Toolbox> open_keeping(const Workspace& workspace, const std::string& user = "",
                                      std::shared_ptr<SharedState> shared = nullptr,
                                      std::uint64_t size = Limits{}.tmp_size) {
  ToolboxOptions options{
      .user = user, .policy = Policy{.workspace = workspace.path()}, .tmp = KeptTmp::between_calls};
  options.policy.limits.tmp_size = size;
  if (shared) options.shared = std::move(shared);
  Result<std::unique_ptr<Toolbox>> toolbox = Toolbox::open(std::move(options));
  if (toolbox) return std::move(*toolbox);
  ADD_FAILURE() << to_text(toolbox.error());
  std::abort();
}

std::string said(Toolbox& toolbox, const std::string& command) {
  return toolbox.call("bash", {{"command", command}}).text;
}

KERNEL_TEST(KeptTmp, CommandsAndFileToolsSeeWhatEarlierCallsLeft) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_keeping(workspace);
  EXPECT_EQ(said(*toolbox, "echo one > /tmp/a; mkdir /tmp/d"), "");
  EXPECT_EQ(said(*toolbox, "cat /tmp/a"), "one\n");
  EXPECT_EQ(toolbox->call("read_file", {{"path", "/tmp/a"}}).text, "one\n");
  const ToolOutput written =
      toolbox->call("write_file", {{"path", "/tmp/d/b"}, {"content", "two\n"}});
  EXPECT_FALSE(written.failed) << written.text;
  EXPECT_EQ(said(*toolbox, "cat /tmp/d/b; rm /tmp/a"), "two\n");
  EXPECT_TRUE(toolbox->call("read_file", {{"path", "/tmp/a"}}).failed);
  EXPECT_EQ(toolbox->call("list_files", {{"path", "/tmp"}}).text, "/tmp/d/\n");
  EXPECT_NE(toolbox->instructions().find("keeps its files"), std::string::npos);
  // It is not the host's.
  EXPECT_FALSE(coop::tests::exists("/tmp/d/b"));
  // Control: without it nothing is kept.
  const std::unique_ptr<Toolbox> plain = open_toolbox(workspace);
  EXPECT_EQ(said(*plain, "touch /tmp/a"), "");
  EXPECT_EQ(said(*plain, "ls /tmp"), "");
}

KERNEL_TEST(KeptTmp, AnotherPrincipalHasAnother) {
  const Workspace workspace;
  const auto shared = std::make_shared<SharedState>();
  const std::unique_ptr<Toolbox> ann = open_keeping(workspace, "ann", shared);
  EXPECT_EQ(said(*ann, "echo secret > /tmp/a"), "");
  // A new configuration of the same server keeps it, for the same principal alone.
  EXPECT_EQ(said(*open_keeping(workspace, "ann", shared), "cat /tmp/a"), "secret\n");
  EXPECT_EQ(said(*open_keeping(workspace, "bob", shared), "ls /tmp"), "");
  EXPECT_EQ(said(*open_keeping(workspace, "ann", shared), "ls /tmp"), "");  // nor through bob
  EXPECT_EQ(said(*open_keeping(workspace, "ann"), "ls /tmp"), "");          // another server
}

KERNEL_TEST(KeptTmp, TheSizeIsThatOfAllCallsTogether) {
  const Workspace workspace;
  const auto shared = std::make_shared<SharedState>();
  const std::unique_ptr<Toolbox> toolbox = open_keeping(workspace, "ann", shared, 1 << 20);
  const std::string fill = "head -c 700000 /dev/zero > /tmp/";
  EXPECT_EQ(said(*toolbox, fill + "a"), "");
  EXPECT_NE(said(*toolbox, fill + "b").find("No space left"), std::string::npos);
  EXPECT_EQ(said(*toolbox, "rm /tmp/*; " + fill + "b"), "");
  // A new limit holds at once.
  const std::unique_ptr<Toolbox> narrower = open_keeping(workspace, "ann", shared, 1 << 18);
  EXPECT_NE(said(*narrower, fill + "b").find("No space left"), std::string::npos);
}

// What is mounted below /tmp needs mount points, and an earlier command could have put links there.
KERNEL_TEST(KeptTmp, WithAMountInItEachCallHasItsOwn) {
  const Workspace workspace;
  const Workspace other;
  ToolboxOptions options{.policy = Policy{.workspace = workspace.path()},
                         .tmp = KeptTmp::between_calls};
  options.policy.view = View::host;  // paths are as on the host, so below /tmp
  options.policy.rules.push_back(PathRule{.kind = RuleKind::read_write, .path = other.path()});
  Result<std::unique_ptr<Toolbox>> toolbox = Toolbox::open(std::move(options));
  ASSERT_TRUE(toolbox.has_value()) << to_text(toolbox.error());
  if (!other.path().starts_with("/tmp/")) GTEST_SKIP() << "TMPDIR is elsewhere";
  EXPECT_EQ(said(**toolbox, "touch /tmp/a " + other.path() + "/b"), "");
  EXPECT_EQ(said(**toolbox, "ls /tmp/a 2>&1 | grep -c 'No such'; ls " + other.path() + "/b"),
            "1\n" + other.path() + "/b\n");
}

std::vector<pid_t> children_named(pid_t parent, std::string_view name) {
  std::vector<pid_t> found;
  const std::string task = "/proc/" + std::to_string(parent) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(task)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t pid = 0; children >> pid;) {
      std::string comm;
      std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), comm);
      if (comm == name) found.push_back(pid);
    }
  }
  return found;
}

KERNEL_TEST(KeptTmp, NothingIsLeftWhenTheServerIsKilled) {
  const Workspace workspace;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t server = ::fork();
  if (server == 0) {
    const std::unique_ptr<Toolbox> toolbox = open_keeping(workspace);
    said(*toolbox, "echo x > /tmp/a");
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "r", 1);
    ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const std::vector<pid_t> holders = children_named(server, "coop-tmp");
  EXPECT_EQ(holders.size(), 1U);
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  for (const pid_t holder : holders) {
    for (int tries = 0; tries < 500 && ::kill(holder, 0) == 0; ++tries) ::usleep(10'000);
    // Adopted and reaped, or a zombie where nothing reaps.
    std::string state;
    std::ifstream status("/proc/" + std::to_string(holder) + "/stat");
    std::getline(status, state);
    EXPECT_TRUE(state.empty() || state.contains(") Z ")) << state;
  }
  ::close(ready[0]);
  ::close(ready[1]);
}

KERNEL_TEST(Toolbox, SixteenCallsAtOnce) {
  const Workspace workspace;
  const std::unique_ptr<Toolbox> toolbox = open_toolbox(workspace);
  std::mutex mutex;
  int good = 0;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 16; ++number)
      threads.emplace_back([&, number] {
        const std::string text = std::to_string(number);
        const ToolOutput ran = toolbox->call("bash", {{"command", "echo " + text}});
        const ToolOutput wrote =
            toolbox->call("write_file", {{"path", "file" + text}, {"content", text}});
        const std::lock_guard lock(mutex);
        good += ran.text == text + "\n" && !wrote.failed ? 1 : 0;
      });
  }
  EXPECT_EQ(good, 16);
}

}  // namespace
}  // namespace coop::tools
