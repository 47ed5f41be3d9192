// The home directory as workspace: not taken unasked, and then the files that the user's programs obey are guarded.
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <sstream>

#include "escape/guarded.h"
#include "support/harness.h"

namespace coop::tests {
namespace {

// A home directory `home` that the sandbox works in, or in a directory above it.
class HomeWorkspace {
 public:
  HomeWorkspace() {
    for (const char* directory : {"home/.config/autostart", "home/.local/bin", "home/project"})
      make_directories(workspace_ / directory);
    write_file(workspace_ / "home/.bashrc", "mine\n");
    write_file(workspace_ / "home/.local/bin/tool", "mine\n");
    write_file(workspace_ / "home/notes", "mine\n");
  }

  std::string home() const { return workspace_ / "home"; }
  std::string top() const { return workspace_.path(); }

  Ran coop(const std::string& directory, const Arguments& arguments) const {
    RunOptions options = workspace_.options();
    options.directory = directory;
    options.environment["HOME"] = home();
    options.environment["XDG_CONFIG_HOME"] = "";
    return run_coop(arguments, options);
  }
  // In a named workspace.
  Ran run(const std::string& directory, const std::string& script,
          const Arguments& flags = {}) const {
    Arguments arguments{"run", "-w", directory};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    return coop(directory, arguments);
  }

 private:
  Workspace workspace_;
};

KERNEL_TEST(EscapeHomeWorkspace, TheHomeIsNotTakenUnasked) {
  const HomeWorkspace place;
  EXPECT_EQ(place.coop(place.home() + "/project", {"run", "--", "true"}).exit_code, 0);  // control
  for (const std::string& directory : {place.home(), place.top(), std::string("/")}) {
    const Ran ran = place.coop(directory, {"run", "--", "sh", "-c", "echo evil > made"});
    EXPECT_EQ(ran.exit_code, 125) << directory;
    EXPECT_NE(ran.err.find("your home directory"), std::string::npos) << ran.err;
    const Ran tool = place.coop(directory, {"tool", "bash", R"({"command": "echo evil > made"})"});
    EXPECT_EQ(tool.exit_code, 125) << directory;
  }
  EXPECT_FALSE(exists(place.home() + "/made"));
  EXPECT_FALSE(exists(place.top() + "/made"));
  EXPECT_EQ(place.run(place.home(), "echo good > made").exit_code, 0);  // named, it is
  EXPECT_TRUE(exists(place.home() + "/made"));
}

KERNEL_TEST(EscapeHomeWorkspace, StartUpFilesAreGuarded) {
  const HomeWorkspace place;
  for (const std::string& directory : {place.home(), place.top()}) {
    const std::string prefix = directory == place.top() ? "home/" : "";
    for (const Arguments& view : {Arguments{}, Arguments{"--view", "host"}}) {
      EXPECT_EQ(place.run(directory, "echo more >> " + prefix + "notes", view).exit_code,
                0);  // control
      EXPECT_NE(place.run(directory, "echo evil >> " + prefix + ".bashrc", view).exit_code, 0);
      EXPECT_NE(place.run(directory, "mv " + prefix + ".bashrc " + prefix + "b", view).exit_code,
                0);
      EXPECT_NE(place.run(directory, "echo evil > " + prefix + ".local/bin/tool", view).exit_code,
                0);
      EXPECT_NE(place.run(directory, "mv " + prefix + ".local x", view).exit_code, 0);
    }
  }
  EXPECT_EQ(read_file(place.home() + "/.bashrc"), "mine\n");
  EXPECT_EQ(read_file(place.home() + "/.local/bin/tool"), "mine\n");
  EXPECT_EQ(
      place.run(place.home(), "echo meant > .bashrc", {"--allow-guarded", "~/.bashrc"}).exit_code,
      0);  // control
  EXPECT_EQ(read_file(place.home() + "/.bashrc"), "meant\n");
  const Arguments expanded{"--allow-guarded", place.home() + "/.bashrc"};  // by a shell
  EXPECT_EQ(place.run(place.home(), "echo again > .bashrc", expanded).exit_code, 0);
}

KERNEL_TEST(EscapeHomeWorkspace, NewStartUpFilesAreQuarantined) {
  const HomeWorkspace place;
  const std::string script =
      "echo good > new; for f in .profile .zshrc .config/autostart/x.desktop "
      ".config/systemd/user/x.service "
      ".ssh/authorized_keys bin/ls; do mkdir -p $(dirname $f); echo evil > $f; done; true";
  EXPECT_EQ(place.run(place.home(), script).exit_code, 0);
  EXPECT_TRUE(exists(place.home() + "/new"));  // control
  for (const char* file : {".profile", ".zshrc", ".config/systemd/user", ".ssh", "bin"})
    EXPECT_FALSE(exists(place.home() + "/" + file)) << file;
  EXPECT_FALSE(exists(place.home() + "/.config/autostart/x.desktop"));
  // A file tool asks the same matcher.
  const Ran wrote = place.coop(place.home(), {"tool", "write_file", "-w", place.home(),
                                              R"({"path": ".profile", "content": "evil"})"});
  EXPECT_NE(wrote.exit_code, 0);
  EXPECT_FALSE(exists(place.home() + "/.profile"));
  // In another workspace these names mean nothing.
  EXPECT_EQ(place.run(place.home() + "/project", "echo good > .profile").exit_code, 0);
  EXPECT_TRUE(exists(place.home() + "/project/.profile"));
}

KERNEL_TEST(EscapeHomeWorkspace, EveryNameOfTheListIsTakenAway) {
  std::ifstream input(COOP_SOURCE_DIRECTORY "/policies/home_guards.txt");
  std::string script;
  Arguments names;
  for (std::string text; std::getline(input, text);) {
    std::string name;
    std::istringstream(text) >> name;
    if (!name.starts_with("~/")) continue;
    names.push_back(name.substr(2));
    script += "mkdir -p \"$(dirname " + names.back() + ")\"; [ -e " + names.back() +
              " ] || echo evil > " + names.back() + "; ";
  }
  ASSERT_GT(names.size(), 150u);
  const auto left = [&](const Arguments& flags) {
    const HomeWorkspace place;
    const std::set<std::string> before{".bashrc", ".local/bin", ".config/autostart"};
    place.run(place.home(), script, flags);
    Arguments found;
    for (const std::string& name : names)
      if (!before.contains(name) && exists(place.home() + "/" + name)) found.push_back(name);
    return found;
  };
  EXPECT_EQ(left({}), Arguments{});
  Arguments allowed;
  for (const std::string& name : names)
    allowed.insert(allowed.end(), {"--allow-guarded", "~/" + name});
  // Control; some are guarded by policies/guards.txt as well.
  EXPECT_GT(left(allowed).size(), names.size() / 2);
}

// ~/.bashrc -> project/bashrc: a repository of dotfiles.
KERNEL_TEST(EscapeHomeWorkspace, AStartUpFileThatLiesInTheWorkspaceIsGuarded) {
  const HomeWorkspace place;
  const std::string project = place.home() + "/project";
  write_file(project + "/bashrc", "mine\n");
  EXPECT_EQ(place.run(project, "echo more >> bashrc").exit_code,
            0);  // control: nothing obeys it yet
  std::filesystem::remove(place.home() + "/.bashrc");
  make_symlink("project/bashrc", place.home() + "/.bashrc");
  EXPECT_NE(place.run(project, "echo evil >> bashrc").exit_code, 0);
  EXPECT_NE(place.run(project, "mv bashrc other; echo evil > bashrc").exit_code, 0);
  EXPECT_EQ(read_file(project + "/bashrc"), "mine\nmore\n");
  // The same for the names that the list of guards marks as those of a home.
  make_directories(project + "/nvim");
  make_directories(place.home() + "/.config");
  EXPECT_EQ(place.run(project, "echo mine > nvim/init.lua").exit_code, 0);  // control
  make_symlink("../project/nvim", place.home() + "/.config/nvim");
  EXPECT_NE(place.run(project, "echo evil >> nvim/init.lua").exit_code, 0);
  EXPECT_EQ(read_file(project + "/nvim/init.lua"), "mine\n");
}

// As programs that manage dotfiles make it: names that are missing are obeyed through the symlink too.
KERNEL_TEST(EscapeHomeWorkspace, NewStartUpFilesBehindALinkedDirectory) {
  for (const std::string linked : {".config", ".local", ".config/systemd"}) {
    const HomeWorkspace place;
    const std::string name = linked == ".local"    ? "bin/ls"
                             : linked == ".config" ? "nvim/init.lua"
                                                   : "user/a.service";
    const std::string file = "files/" + name;
    const std::string attack = "mkdir -p " + file + "; rmdir " + file + "; echo evil > " + file;
    const auto start = [&] {
      const Ran made = run_bare({"sh", "-c",
                                 "cd \"$0\"; mkdir -p dotfiles/files; rm -rf " + linked +
                                     " dotfiles/files/*; "
                                     "ln -s \"$0/dotfiles/files\" " +
                                     linked,
                                 place.home()});
      EXPECT_EQ(made.exit_code, 0) << made.err;
    };
    start();
    EXPECT_EQ(place.run(place.home() + "/dotfiles", "echo x > files/notes").exit_code, 0);
    EXPECT_TRUE(exists(place.home() + "/" + linked + "/notes"));  // control
    start();
    const Ran ran = place.run(place.home() + "/dotfiles", attack);
    EXPECT_FALSE(exists(place.home() + "/" + linked + "/" + name)) << ran.err;
  }
}

// The workspace lies below a configuration directory that is named through a symlink.
KERNEL_TEST(EscapeHomeWorkspace, BelowAConfigurationDirectoryNamedByALink) {
  const Workspace workspace;
  make_directories(workspace / "real/systemd");
  ASSERT_EQ(run_bare({"ln", "-s", "real", workspace / "link"}).exit_code, 0);
  for (const char* const name : {"link", "real", "real/../link"}) {
    RunOptions options = workspace.options();
    options.environment["XDG_CONFIG_HOME"] = workspace / name;
    const Ran ran = run_coop({"run", "-w", workspace / "real/systemd", "--", "sh", "-c",
                              "mkdir user other; echo evil > user/a.service"},
                             options);
    EXPECT_TRUE(exists(workspace / "real/systemd/other")) << ran.err;  // control
    EXPECT_FALSE(exists(workspace / "real/systemd/user")) << name << ran.err;
    run_bare({"rmdir", workspace / "real/systemd/other"});
  }
}

}  // namespace
}  // namespace coop::tests
