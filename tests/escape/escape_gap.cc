// The host replaces a guarded file while a sandbox runs, as git and editors do. That ends the read-only mount inside, and
// the sandbox can write the new file. What it writes there must not stay; what the user writes must.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <sys/stat.h>
#include <filesystem>

#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "escape/guarded.h"
#include "support/harness.h"
#include "support/without_fuse.h"

namespace coop::tests {
namespace {

using nlohmann::json;

const std::string kHostGit =
    "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
    "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; set -e; ";

void on_host(const Workspace& workspace, const std::string& script) {
  const Ran ran = run_bare({"sh", "-c", kHostGit + script}, {.directory = workspace.path()});
  ASSERT_EQ(ran.exit_code, 0) << script << "\n" << ran.err;
}

bool appears(const std::string& path) {
  for (int attempt = 0; attempt < 6000 && !exists(path); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return exists(path);
}

enum class Supervisor { stopped, running };

// Starts a sandbox; while it waits, `host` runs outside; then `inside` runs in it. A supervisor that is stopped meanwhile
// cannot make a lost mount again, so that the gap lasts.
json in_between(const Workspace& workspace, const std::string& host, const std::string& inside,
                const Arguments& flags = {}, Supervisor supervisor = Supervisor::stopped) {
  for (const char* const name : {"started", "go", "done"}) ::unlink((workspace / name).c_str());
  Arguments command{coop_binary(), "run", "--json", "-w", workspace.path()};
  command.insert(command.end(), flags.begin(), flags.end());
  const std::string script = "touch started; while [ ! -e go ]; do sleep 0.01; done; " + inside +
                             "; result=$?; touch done; exit $result";
  command.insert(command.end(), {"--", "sh", "-c", script});
  Process coop(command, workspace.options());
  EXPECT_TRUE(appears(workspace / "started"));
  // Until it watches the mounts.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (supervisor == Supervisor::stopped) coop.signal(SIGSTOP);
  on_host(workspace, host);
  if (supervisor == Supervisor::running)
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  write_file(workspace / "go", "");
  EXPECT_TRUE(appears(workspace / "done"));
  if (supervisor == Supervisor::stopped) coop.signal(SIGCONT);
  json output = json_of(coop.finish());
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  return output;
}

bool nothing_taken(const json& output) {
  return output.value("quarantined", json::array({"?"})).empty() &&
         output.value("quarantined_total", 1) == 0;
}

std::string kept(const json& output, const std::string& path) {
  const json entry = entry_for(output, path);
  return entry.is_object() ? read_file(entry.value("moved_to", "")) : "";
}

void make_repository(const Workspace& workspace) {
  on_host(workspace, "git init -q -b main; git add .; git commit -qm first");
}

KERNEL_TEST(EscapeGap, WhatTheUsersGitWritesStays) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  make_repository(workspace);
  const json output =
      in_between(workspace,
                 "git remote add origin https://example.com/x.git; git config user.name me;"
                 " git config pull.rebase true; git checkout -q -b topic; git checkout -q main",
                 "true");
  EXPECT_TRUE(nothing_taken(output)) << output.dump(2);
  const std::string config = read_file(workspace / ".git/config");
  EXPECT_NE(config.find("https://example.com/x.git"), std::string::npos) << config;
  EXPECT_NE(config.find("name = me"), std::string::npos) << config;
}

KERNEL_TEST(EscapeGap, SettingsWrittenThroughTheGapAreUndone) {
  const WithoutFuse by_mounts;
  for (const char* const view : {"minimal", "host"}) {
    const Workspace workspace(visible_place());
    make_repository(workspace);
    const std::string before = read_file(workspace / ".git/config");
    const std::string attack =
        "printf '[core]\\n\\tfsmonitor = ./evil\\n' >> .git/config && touch wrote";
    const json output = in_between(workspace, "git remote add origin https://example.com/x.git",
                                   attack, {"--view", view});
    // The gap is real: else this test proves nothing.
    ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
    EXPECT_EQ(read_file(workspace / ".git/config"), before) << output.dump(2);
    EXPECT_NE(kept(output, workspace / ".git/config").find("evil"), std::string::npos);
    EXPECT_NE(kept(output, workspace / ".git/config").find("example.com"), std::string::npos);

    // Control: where it is allowed it stays.
    const json control = in_between(workspace, "git remote add origin https://example.com/x.git",
                                    attack, {"--view", view, "--allow-guarded", ".git/config"});
    EXPECT_NE(read_file(workspace / ".git/config").find("evil"), std::string::npos)
        << control.dump(2);
  }
}

// A lost mount is made again at once, for files and directories.
KERNEL_TEST(EscapeGap, ALostMountIsMadeAgain) {
  const WithoutFuse by_mounts;
  for (const char* const view : {"minimal", "host"}) {
    const Workspace workspace(visible_place());
    make_repository(workspace);
    make_directories(workspace / ".vscode");
    write_file(workspace / ".vscode/settings.json", "{}");
    write_file(workspace / ".envrc", "good");
    const std::string host =
        "git remote add origin https://example.com/x.git; cp .envrc e; mv e .envrc;"
        " cp -r .vscode v; rm -r .vscode; mv v .vscode";
    const std::string attack =
        "(echo evil >> .git/config) 2>/dev/null && touch wrote; (echo evil > .envrc) 2>/dev/null &&"
        " touch wrote; (echo evil > .vscode/tasks.json) 2>/dev/null && touch wrote; true";
    const json output = in_between(workspace, host, attack, {"--view", view}, Supervisor::running);
    EXPECT_FALSE(exists(workspace / "wrote")) << output.dump(2);
    EXPECT_TRUE(nothing_taken(output)) << output.dump(2);
    // What the host wrote is visible inside, and stays.
    EXPECT_NE(read_file(workspace / ".git/config").find("example.com"), std::string::npos);

    // Control: where nothing is guarded the same writes succeed.
    const json control = in_between(workspace, "true", attack,
                                    {"--view", view, "--allow-guarded", ".git/config",
                                     "--allow-guarded", ".vscode", "--allow-guarded", ".envrc"},
                                    Supervisor::running);
    EXPECT_TRUE(exists(workspace / "wrote")) << control.dump(2);
  }
}

// A mount follows the file that the host renames, as editors do that keep a copy: its name is free then, and no event says so.
KERNEL_TEST(EscapeGap, ARenamedFileAndItsSuccessorAreGuarded) {
  const WithoutFuse by_mounts;
  for (const char* const view : {"minimal", "host"}) {
    const Workspace workspace(visible_place());
    make_repository(workspace);
    write_file(workspace / ".envrc", "good");
    write_file(workspace / ".env", "SECRET");
    const std::string host =
        "mv .envrc .envrc~; echo good > .envrc; mv .env .env~; echo SECRET > .env;"
        " mv .git .git.old; cp -r .git.old .git";
    const std::string attack =
        "(echo evil >> .git/config) 2>/dev/null && touch wrote; (echo evil > .envrc) 2>/dev/null &&"
        " touch wrote; grep -q SECRET .env 2>/dev/null && touch wrote; true";
    const Arguments hidden{"--view", view, "--hide", workspace / ".env"};
    const json output = in_between(workspace, host, attack, hidden, Supervisor::running);
    EXPECT_FALSE(exists(workspace / "wrote")) << output.dump(2);

    // Control: where nothing is guarded or hidden the same words succeed.
    run_bare({"rm", "-rf", ".git", ".git.old", ".envrc~", ".env~"},
             {.directory = workspace.path()});
    make_repository(workspace);
    in_between(workspace, host, attack,
               {"--view", view, "--allow-guarded", ".git/config", "--allow-guarded", ".envrc",
                "--allow-guarded", ".git"},
               Supervisor::running);
    EXPECT_TRUE(exists(workspace / "wrote"));
  }
}

// The host has none for a while; what the sandbox makes there meanwhile does not stay.
KERNEL_TEST(EscapeGap, ARemovedFileIsGuardedAgainWhenItIsBack) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  write_file(workspace / ".envrc", "good");
  const json output =
      in_between(workspace, "mv .envrc away; sleep 0.2; mv away .envrc",
                 "(echo evil > .envrc) 2>/dev/null && touch wrote; true", {}, Supervisor::running);
  EXPECT_FALSE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".envrc"), "good") << output.dump(2);
  const json second = in_between(workspace, "rm .envrc",
                                 "(echo evil > .envrc) 2>/dev/null && touch wrote; sleep 0.3; true",
                                 {}, Supervisor::running);
  EXPECT_TRUE(exists(workspace / "wrote")) << second.dump(2);
  EXPECT_NE(read_file(workspace / ".envrc"), "evil\n") << second.dump(2);
}

// The lock file is the host's, under a name that is not guarded, and becomes the configuration.
KERNEL_TEST(EscapeGap, TheLockFileOfTheHostsGitIsNoWayIn) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  make_repository(workspace);
  const std::string before = read_file(workspace / ".git/config");
  for (const char* const name : {"started", "go"}) ::unlink((workspace / name).c_str());
  json output;
  std::thread sandbox([&] {
    output = run_script(workspace,
                        "exec 3>>.git/config.lock; touch started; while [ ! -e go ]; do sleep 0.01;"
                        " done; printf '[alias]\\n\\tst = !evil\\n' >&3");
  });
  EXPECT_TRUE(appears(workspace / "started"));
  on_host(workspace, "cat .git/config >> .git/config.lock; mv .git/config.lock .git/config");
  write_file(workspace / "go", "");
  sandbox.join();
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_EQ(read_file(workspace / ".git/config"), before) << output.dump(2);
  EXPECT_NE(kept(output, workspace / ".git/config").find("!evil"), std::string::npos);
}

KERNEL_TEST(EscapeGap, FilesAndDirectoriesWrittenThroughTheGapAreUndone) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  make_directories(workspace / ".vscode/sub");
  write_file(workspace / ".vscode/settings.json", "{}");
  write_file(workspace / ".vscode/sub/x", "x");
  ::chmod((workspace / ".vscode/settings.json").c_str(), 0640);
  write_file(workspace / ".envrc", "good");
  const json output = in_between(
      workspace, "cp -rp .vscode v; rm -r .vscode; mv v .vscode; cp -p .envrc e; mv e .envrc",
      "echo evil > .vscode/tasks.json && echo evil > .envrc && touch wrote");
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".envrc"), "good") << output.dump(2);
  EXPECT_FALSE(exists(workspace / ".vscode/tasks.json")) << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".vscode/settings.json"), "{}") << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".vscode/sub/x"), "x") << output.dump(2);
  struct stat status{};
  ASSERT_EQ(::stat((workspace / ".vscode/settings.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
  EXPECT_EQ(kept(output, workspace / ".envrc"), "evil\n");
}

// The control of the last: the same without a write from inside.
KERNEL_TEST(EscapeGap, ReplacedByTheSameNothingIsTaken) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  make_directories(workspace / ".vscode/sub");
  write_file(workspace / ".vscode/settings.json", "{}");
  write_file(workspace / ".envrc", "good");
  const json output = in_between(
      workspace, "cp -rp .vscode v; rm -r .vscode; mv v .vscode; cp -p .envrc e; mv e .envrc",
      "true");
  EXPECT_TRUE(nothing_taken(output)) << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".envrc"), "good");
  EXPECT_EQ(read_file(workspace / ".vscode/settings.json"), "{}");
}

// While the mount is there, only the user can have written it.
KERNEL_TEST(EscapeGap, WhatTheUserWritesInPlaceStays) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  make_repository(workspace);
  make_directories(workspace / ".vscode");
  write_file(workspace / ".envrc", "good");
  const json output = in_between(
      workspace,
      "echo more >> .envrc; echo mine > .vscode/tasks.json; echo mine > .git/hooks/pre-commit;"
      " printf '[alias]\\n\\tst = !mine\\n' >> .git/config",
      "echo evil >> .envrc; echo evil > .vscode/x; echo evil > .git/hooks/x; true");
  EXPECT_TRUE(nothing_taken(output)) << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".envrc"), "goodmore\n");
  EXPECT_EQ(read_file(workspace / ".vscode/tasks.json"), "mine\n");
  EXPECT_EQ(read_file(workspace / ".git/hooks/pre-commit"), "mine\n");
  EXPECT_NE(read_file(workspace / ".git/config").find("!mine"), std::string::npos);
  EXPECT_FALSE(exists(workspace / ".vscode/x"));
}

// A removed name frees its mount while the inode lives on under another.
KERNEL_TEST(EscapeGap, TheSameInodeUnderItsOldNameIsNoProof) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  write_file(workspace / ".envrc", "good");
  const json output = in_between(workspace, "ln .envrc other; rm .envrc; mv other .envrc",
                                 "echo evil > .envrc && touch wrote");
  ASSERT_TRUE(exists(workspace / "wrote")) << output.dump(2);
  EXPECT_EQ(read_file(workspace / ".envrc"), "good") << output.dump(2);
}

KERNEL_TEST(EscapeGap, AHardLinkIsNoWayIn) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  write_file(workspace / ".envrc", "good");
  on_host(workspace, "ln .envrc other");
  const json output = in_between(workspace, "true", "echo evil > other");
  EXPECT_EQ(read_file(workspace / ".envrc"), "good") << output.dump(2);
  EXPECT_EQ(kept(output, workspace / ".envrc"), "evil\n");
}

// The janitor judges like the supervisor.
KERNEL_TEST(EscapeGap, AlsoWhenTheSupervisorIsKilled) {
  const WithoutFuse by_mounts;
  const Workspace workspace;
  make_repository(workspace);
  write_file(workspace / ".envrc", "good");
  const std::string before = read_file(workspace / ".git/config");
  Process coop({coop_binary(), "run", "-w", workspace.path(), "--", "sh", "-c",
                "touch started; while [ ! -e go ]; do sleep 0.01; done;"
                " printf '[alias]\\n\\tst = !evil\\n' >> .git/config && echo new > .mcp.json &&"
                " touch wrote; sleep 60"},
               workspace.options());
  ASSERT_TRUE(appears(workspace / "started"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the janitor is there
  coop.signal(SIGSTOP);
  on_host(workspace, "git remote add origin https://example.com/x.git; echo mine >> .envrc");
  write_file(workspace / "go", "");
  ASSERT_TRUE(appears(workspace / "wrote"));
  coop.signal(SIGKILL);
  coop.finish();
  for (int attempt = 0; attempt < 6000 && read_file(workspace / ".git/config") != before; ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(read_file(workspace / ".git/config"), before);
  for (int attempt = 0; attempt < 6000 && exists(workspace / ".mcp.json"); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(exists(workspace / ".mcp.json"));
  EXPECT_EQ(read_file(workspace / ".envrc"), "goodmine\n");
}

}  // namespace
}  // namespace coop::tests
