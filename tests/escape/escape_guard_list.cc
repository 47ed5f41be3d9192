// Every name of policies/guards.txt, where it counts, and the same in trees that are granted with --rw.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

struct Line {
  std::string name{};
  std::string kind{};  // "anywhere"; empty for the top of a workspace
};

std::vector<Line> guard_list() {
  std::vector<Line> lines;
  std::ifstream input(COOP_SOURCE_DIRECTORY "/policies/guards.txt");
  for (std::string text; std::getline(input, text);) {
    if (text.empty() || text.starts_with('#')) continue;
    Line line;
    std::string second;
    std::istringstream(text) >> line.name >> second;
    if (second.starts_with(':')) line.kind = second.substr(1);
    lines.push_back(line);
  }
  return lines;
}

// Files with these names, or in directories with these names, below each of `places`.
std::string making(const std::vector<Line>& lines, const Arguments& places) {
  std::string script = "set -e; ";
  for (const std::string& place : places)
    for (const Line& line : lines)
      script += "mkdir -p \"$(dirname " + place + "/" + line.name + ")\"; [ -d " + place + "/" +
                line.name + " ] || echo evil > " + place + "/" + line.name + "; ";
  return script;
}

Arguments left(const Workspace& workspace, const std::vector<Line>& lines,
               const std::string& place) {
  Arguments found;
  for (const Line& line : lines)
    if (exists(workspace / (place + "/" + line.name))) found.push_back(line.name);
  return found;
}

KERNEL_TEST(EscapeGuardList, EveryNameIsTakenAway) {
  std::vector<Line> anywhere;
  std::vector<Line> top;
  Arguments allowed;
  for (const Line& line : guard_list()) {
    const bool special = line.kind == "home" || line.kind == "file";
    if (line.name.starts_with(".git/") || line.name == ".git" || special) continue;
    (line.kind == "anywhere" ? anywhere : top).push_back(line);
    allowed.insert(allowed.end(), {"--allow-guarded", line.name});
  }
  ASSERT_GT(anywhere.size(), 80u);
  ASSERT_GT(top.size(), 60u);
  const std::string script = making(top, {"."}) + making(anywhere, {".", "sub/below"});
  const Workspace workspace;
  EXPECT_EQ(run_script(workspace, script).value("exit_code", -1), 0);
  EXPECT_EQ(left(workspace, top, "."), Arguments{});
  EXPECT_EQ(left(workspace, anywhere, "."), Arguments{});
  EXPECT_EQ(left(workspace, anywhere, "sub/below"), Arguments{});

  const Workspace control;
  run_script(control, script, allowed);
  EXPECT_EQ(left(control, top, ".").size(), top.size());
  EXPECT_EQ(left(control, anywhere, "sub/below").size(), anywhere.size());
}

KERNEL_TEST(EscapeGuardList, FileThatLeadsToAnotherRepository) {
  const Workspace workspace;
  const std::string script = "mkdir -p a/.jj b/.jj/repo; echo ../../evil > a/.jj/repo";
  run_script(workspace, script);
  EXPECT_FALSE(exists(workspace / "a/.jj/repo"));
  EXPECT_TRUE(exists(workspace / "b/.jj/repo"));
  run_script(workspace, script, {"--allow-guarded", ".jj/repo"});
  EXPECT_TRUE(exists(workspace / "a/.jj/repo"));  // control
}

KERNEL_TEST(EscapeGuardList, ProjectFilesCountAtTheTopOnlyAndPackagesAreLeftAlone) {
  const Workspace workspace;
  const Arguments kept{"sub/.github/workflows/ci.yml",
                       "node_modules/x/.vscode/settings.json",
                       "vendor/x/.cargo/config.toml",
                       "sub/.yarnrc",
                       "AGENTS.md",
                       "CLAUDE.md",
                       ".config",
                       "sub/.jj/repo/store/x"};
  std::string script;
  for (const std::string& file : kept)
    script += "mkdir -p $(dirname " + file + "); echo x > " + file + "; ";
  const nlohmann::json output = run_script(workspace, script);
  EXPECT_EQ(output["quarantined"], nlohmann::json::array());
  for (const std::string& file : kept) EXPECT_TRUE(exists(workspace / file)) << file;
}

KERNEL_TEST(EscapeGuardList, EntriesThatAreReadOnlyInASubdirectory) {
  const Workspace workspace;
  for (const char* const file :
       {"sub/.vscode/settings.json", "sub/.claude/settings.json", "sub/.cargo/config.toml"}) {
    make_directories(workspace / std::string(file).substr(0, std::string(file).rfind('/')));
    write_file(workspace / file, "good");
    const Arguments attack{"sh", "-c", "echo evil > " + std::string(file)};
    EXPECT_NE(workspace.run(attack).exit_code, 0) << file;
    EXPECT_EQ(read_file(workspace / file), "good") << file;
  }
  EXPECT_EQ(workspace
                .run({"sh", "-c", "echo evil > sub/.vscode/settings.json"},
                     {"--allow-guarded", ".vscode"})
                .exit_code,
            0);  // control
}

// --- Granted trees ----------------------------------------------------------------------------

// A home directory beside the workspace, as $HOME.
class Granted {
 public:
  Granted() : home_(workspace_.around() / "home") {
    for (const char* const name : {".claude", ".config", ".cargo/registry"})
      make_directories(home_ + "/" + name);
  }
  std::string operator/(const std::string& name) const { return home_ + "/" + name; }

  Ran run(const std::string& script, const Arguments& flags) const {
    RunOptions options = workspace_.options();
    options.environment["HOME"] = home_;
    return workspace_.run({"sh", "-c", "cd " + home_ + "; " + script}, flags, options);
  }

 private:
  Workspace workspace_;
  std::string home_;
};

// `file` below the home, in a tree that is granted: not when it is new, and not when it exists.
void expect_guarded_in(const std::string& tree, const std::string& file, const std::string& guard) {
  const Granted home;
  const std::string script =
      "mkdir -p $(dirname " + file + ") && echo evil > " + file + "; echo x > " + tree + "/fine";
  const nlohmann::json output = json_of(home.run(script, {"--rw", home / tree, "--json"}));
  EXPECT_FALSE(exists(home / file)) << output.dump();
  EXPECT_TRUE(exists(home / (tree + "/fine"))) << output.dump();
  EXPECT_TRUE(entry_for(output, home / file).is_object()) << output.dump();

  home.run(script, {"--rw", home / tree, "--allow-guarded", guard});
  EXPECT_EQ(read_file(home / file), "evil\n");  // control
  write_file(home / file, "good");
  home.run(script, {"--rw", home / tree});
  EXPECT_EQ(read_file(home / file), "good");
}

KERNEL_TEST(EscapeGrantedTrees, SettingsOfAnAgent) {
  expect_guarded_in(".claude", ".claude/settings.json", ".claude/settings.json");
  expect_guarded_in(".claude", ".claude/hooks/stop.sh", ".claude/hooks");
}
KERNEL_TEST(EscapeGrantedTrees, ProgramsAndSettingsOfAPackageManager) {
  expect_guarded_in(".cargo", ".cargo/bin/rg", ".cargo/bin");
  expect_guarded_in(".cargo", ".cargo/config.toml", ".cargo/config.toml");
}
KERNEL_TEST(EscapeGrantedTrees, SettingsInTheConfigurationDirectory) {
  expect_guarded_in(".config", ".config/nvim/init.lua", ".config/nvim");
  expect_guarded_in(".config", ".config/git/config", ".config/git");
  expect_guarded_in(".config", ".config/helix/config.toml", ".config/helix");
}

KERNEL_TEST(EscapeGrantedTrees, ADirectoryThatIsGuardedIsNotGrantedByItself) {
  const Granted home;
  make_directories(home / ".claude/hooks/more");
  make_directories(home / ".cargo/bin");
  for (const auto& [path, guard] : {std::pair{".claude/hooks", ".claude/hooks"},
                                    {".claude/hooks/more", ".claude/hooks"},
                                    {".cargo/bin", ".cargo/bin"}}) {
    const std::string script = "echo evil > " + std::string(path) + "/evil";
    const Ran refused = home.run(script, {"--rw", home / path});
    EXPECT_EQ(refused.exit_code, 125) << path;
    EXPECT_NE(refused.err.find("--allow-guarded " + std::string(guard)), std::string::npos);
    EXPECT_FALSE(exists(home / path + "/evil")) << path;
    home.run(script, {"--rw", home / path, "--allow-guarded", guard});
    EXPECT_TRUE(exists(home / path + "/evil")) << path;  // control
  }
}

// A directory with more symlinks than are followed is moved, and hides nothing else.
KERNEL_TEST(EscapeGuardList, ADirectoryFullOfLinksHidesNothing) {
  for (const char* const count : {"900", "1100"}) {
    const Workspace workspace;
    const std::string links = "mkdir -p aa/.vscode .idea; for i in $(seq " + std::string(count) +
                              "); do ln -s x aa/.vscode/$i; ln -s x .idea/$i; done; ";
    const nlohmann::json output = run_script(
        workspace,
        links + "echo evil > .envrc; git init -q zz; echo evil > zz/.git/hooks/pre-commit");
    for (const char* const name : {"aa/.vscode", ".idea", ".envrc", "zz/.git/hooks/pre-commit"})
      EXPECT_FALSE(exists(workspace / name)) << count << name << output.dump();
    EXPECT_EQ(output.value("exit_code", -1), 0) << output.dump();
  }
}

}  // namespace
}  // namespace coop::tests
