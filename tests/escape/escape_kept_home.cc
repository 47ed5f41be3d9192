// Homes that can be written inside, and what is mounted in them: programs inside, and other sandboxes with the same home, rename
// the directories that lead there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "kernel/support.h"
#include "support/without_fuse.h"

namespace coop::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kRepository =
    "mkdir -p .git/hooks .git/objects .git/refs && echo 'ref: refs/heads/main' > .git/HEAD && "
    "printf '[core]\\n\\tbare = false\\n' > .git/config";

// A project two directories below the home, with a repository and guarded files.
class Project {
 public:
  Project() : around_(visible_place()), home_(around_ / "home"), path_(home_ + "/projects/w") {
    make_directories(path_);
    on_host(kRepository);
    write_file(*this / ".envrc", "good\n");
    write_file(*this / ".env", "SECRET\n");
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string kept(const std::string& name) const {
    return around_ / ("state/coop/homes/shared/home/" + name);
  }

  void on_host(const std::string& script) const {
    const Ran ran = run_bare({"sh", "-c", script}, {.directory = path_});
    ASSERT_EQ(ran.exit_code, 0) << script << "\n" << ran.err;
  }

  RunOptions options() const {
    return {.environment = {{"HOME", home_},
                            {"XDG_STATE_HOME", around_ / "state"},
                            {"XDG_CONFIG_HOME", around_ / "config"}}};
  }
  Arguments command(const std::string& script, const Arguments& flags) const {
    Arguments words{coop_binary(), "run", "--json", "--view", "host", "-w", path_};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    return words;
  }
  Ran run(const std::string& script, const Arguments& flags) const {
    return run_bare(command(script, flags), options());
  }

 private:
  TempDir around_;
  std::string home_;
  std::string path_;
};

// As a sandbox that runs already can do in a home that both have.
std::function<void()> exchange(const std::string& one, const std::string& other) {
  return [one, other] {
    ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    ::usleep(40);
  };
}

const std::string kOverwrite =
    "for p in projects projects2; do echo evil > ~/$p/w/.git/hooks/pre-commit; "
    "echo '[alias]' >> ~/$p/w/.git/config; touch ~/$p/w/reached; done 2>/dev/null; true";

void expect_guards_hold_while_directories_are_exchanged() {
  const Project project;
  const std::string config = read_file(project / ".git/config");
  ASSERT_EQ(project.run("true", {"--home", "shared"}).exit_code, 0);
  for (const char* name : {"projects/w", "projects2/w"}) {
    make_directories(project.kept(name));
    ASSERT_EQ(run_bare({"sh", "-c", kRepository}, {.directory = project.kept(name)}).exit_code, 0);
  }
  std::optional<Racer> racer;
  racer.emplace(exchange(project.kept("projects"), project.kept("projects2")));
  int started = 0;
  for (int round = 0; round < 60; ++round) {
    const Ran ran = project.run(kOverwrite, {"--home", "shared"});
    started += ran.exit_code == 0 ? 1 : 0;
    ASSERT_FALSE(exists(project / ".git/hooks/pre-commit")) << "round " << round << ran.out;
    ASSERT_EQ(read_file(project / ".git/config"), config) << "round " << round;
    ASSERT_THAT(ran.out, testing::Not(HasSubstr("moved_to"))) << "it was written first";
  }
  racer.reset();
  EXPECT_GT(started, 0);
  EXPECT_TRUE(exists(project / "reached"));  // the attack was one on this directory

  // Control: what is allowed is written by the same words.
  project.run(kOverwrite, {"--home", "shared", "--allow-guarded", ".git/hooks", "--allow-guarded",
                           ".git/config"});
  EXPECT_TRUE(exists(project / ".git/hooks/pre-commit"));
}

KERNEL_TEST(EscapeKeptHome, AnotherSandboxExchangesDirectoriesDuringTheStart) {
  const WithoutFuse by_mounts;
  expect_guards_hold_while_directories_are_exchanged();
}

KERNEL_TEST(EscapeKeptHomeServed, AnotherSandboxExchangesDirectoriesDuringTheStart) {
  expect_guards_hold_while_directories_are_exchanged();
}

bool appears(const std::string& path) {
  return eventually([&] { return exists(path); });
}

const Arguments kHomes{"ephemeral", "shared"};

// The directory above the workspace is renamed, and at the old path are files that look like the guarded ones. Then the host replaces
// the real ones: their mounts end, and are made again where the workspace is now.
json replaced_after_a_move(const Project& project, const Arguments& flags) {
  for (const char* const name : {"started", "go", "wrote", "read"})
    ::unlink((project / name).c_str());
  const std::string script =
      "rm -rf ~/pp; mv ~/projects ~/pp && mkdir -p ~/projects/w && touch ~/projects/w/.envrc "
      "~/projects/w/.env; "
      "touch ~/pp/w/started; while [ ! -e ~/pp/w/go ]; do sleep 0.01; done; "
      "(echo evil > ~/pp/w/.envrc) 2>/dev/null && touch ~/pp/w/wrote; "
      "grep -q SECRET ~/pp/w/.env 2>/dev/null && touch ~/pp/w/read; true";
  Process coop(project.command(script, flags), project.options());
  EXPECT_TRUE(appears(project / "started"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it watches the mounts
  project.on_host("cp .envrc e; mv e .envrc; cp .env e; mv e .env");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  write_file(project / "go", "");
  return json_of(coop.finish());
}

KERNEL_TEST(EscapeKeptHome, GuardsAndSecretsFollowAMovedWorkspace) {
  for (const std::string& home : kHomes) {
    const Project project;
    const json output =
        replaced_after_a_move(project, {"--home", home, "--hide", project / ".env"});
    EXPECT_EQ(output.value("exit_code", -1), 0) << home << output.dump(2);
    EXPECT_FALSE(exists(project / "wrote")) << home << output.dump(2);
    EXPECT_FALSE(exists(project / "read")) << home << output.dump(2);
    EXPECT_EQ(read_file(project / ".envrc"), "good\n");
    EXPECT_TRUE(output.value("quarantined", json::array({"?"})).empty()) << output.dump(2);

    // Control: the same words reach both files where nothing protects them.
    const json control =
        replaced_after_a_move(project, {"--home", home, "--allow-guarded", ".envrc"});
    EXPECT_TRUE(exists(project / "wrote")) << home << control.dump(2);
    EXPECT_TRUE(exists(project / "read")) << home << control.dump(2);
  }
}

// The watch on mounts begins while another sandbox exchanges directories: it must not take a guard for none.
KERNEL_TEST(EscapeKeptHome, GuardsAreWatchedAlsoWhenDirectoriesAreExchangedMeanwhile) {
  const WithoutFuse by_mounts;
  const Project project;
  ASSERT_EQ(project.run("true", {"--home", "shared"}).exit_code, 0);
  for (const char* name : {"projects/w", "other/w"}) make_directories(project.kept(name));
  const std::string script =
      "cd ~; while [ ! -e projects/w/go ] && [ ! -e other/w/go ]; "
      "do touch projects/w/started other/w/started; sleep 0.01; done 2>/dev/null; "
      "for p in projects other; do (echo evil > $p/w/.envrc) 2>/dev/null && touch $p/w/wrote; "
      "done; true";
  for (int round = 0; round < 12; ++round) {
    for (const char* const name : {"started", "go"}) {
      ::unlink((project / name).c_str());
      for (const char* top : {"projects/w/", "other/w/"})
        ::unlink(project.kept(std::string(top) + name).c_str());
    }
    std::optional<Racer> racer;
    racer.emplace(exchange(project.kept("projects"), project.kept("other")));
    // Not in the workspace: its path may lead elsewhere at the moment when the command is started.
    Process coop(project.command(script, {"--home", "shared", "--chdir", project / "../.."}),
                 project.options());
    const bool started = appears(project / "started");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    racer.reset();
    ASSERT_TRUE(started);
    project.on_host("cp .envrc e; mv e .envrc");
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    write_file(project / "go", "");
    const Ran ran = coop.finish();
    ASSERT_FALSE(exists(project / "wrote")) << "round " << round << ran.out;
  }
}

// A file tool is told a path of the home; what is there at that moment may be the workspace.
KERNEL_TEST(EscapeKeptHome, FileToolsDoNotReachTheWorkspaceByAnotherName) {
  const Project project;
  ASSERT_EQ(project.run("true", {"--home", "shared"}).exit_code, 0);
  for (const char* name : {"projects/w", "other/w"}) make_directories(project.kept(name));
  const auto write = [&](const std::string& path) {
    const json arguments{{"path", path}, {"content", "evil"}};
    return run_bare({coop_binary(), "tool", "write_file", arguments.dump(), "--view", "host", "-w",
                     project / ".", "--home", "shared"},
                    project.options());
  };
  const std::string other = project / "../../other/w/";
  std::optional<Racer> racer;
  racer.emplace(exchange(project.kept("projects"), project.kept("other")));
  for (int round = 0; round < 30; ++round) {
    write(other + ".envrc");
    ASSERT_EQ(read_file(project / ".envrc"), "good\n") << "round " << round;
    write(other + ".vscode/tasks.json");
    ASSERT_FALSE(exists(project / ".vscode")) << "round " << round;
  }
  // Control: by its own name the workspace is reached all the time, and guarded.
  const Ran ran = write(project / "plain");
  EXPECT_EQ(read_file(project / "plain"), "evil") << ran.out << ran.err;
  EXPECT_THAT(write(project / ".envrc").out, HasSubstr("guard .envrc"));
  racer.reset();
  write(other + "file");
  EXPECT_EQ(read_file(project.kept("other/w/file")), "evil");  // of the home, as asked
}

// By a link in the home the tools find the workspace, not what lies below its mount in the home.
KERNEL_TEST(EscapeKeptHome, FileToolsFollowALinkToTheRealWorkspace) {
  const Project project;
  const Arguments flags{"--view", "host", "-w", project / ".", "--home", "shared"};
  ASSERT_EQ(project.run("ln -s " + (project / ".") + " ~/link", {"--home", "shared"}).exit_code, 0);
  write_file(project / "Makefile", "all: good\n");
  write_file(project.kept("projects/w/Makefile"), "all: evil\n");
  write_file(project.kept("projects/w/only"), "decoy");
  const auto tool = [&](const std::string& name, json arguments, const std::string& path) {
    arguments["path"] = project / ("../../link/" + path);
    Arguments words{coop_binary(), "tool", name, arguments.dump()};
    words.insert(words.end(), flags.begin(), flags.end());
    return run_bare(words, project.options());
  };
  EXPECT_THAT(tool("read_file", json::object(), "Makefile").out, HasSubstr("all: good"));
  EXPECT_NE(tool("read_file", json::object(), "only").exit_code, 0);
  EXPECT_EQ(tool("edit_file", {{"old", "all"}, {"new", "every"}}, "Makefile").exit_code, 0);
  EXPECT_EQ(read_file(project / "Makefile"), "every: good\n");
  EXPECT_EQ(tool("write_file", {{"content", "new"}}, "fresh").exit_code, 0);
  EXPECT_EQ(read_file(project / "fresh"), "new");
  EXPECT_NE(tool("write_file", {{"content", "evil"}}, ".envrc").exit_code, 0);
}

// Its mounts are gone from the view, and none can be made again: programs that work there must not go on.
KERNEL_TEST(EscapeKeptHome, ASandboxEndsWhoseWorkspaceAnotherOneRemoves) {
  const Project project;
  Process coop(project.command("touch started; sleep 600", {"--home", "shared"}),
               project.options());
  ASSERT_TRUE(appears(project / "started"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_EQ(::rmdir(project.kept("projects/w").c_str()), 0) << strerror(errno);
  const Ran ran = coop.finish();
  EXPECT_THAT(ran.out, HasSubstr("another one with the same home removed directories")) << ran.err;
  EXPECT_EQ(read_file(project / ".envrc"), "good\n");
}

// What an earlier sandbox has put where something is to be mounted.
KERNEL_TEST(EscapeKeptHome, SymlinksInItLeadNowhere) {
  const Project project;
  const Arguments flags{"--home", "shared"};
  ASSERT_EQ(project.run("true", flags).exit_code, 0);
  const std::string elsewhere = project / "../../elsewhere";
  make_directories(elsewhere);
  ASSERT_EQ(::rmdir(project.kept("projects/w").c_str()), 0);
  ASSERT_EQ(::rmdir(project.kept("projects").c_str()), 0);
  make_symlink(elsewhere, project.kept("projects"));
  const Ran ran = project.run("touch ~/projects/w/reached", flags);
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_THAT(ran.err, HasSubstr("the kept home has something else at"));
  EXPECT_FALSE(exists(elsewhere + "/w"));

  // Control: a directory is no obstacle.
  ::unlink(project.kept("projects").c_str());
  make_directories(project.kept("projects"));
  EXPECT_EQ(project.run("touch ~/projects/w/reached", flags).exit_code, 0);
  EXPECT_TRUE(exists(project / "reached"));
}

}  // namespace
}  // namespace coop::tests
