// Commands that only look change nothing on the host: not with a home that is read-only, and not one inode with a home
// that is not.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "kernel/support.h"

namespace coop::tests {
namespace {

// The home directory is the workspace, so that coop's own directories lie where a sandbox may write; none is there yet.
class FreshHome {
 public:
  explicit FreshHome(const Workspace& workspace) : workspace_(workspace) {
    make_directories(workspace / ".coop");
    write_file(workspace / ".coop/policy.toml", "[sandbox]\nhidden_paths = [\"/srv/x?\"]\n");
    write_file(workspace / "notes", "remember\n");
    write_file(config(),
               "[[users]]\nname = \"ann\"\ntrust = \"owner\"\nmatch = [\"terminal:default\"]\n");
  }

  std::string config() const { return workspace_.around() / "coop.toml"; }

  RunOptions options() const {
    RunOptions options = workspace_.options();
    options.environment["HOME"] = workspace_.path();
    options.environment["XDG_CONFIG_HOME"] = "";
    options.environment["XDG_STATE_HOME"] = "";
    return options;
  }

  // Names, inodes, modes and times of all that is there.
  std::set<std::string> snapshot() const {
    std::set<std::string> lines;
    const auto add = [&](const std::string& path) {
      struct stat status{};
      ::lstat(path.c_str(), &status);
      lines.insert(path + " " + std::to_string(status.st_ino) + " " +
                   std::to_string(status.st_mode) + " " + std::to_string(status.st_ctim.tv_sec) +
                   "." + std::to_string(status.st_ctim.tv_nsec));
    };
    add(workspace_.path());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(workspace_.path()))
      add(entry.path().string());
    return lines;
  }

  // Every command that only looks, each with its arguments.
  std::vector<Arguments> looks() const {
    const std::string here = workspace_.path();
    return {{"plan", "-w", here, "--", "true"},
            {"plan", "-w", here, "--view", "host", "--json", "--", "true"},
            {"policy", "show", "--origin"},
            {"policy", "check"},
            {"policy", "explain", "-w", here, "~/.config/coop/policy.toml"},
            {"policy", "explain", "-w", here, "--view", "host", "~/.ssh"},
            {"policy", "explain", "-w", here, "example.org"},
            {"policy", "diff", "project", "project"},
            {"policy", "export", "--scope", "project"},
            {"policy", "schema"},
            {"tool", "read_file", R"({"path": "notes"})", "-w", here},
            {"tool", "list_files", "{}", "-w", here},
            {"tool", "search_files", R"({"pattern": "remember"})", "-w", here},
            {"status"},
            {"trust", "terminal:default", "--config", config()},
            {"config", "check", config()},
            {"completion", "bash"},
            {"man"},
            {"--version"}};
  }

 private:
  const Workspace& workspace_;
};

std::string words(const Arguments& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + " ";
  return text;
}

KERNEL_TEST(Looking, LeavesTheHomeAndTheWorkspaceAsTheyAre) {
  const Workspace workspace;
  const FreshHome home(workspace);
  const std::set<std::string> before = home.snapshot();
  for (const Arguments& look : home.looks()) {
    const Ran ran = run_coop(look, home.options());
    EXPECT_EQ(ran.exit_code, 0) << words(look) << ran.err;
    EXPECT_EQ(home.snapshot(), before) << words(look);
  }
  // Control: a sandbox that starts does make them.
  EXPECT_EQ(run_coop({"run", "-w", workspace.path(), "--", "true"}, home.options()).exit_code, 0);
  EXPECT_TRUE(exists(workspace / ".config/coop"));
  EXPECT_TRUE(exists(workspace / ".local/state/coop"));
}

KERNEL_TEST(Looking, NeedsNoWritableHome) {
  const Workspace workspace;
  const FreshHome home(workspace);
  const auto read_only = [&](const Arguments& arguments) {
    Arguments command{
        "unshare",
        "-rm",
        "sh",
        "-c",
        R"(mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" ||)"
        R"( mount -o remount,bind,ro,nosuid,nodev "$HOME" || exit 99; cd "$HOME" && exec "$@")",
        "sh"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_bare(command, home.options());
  };
  if (read_only({"true"}).exit_code == 99) GTEST_SKIP() << "no read-only bind mount here";
  EXPECT_NE(read_only({"mkdir", ".config"}).exit_code, 0);  // control: it is read-only
  for (const Arguments& look : home.looks()) {
    Arguments command{coop_binary()};
    command.insert(command.end(), look.begin(), look.end());
    const Ran ran = read_only(command);
    EXPECT_EQ(ran.exit_code, 0) << words(look) << ran.err;
  }
}

KERNEL_TEST(Looking, ThePlanIsTheSameOnceTheDirectoriesAreThere) {
  const Workspace workspace;
  const FreshHome home(workspace);
  for (const std::string& view : kViews) {
    std::filesystem::remove_all(workspace / ".config");
    std::filesystem::remove_all(workspace / ".local");
    const Arguments plan{"plan",       "-w",  workspace.path(), "--view", view,
                         "--hostname", "box", "--json",         "--",     "true"};
    const auto shown = [&] { return json_of(run_coop(plan, home.options()))["steps"]; };
    const nlohmann::json before = shown();
    EXPECT_EQ(
        run_coop({"run", "-w", workspace.path(), "--view", view, "--", "true"}, home.options())
            .exit_code,
        0);
    EXPECT_TRUE(exists(workspace / ".config/coop"));
    EXPECT_EQ(before, shown()) << view;
    EXPECT_NE(before.dump().find("/.config/coop"), std::string::npos) << view;
  }
}

}  // namespace
}  // namespace coop::tests
