// Leaving the new root, or changing files outside the workspace.
#include <sys/stat.h>

#include "support/harness.h"

namespace coop::tests {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

KERNEL_TEST(EscapeMounts, CurrentDirectoryLeftOnTheOldRoot) {
  const Workspace workspace;
  write_file(workspace.around() / "secret", "SECRET");
  EXPECT_TRUE(escaped(workspace.outside({"climb", "1", "secret"})));
  EXPECT_TRUE(blocked(workspace.inside({"climb", "1", "secret"}), ENOENT));
  // By the full path from the root.
  const std::string below_root = (workspace.around() / "secret").substr(1);
  EXPECT_TRUE(escaped(workspace.outside({"climb", "64", below_root})));
  EXPECT_TRUE(blocked(workspace.inside({"climb", "64", below_root}), ENOENT));
}

KERNEL_TEST(EscapeMounts, RootOfAProcess) {
  const Workspace workspace;
  write_file(workspace.around() / "secret", "SECRET");
  const std::string below_root = workspace.around() / "secret";
  EXPECT_TRUE(escaped(workspace.outside({"read", "/proc/self/root" + below_root})));
  EXPECT_TRUE(blocked(workspace.inside({"read", "/proc/self/root" + below_root}), ENOENT));
  EXPECT_TRUE(blocked(workspace.inside({"read", "/proc/1/root" + below_root}), EACCES));
  EXPECT_TRUE(blocked(workspace.inside({"read", "/proc/1/cwd/../secret"}), EACCES));
  EXPECT_TRUE(blocked(workspace.inside({"read", "/proc/self/cwd/../secret"}), ENOENT));
}

KERNEL_TEST(EscapeMounts, WritingOutsideTheWorkspace) {
  const Workspace workspace;
  EXPECT_TRUE(escaped(workspace.inside({"write", "file", "x"})));  // control: writing works
  EXPECT_EQ(read_file(workspace / "file"), "x");
  EXPECT_TRUE(sandboxed(workspace));
  for (const char* path : {"/coop-test", "/usr/coop-test", "/etc/coop-test", "/dev/coop-test"})
    EXPECT_TRUE(blocked(workspace.inside({"write", path, "x"}), {EROFS, EACCES})) << path;
  EXPECT_FALSE(exists("/usr/coop-test"));
  for (const char* path : {"/usr/bin/env", "/etc/ld.so.cache"})  // only opened: shows what they are
    EXPECT_TRUE(blocked(workspace.inside({"open-write", path}), {EROFS, EACCES})) << path;
}

KERNEL_TEST(EscapeMounts, TheWholeMachineAsWorkspace) {
  const Workspace workspace;
  EXPECT_EQ(run_coop({"run", "-w", "/", "--", "true"}, workspace.options()).exit_code, 125);
  EXPECT_EQ(run_coop({"run", "-w", workspace.path(), "--", "true"}, workspace.options()).exit_code,
            0);  // control
}

KERNEL_TEST(EscapeMounts, WritingOutsideTheWorkspaceInTheHostView) {
  const Workspace workspace(visible_place());
  write_file(workspace.around() / "neighbour", "before");
  const std::string neighbour = workspace.around() / "neighbour";
  EXPECT_TRUE(escaped(workspace.inside({"read", neighbour}, {"--view", "host"})));
  EXPECT_TRUE(escaped(workspace.inside({"write", "file", "x"}, {"--view", "host"})));
  EXPECT_TRUE(escaped(workspace.outside({"write", neighbour, "outside"})));  // control
  EXPECT_TRUE(blocked(workspace.inside({"write", neighbour, "inside"}, {"--view", "host"}),
                      {EROFS, EACCES}));
  EXPECT_EQ(read_file(neighbour), "outside");
}

// Binding the root and making it read-only must reach the mounts on mounts as well.
KERNEL_TEST(EscapeMounts, WritingToAMountBelowAnotherMountOfTheHost) {
  const Workspace workspace;
  const auto attack = [&](const std::string& words) {
    return run_bare(
        {"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
         "mount -t tmpfs t /var/opt && mkdir /var/opt/a && mount -t tmpfs t /var/opt/a "
         "&& echo x > /var/opt/a/file && exec \"$0\" run --view host -w . -- ./payload " +
             words,
         coop_binary()},
        workspace.options());
  };
  EXPECT_TRUE(escaped(attack("read /var/opt/a/file")));  // control: it is shown
  EXPECT_TRUE(blocked(attack("write /var/opt/a/new x"), EROFS));
}

KERNEL_TEST(EscapeMounts, ChangingModesOutsideTheWorkspace) {
  // Landlock does not control chmod: only the read-only mount prevents it.
  const Workspace workspace(visible_place());
  const std::string neighbour = workspace.around() / "neighbour";
  write_file(neighbour, "x");
  ASSERT_EQ(::chmod(neighbour.c_str(), 0600), 0);
  EXPECT_TRUE(escaped(workspace.outside({"chmod", neighbour, "0640"})));
  EXPECT_TRUE(blocked(workspace.inside({"chmod", neighbour, "0666"}, {"--view", "host"}), EROFS));
  EXPECT_EQ(mode_of(neighbour), 0640u);
}

KERNEL_TEST(EscapeMounts, HardLinkIntoTheWorkspace) {
  const Workspace workspace(visible_place());
  const std::string neighbour = workspace.around() / "neighbour";
  write_file(neighbour, "x");
  EXPECT_TRUE(escaped(workspace.outside({"link", neighbour, "outside-link"})));
  EXPECT_TRUE(blocked(workspace.inside({"link", neighbour, "inside-link"}, {"--view", "host"}),
                      {EXDEV, EROFS}));
  EXPECT_FALSE(exists(workspace / "inside-link"));
}

KERNEL_TEST(EscapeMounts, RenamingTheWorkspaceAway) {
  const Workspace workspace(visible_place());
  const std::string moved = workspace.around() / "moved";
  EXPECT_TRUE(blocked(workspace.inside({"rename", workspace.path(), moved}, {"--view", "host"}),
                      {EBUSY, EROFS, EXDEV}));
  EXPECT_FALSE(exists(moved));
  EXPECT_TRUE(escaped(workspace.outside({"rename", workspace.path(), moved})));  // control
}

KERNEL_TEST(EscapeMounts, TheProgramOfTheFirstProcess) {
  // PID 1 inside is a copy of coop itself. Through /proc/1/exe a sandbox could rewrite the program
  // on the host; its mode could be changed even while it runs (no ETXTBSY).
  const Workspace workspace;
  const std::string program = workspace.around() / "coop-copy";
  copy_program(coop_binary(), program);
  const auto attack = [&](const Arguments& words) {
    Arguments command{program, "run", "-w", workspace.path(), "--", "./payload"};
    command.insert(command.end(), words.begin(), words.end());
    return run_bare(command, workspace.options());
  };
  EXPECT_TRUE(escaped(workspace.outside({"open-write", program})));  // control: we may write it
  EXPECT_TRUE(sandboxed(workspace));
  EXPECT_TRUE(blocked(attack({"open-write", "/proc/1/exe"}), EACCES));
  EXPECT_TRUE(blocked(attack({"chmod", "/proc/1/exe", "0777"}), EACCES));
  EXPECT_TRUE(blocked(attack({"truncate", "/proc/1/exe"}), EACCES));
  EXPECT_EQ(mode_of(program), 0755u);
  EXPECT_EQ(read_file(program), read_file(coop_binary()));
}

KERNEL_TEST(EscapeMounts, TheRunningProgramItself) {
  const Workspace workspace;
  // Control: files in the workspace belong to the sandbox, mode bits included.
  EXPECT_TRUE(escaped(workspace.inside({"chmod", "/proc/self/exe", "0755"})));
  const Arguments attack{"sh", "-c",
                         "chmod 0777 /proc/self/exe 2>&1; echo x 2>&1 > /proc/self/exe"};
  const unsigned before = mode_of("/usr/bin/chmod");
  const Ran ran = workspace.run(attack);
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_NE(ran.out.find("Read-only file system"), std::string::npos) << ran.out << ran.err;
  EXPECT_EQ(mode_of("/usr/bin/chmod"), before);
}

KERNEL_TEST(EscapeMounts, SharedMemoryDirectoryOfTheHost) {
  const Workspace workspace;
  const TempDir shared("/dev/shm");
  write_file(shared / "segment", "SECRET");
  EXPECT_TRUE(escaped(workspace.outside({"read", shared / "segment"})));
  for (const char* view : {"minimal", "host"})
    EXPECT_TRUE(blocked(workspace.inside({"read", shared / "segment"}, {"--view", view}), ENOENT))
        << view;
}

KERNEL_TEST(EscapeMounts, TemporaryFilesOfTheHost) {
  const Workspace workspace(visible_place());
  const TempDir other;
  write_file(other / "file", "SECRET");
  EXPECT_TRUE(escaped(workspace.outside({"read", other / "file"})));
  for (const char* view : {"minimal", "host"})
    EXPECT_TRUE(blocked(workspace.inside({"read", other / "file"}, {"--view", view}), ENOENT))
        << view;
}

// In namespaces of their own: the host mounts a file system over a directory that a command is in.
KERNEL_TEST(EscapeMounts, AMountBelowTheWorkspaceDuringTheRunIsAnError) {
  const Workspace workspace;
  make_directories(workspace / "sub");
  const auto run = [&](const std::string& meanwhile) {
    return run_bare({"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                     "cd \"$2\"; rm -rf ready go n old; mkdir n; mount --bind n sub; \"$1\" run -- "
                     "sh -c 'cd sub; touch ../ready; "
                     "while [ ! -e ../go ]; do sleep "
                     "0.01; done; echo evil > .envrc' & coop=$!; for i in $(seq 1500); do test -e "
                     "ready && break; "
                     "sleep 0.01; done; " +
                         meanwhile + "; touch go; wait $coop",
                     "sh", coop_binary(), workspace.path()},
                    workspace.options());
  };
  const Ran control = run("true");
  EXPECT_EQ(control.exit_code, 0) << control.err;
  EXPECT_FALSE(exists(workspace / "sub/.envrc"));
  for (const char* const change : {"mount -t tmpfs none sub",
                                   // Another directory of the same name, mounted at the same place.
                                   "umount sub; mv n old; mkdir n; mount --bind n sub"}) {
    const Ran ran = run(change);
    EXPECT_EQ(ran.exit_code, 125) << change << ran.err;
    EXPECT_NE(ran.err.find("mounted or unmounted"), std::string::npos) << change << ran.err;
  }
}

}  // namespace
}  // namespace coop::tests
