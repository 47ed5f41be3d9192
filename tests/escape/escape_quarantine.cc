// Guarded files that did not exist and are made during the run: afterwards they must be gone from
// the workspace, kept in the quarantine, and reported.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>
#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

// Makes `file` inside; then again with the guard switched off, as the control.
void expect_quarantined(const std::string& file, const std::string& guard) {
  const Workspace workspace;
  const std::string directory =
      file.find('/') == std::string::npos ? "." : file.substr(0, file.rfind('/'));
  const std::string script = "mkdir -p '" + directory + "' && printf evil > '" + file + "'";

  const nlohmann::json output = run_script(workspace, script);
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_FALSE(exists(workspace / file)) << output.dump();
  const nlohmann::json entry = entry_for(output, workspace / file);
  ASSERT_TRUE(entry.is_object()) << output.dump();
  const std::string rest = (workspace / file).substr(entry.value("path", "").size());
  EXPECT_EQ(read_file(entry.value("moved_to", "") + rest), "evil") << entry.dump();

  const nlohmann::json control = run_script(workspace, script, {"--allow-guarded", guard});
  EXPECT_EQ(read_file(workspace / file), "evil") << control.dump();
}

KERNEL_TEST(EscapeQuarantine, Envrc) { expect_quarantined(".envrc", ".envrc"); }
KERNEL_TEST(EscapeQuarantine, EditorTasks) { expect_quarantined(".vscode/tasks.json", ".vscode"); }
KERNEL_TEST(EscapeQuarantine, AgentServers) { expect_quarantined(".mcp.json", ".mcp.json"); }
KERNEL_TEST(EscapeQuarantine, Workflows) {
  expect_quarantined(".github/workflows/evil.yml", ".github/workflows");
}
KERNEL_TEST(EscapeQuarantine, Husky) { expect_quarantined(".husky/pre-commit", ".husky"); }
KERNEL_TEST(EscapeQuarantine, AgentSettings) {
  expect_quarantined(".claude/settings.json", ".claude/settings.json");
}

KERNEL_TEST(EscapeQuarantine, OwnPolicyOfTheProject) {
  const Workspace workspace;
  const nlohmann::json output = run_script(workspace, "mkdir .coop && echo x > .coop/coop.toml");
  EXPECT_FALSE(exists(workspace / ".coop")) << output.dump();
  EXPECT_TRUE(entry_for(output, workspace / ".coop").is_object()) << output.dump();
}

KERNEL_TEST(EscapeQuarantine, SymlinkInPlaceOfAGuardedDirectory) {
  // The quarantine must move the symlink, not its target on the host.
  const Workspace workspace;
  make_directories(workspace.around() / "precious");
  write_file(workspace.around() / "precious/file", "mine");
  const nlohmann::json output =
      run_script(workspace, "ln -s ../precious .vscode; ln -s ../precious/file .envrc");
  EXPECT_EQ(output.value("exit_code", -1), 0);
  EXPECT_FALSE(exists(workspace / ".vscode")) << output.dump();
  EXPECT_FALSE(exists(workspace / ".envrc")) << output.dump();
  EXPECT_EQ(read_file(workspace.around() / "precious/file"), "mine");
}

// The user's own link leads to a place where the sandbox makes a link to what it cannot write: only that link goes.
KERNEL_TEST(EscapeQuarantine, SymlinkBehindTheUsersLinkTakesNothing) {
  const Workspace workspace;
  ASSERT_EQ(run_bare({"git", "init", "-q", workspace.path()}).exit_code, 0);
  make_directories(workspace / "cfg");
  make_directories(workspace / "data");
  write_file(workspace / "data/file", "mine");
  write_file(workspace / ".env", "TOKEN=1");
  make_symlink("cfg/envrc", workspace / ".envrc");
  make_symlink("cfg", workspace / ".claude");
  const std::string secret = "ln -s ../.env cfg/envrc";
  const nlohmann::json control = run_script(workspace, secret, {"--allow-guarded", ".envrc"});
  EXPECT_EQ(read_file(workspace / ".envrc"), "TOKEN=1") << control.dump();
  ASSERT_EQ(run_bare({"rm", workspace / "cfg/envrc"}).exit_code, 0);
  nlohmann::json output = run_script(workspace, secret, {"--hide-secrets"});
  EXPECT_FALSE(exists(workspace / "cfg/envrc")) << output.dump();
  EXPECT_EQ(read_file(workspace / ".env"), "TOKEN=1") << output.dump();
  output = run_script(workspace, "ln -s ../data cfg/envrc", {"--ro", workspace / "data"});
  EXPECT_EQ(read_file(workspace / "data/file"), "mine") << output.dump();
  output = run_script(workspace,
                      "ln -s x cfg/envrc; ln -s ../.git cfg/x; ln -s ../.git "
                      "cfg/settings.local.json");
  EXPECT_FALSE(exists(workspace / "cfg/settings.local.json")) << output.dump();
  EXPECT_TRUE(exists(workspace / ".git/HEAD")) << output.dump();
}

// A new link that comes first in the list does not shield what the user's link leads to.
KERNEL_TEST(EscapeQuarantine, SecondLinkToTheTargetOfTheUsersLink) {
  const Workspace workspace;
  make_directories(workspace / "cfg");
  make_symlink("cfg/envrc", workspace / ".envrc");
  const std::string attack = "mkdir .a; ln -s ../cfg/envrc .a/.envrc; echo evil > cfg/envrc";
  const nlohmann::json control = run_script(workspace, attack, {"--allow-guarded", ".envrc"});
  EXPECT_EQ(read_file(workspace / ".envrc"), "evil\n") << control.dump();
  ASSERT_EQ(run_bare({"rm", "-r", workspace / "cfg/envrc", workspace / ".a"}).exit_code, 0);
  const nlohmann::json output = run_script(workspace, attack);
  EXPECT_FALSE(exists(workspace / "cfg/envrc")) << output.dump();
}

KERNEL_TEST(EscapeQuarantine, SymlinkWithinAGuardedDirectory) {
  const Workspace workspace;
  make_directories(workspace.around() / "precious");
  write_file(workspace.around() / "precious/file", "mine");
  const nlohmann::json output =
      run_script(workspace, "mkdir .vscode; ln -s ../../precious .vscode/a; ln -s / .vscode/b");
  EXPECT_FALSE(exists(workspace / ".vscode")) << output.dump();
  EXPECT_EQ(read_file(workspace.around() / "precious/file"), "mine");
  EXPECT_TRUE(exists("/usr"));
}

KERNEL_TEST(EscapeQuarantine, FifoAtAGuardedName) {
  // open() of a FIFO to copy its bytes would block for ever.
  const Workspace workspace;
  const nlohmann::json output =
      run_script(workspace, "mkfifo .envrc; mkdir .vscode; mkfifo .vscode/tasks.json");
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_FALSE(exists(workspace / ".envrc")) << output.dump();
  EXPECT_FALSE(exists(workspace / ".vscode/tasks.json")) << output.dump();
}

KERNEL_TEST(EscapeQuarantine, DirectoryWithoutReadPermission) {
  const Workspace workspace;
  const nlohmann::json output = run_script(
      workspace,
      "mkdir -p .vscode && echo evil > .vscode/tasks.json && chmod 0300 .vscode; "
      "mkdir -p locked/.git/hooks && echo evil > locked/.git/hooks/pre-commit && chmod 0 locked");
  EXPECT_FALSE(exists(workspace / ".vscode/tasks.json")) << output.dump();
  ::chmod((workspace / "locked").c_str(), 0700);
  // A directory that could not be read must at least be reported.
  EXPECT_TRUE(!exists(workspace / "locked/.git/hooks/pre-commit") ||
              !output.value("notes", nlohmann::json::array()).empty())
      << output.dump();
}

KERNEL_TEST(EscapeQuarantine, HooksBelowAVeryLongPath) {
  const Workspace workspace;
  const Ran ran = workspace.inside({"deep", "down", "40"}, {"--json"});
  const nlohmann::json output = json_of(ran);
  EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  EXPECT_TRUE(!output.value("quarantined", nlohmann::json::array()).empty() ||
              !output.value("notes", nlohmann::json::array()).empty())
      << "40 levels of 200 bytes with a hook below were neither taken nor noted: " << output.dump();
}

// So many that listing them all would use up every bound. In one directory, because a disk takes long for as many
// directories: upper and lower case and dots at the end make no difference to a guard.
std::string decoys(int dots) {
  return "awk 'BEGIN { for (n = 0; n < 256; n++) { name = \"\"; for (k = 0; k < 8; k++) { c = "
         "substr(\"cooptoml\", k + 1, 1); if (int(n / 2 ^ k) % 2) c = toupper(c); name = name (k "
         "== 4 ? "
         "\".\" : \"\") c } for (d = 0; d < " +
         std::to_string(dots) + "; d++) { print name; name = name \".\" } } }' | xargs touch";
}

KERNEL_TEST(EscapeQuarantine, DecoysDoNotHideAPlantedRepository) {
  const Workspace workspace;
  RunOptions options = workspace.options();
  options.timeout = std::chrono::minutes(2);
  const std::string deep = "a/b/c/d/e/f/g/h/i/j/k/l/planted";
  const std::string script =
      "mkdir -p d z/" + deep + "/.git/hooks && cd d && " + decoys(80) + " && cd ../z/" + deep +
      " && mkdir .git/objects .git/refs && echo 'ref: refs/heads/x' > .git/HEAD &&"
      " echo evil > .git/hooks/pre-commit && echo evil > .git/config";
  const Ran ran = workspace.run({"sh", "-c", script}, {"--json"}, options);
  const nlohmann::json output = json_of(ran);
  EXPECT_EQ(output.value("exit_code", -1), 0) << ran.err;
  EXPECT_FALSE(exists(workspace / ("z/" + deep + "/.git/hooks")));
  EXPECT_FALSE(exists(workspace / ("z/" + deep + "/.git/config")));
  EXPECT_EQ(run_bare({"ls", "-A", workspace / "d"}).out, "");
  EXPECT_EQ(output.value("quarantined_total", 0), 256 * 80 + 2);
  EXPECT_EQ(output.value("quarantined", nlohmann::json::array()).size(), 100u);
  EXPECT_LT(ran.out.size(), 100'000u);
  EXPECT_EQ(run_bare({"sh", "-c", "ls -A '" + workspace.path() + "' | grep coop-"}).out, "");

  // As text: bounded, with a count.
  const Ran text = workspace.run({"sh", "-c", "cd d && " + decoys(4)}, {}, options);
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_LT(std::ranges::count(text.err, '\n'), 120);
  EXPECT_NE(text.err.find("quarantined 1024 guarded files in all"), std::string::npos) << text.err;
}

// The state directory cannot be used, and every name to set the file aside is taken.
KERNEL_TEST(EscapeQuarantine, AGuardedFileThatRemainsFailsTheRun) {
  const Workspace workspace;
  const std::string script =
      "seq -f .coop-quarantined-%g 0 10000 | xargs touch; echo evil > .envrc";
  RunOptions options = workspace.options();
  options.environment["XDG_STATE_HOME"] = workspace.around() / "file";
  write_file(workspace.around() / "file", "");
  const Ran ran = workspace.run({"sh", "-c", script}, {"--json"}, options);
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_EQ(json_of(ran).value("outcome", ""), "guards_incomplete") << ran.out;
  EXPECT_TRUE(exists(workspace / ".envrc"));
  ::unlink((workspace / ".envrc").c_str());
  // Control: the same with a place to move it to.
  const Ran control = workspace.run({"sh", "-c", script}, {"--json"});
  EXPECT_EQ(control.exit_code, 0) << control.err;
  EXPECT_FALSE(exists(workspace / ".envrc"));
}

KERNEL_TEST(EscapeQuarantine, TheQuarantineItselfIsOutOfReach) {
  const Workspace workspace(visible_place());
  const RunOptions options = workspace.options();
  const Ran first = workspace.run({"sh", "-c", "echo evil > .envrc"}, {"--json"}, options);
  const nlohmann::json entry = entry_for(json_of(first), workspace / ".envrc");
  ASSERT_TRUE(entry.is_object()) << first.out;
  const std::string kept = entry.value("moved_to", "?");
  EXPECT_TRUE(escaped(workspace.outside({"read", kept})));
  EXPECT_TRUE(
      blocked(workspace.inside({"read", kept}, {"--view", "host"}, options), {ENOENT, EACCES}));
  struct stat status{};
  ASSERT_EQ(::stat(kept.substr(0, kept.rfind('/')).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077, 0u);
}

}  // namespace
}  // namespace coop::tests
