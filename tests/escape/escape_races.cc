// Paths that change while coop starts. Each run either fails closed or shows the right file.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "support/harness.h"

namespace coop::tests {
namespace {

constexpr int kRounds = 50;

// Replaces `path` by a symlink to `elsewhere`, and back.
std::function<void()> swap_for_symlink(const std::string& path, const std::string& elsewhere) {
  return [path, elsewhere, parked = path + ".parked"] {
    ::rename(path.c_str(), parked.c_str());
    (void)!::symlink(elsewhere.c_str(), path.c_str());
    ::usleep(300);
    ::unlink(path.c_str());
    ::rename(parked.c_str(), path.c_str());
    ::usleep(300);
  };
}

class Scene {
 public:
  Scene()
      : workspace(visible_place()),
        data(workspace.around() / "data"),
        secret(workspace.around() / "secret") {
    make_directories(data);
    make_directories(secret);
    write_file(data + "/file", "right");
    write_file(secret + "/file", "SECRET");
  }
  Workspace workspace;
  std::string data;
  std::string secret;
};

// The hide rule is last and wins: however the path is swapped, the secret stays hidden.
void expect_never_the_secret(const Scene& scene, const Arguments& flags,
                             const std::string& attacked) {
  for (int round = 0; round < kRounds; ++round) {
    const Ran ran = scene.workspace.inside({"read", attacked}, flags, scene.workspace.options());
    ASSERT_EQ(ran.out.find("SECRET"), std::string::npos) << "round " << round;
    ASSERT_NE(ran.exit_code, -1) << ran.err;
  }
}

KERNEL_TEST(EscapeRaces, ControlTheSwapReallyHappens) {
  const Scene scene;
  const Racer racer(swap_for_symlink(scene.data, scene.secret));
  bool right = false, secret = false;
  for (int round = 0; round < 500000 && !(right && secret); ++round) {
    const std::string seen = read_file(scene.data + "/file");
    right |= seen == "right";
    secret |= seen == "SECRET";
  }
  EXPECT_TRUE(right && secret);
}

KERNEL_TEST(EscapeRaces, BindSourceSwappedForASymlink) {
  const Scene scene;
  const Arguments flags{"--view", "host", "--ro", scene.data, "--hide", scene.secret};
  EXPECT_TRUE(escaped(scene.workspace.inside({"read", scene.data + "/file"}, flags)));  // control
  const Racer racer(swap_for_symlink(scene.data, scene.secret));
  expect_never_the_secret(scene, flags, scene.data + "/file");
}

KERNEL_TEST(EscapeRaces, BindSourceOfTheMinimalViewSwapped) {
  // The attacker controls the workspace: a path in it must not become a way out of it.
  const Scene scene;
  make_directories(scene.workspace / "inner");
  write_file(scene.workspace / "inner/file", "right");
  const Arguments flags{"--ro", scene.workspace / "inner"};
  EXPECT_TRUE(escaped(scene.workspace.inside({"read", "inner/file"}, flags)));  // control
  // Relative, so that it leads out of the workspace on the host and to nothing inside.
  const Racer racer(swap_for_symlink(scene.workspace / "inner", "../secret"));
  for (int round = 0; round < kRounds; ++round) {
    const Ran ran = scene.workspace.inside({"read", "inner/file"}, flags);
    ASSERT_EQ(ran.out.find("SECRET"), std::string::npos) << "round " << round;
  }
}

KERNEL_TEST(EscapeRaces, HiddenPathThatIsASymlink) {
  // Hiding a symlink must hide its target, or the other name still works.
  const Scene scene;
  const std::string link = scene.workspace.around() / "link";
  make_symlink("secret", link);
  EXPECT_TRUE(
      escaped(scene.workspace.inside({"read", link + "/file"}, {"--view", "host"})));  // control
  for (const std::string& name : {link, scene.secret}) {
    const Ran ran =
        scene.workspace.inside({"read", name + "/file"}, {"--view", "host", "--hide", link});
    EXPECT_TRUE(ran.exit_code == 125 || blocked(ran, {ENOENT, EACCES})) << name << ran.out;
  }
}

KERNEL_TEST(EscapeRaces, WorkspaceSwappedForASymlink) {
  const Scene scene;
  copy_program(payload_binary(), scene.data + "/payload");
  copy_program(payload_binary(), scene.secret + "/payload");
  RunOptions options = scene.workspace.options();
  options.directory = "/";
  const auto run = [&] {
    return run_coop({"run", "--view", "host", "-w", scene.data, "--hide", scene.secret, "--",
                     "./payload", "read", "file"},
                    options);
  };
  EXPECT_TRUE(escaped(run()));  // control
  const Racer racer(swap_for_symlink(scene.data, scene.secret));
  for (int round = 0; round < kRounds; ++round) {
    const Ran ran = run();
    ASSERT_EQ(ran.out.find("SECRET"), std::string::npos) << "round " << round;
  }
}

void make_raced_repository(const Workspace& workspace) {
  for (const char* name : {".git/hooks", ".git/objects", ".git/refs", "other/hooks"})
    make_directories(workspace / name);
  write_file(workspace / ".git/HEAD", "ref: refs/heads/main\n");
  write_file(workspace / ".git/config", "[core]\n");
}

// Finds the repository. The racer's actions may look like an attack to coop, which then moves it to
// the quarantine. It must never be lost.
std::vector<std::string> repositories_below(const std::string& directory) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.path().filename() == "HEAD") found.push_back(entry.path().parent_path());
  return found;
}

KERNEL_TEST(EscapeRaces, GuardedDirectorySwappedWhileItIsGuarded) {
  const Arguments attack{"write", ".git/hooks/pre-commit", "evil"};
  const Workspace control;
  make_raced_repository(control);
  EXPECT_TRUE(escaped(control.inside(attack, {"--allow-guarded", ".git/hooks"})));
  EXPECT_TRUE(exists(control / ".git/hooks/pre-commit"));

  const Workspace workspace;
  make_raced_repository(workspace);
  {
    const Racer racer(swap_for_symlink(workspace / ".git", "other"));
    for (int round = 0; round < kRounds; ++round) workspace.inside(attack, {}, workspace.options());
  }
  // The decoy may contain the hook: without a HEAD it is no repository, and git runs nothing there.
  EXPECT_FALSE(exists(workspace / ".git/HEAD") && exists(workspace / ".git/hooks/pre-commit"));
  const std::vector<std::string> left = repositories_below(workspace.around().path());
  EXPECT_EQ(left.size(), 1u) << testing::PrintToString(left);
  // A repository that coop saw as a symlink before was quarantined whole, with the hook.
  for (const std::string& repository : left)
    if (!repository.contains("/coop/quarantine/")) {
      EXPECT_FALSE(exists(repository + "/hooks/pre-commit")) << repository;
    }
}

KERNEL_TEST(EscapeRaces, ControlABuildOfTheHostStopsNoRun) {
  // It makes, renames, replaces and removes directories all the time.
  const Workspace workspace;
  make_raced_repository(workspace);
  make_directories(workspace / "build");
  const Racer racer([build = workspace / "build", number = 0]() mutable {
    const std::string name = build + "/" + std::to_string(number++ % 5);
    std::filesystem::create_directories(name + ".tmp/deep/deeper");
    write_file(name + ".tmp/deep/object", "x");
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
    ::rename((name + ".tmp").c_str(), name.c_str());
    ::usleep(200);
  });
  for (int round = 0; round < kRounds; ++round) {
    const Ran ran = workspace.inside({"read", ".git/HEAD"}, {}, workspace.options());
    ASSERT_EQ(ran.exit_code, 0) << "round " << round << ran.out << ran.err;
  }
}

KERNEL_TEST(EscapeRaces, SymlinkOnTheWayToATarget) {
  // No race needed: the parent of the target is a symlink out of the workspace.
  const Scene scene;
  make_symlink("../data", scene.workspace / "link");
  const Ran ran = scene.workspace.inside(
      {"write", "link/new", "x"}, {"--view", "host", "--tmpfs", scene.workspace / "link/cache?"});
  EXPECT_TRUE(ran.exit_code == 125 || blocked(ran, {EROFS, EACCES})) << ran.out << ran.err;
  EXPECT_FALSE(exists(scene.data + "/new"));
  EXPECT_FALSE(exists(scene.data + "/cache"));  // and no mount point left on the host
  EXPECT_TRUE(escaped(scene.workspace.outside({"write", "link/new", "x"})));  // control
}

}  // namespace
}  // namespace coop::tests
