// --rw, --ro, --hide, --overlay, --tmpfs and --cache, with their nesting and order.
#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

// A tree of the host outside the workspace: place/{a,b}/file, place/a/deep/file.
struct Place {
  TempDir root{visible_place()};
  Place() {
    for (const char* name : {"a", "b", "a/deep"}) {
      make_directories(root / name);
      write_file(root / (std::string(name) + "/file"), std::string(name) + "\n");
    }
  }
  std::string operator/(std::string_view name) const { return root / name; }
};

// What happens to a file: "r" when it can be read, "w" when it can be written.
std::string access_to(const Workspace& workspace, const std::string& path, const Arguments& flags) {
  const Ran ran = workspace.run(shell("p='" + path +
                                      "'; cat \"$p\" >/dev/null 2>&1 && printf r; ( : >> \"$p\" ) "
                                      "2>/dev/null && printf w; echo"),
                                flags);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return ran.out;
}

KERNEL_TEST(KernelRules, GrantsAreWhatTheySay) {
  const Workspace workspace;
  const Place place;
  EXPECT_EQ(access_to(workspace, place / "a/file", {}),
            "\n");  // control: not there without a grant
  for (const std::string& view : kViews) {
    EXPECT_EQ(access_to(workspace, place / "a/file", in_view(view, {"--ro", place / "a"})), "r\n");
    EXPECT_EQ(access_to(workspace, place / "a/file", in_view(view, {"--rw", place / "a"})), "rw\n");
    EXPECT_EQ(access_to(workspace, place / "a/file", in_view(view, {"--rw", place / "a/file"})),
              "rw\n");
    EXPECT_EQ(access_to(workspace, place / "a/file", in_view(view, {"--ro", place / "a/file"})),
              "r\n");
  }
  EXPECT_EQ(access_to(workspace, place / "a/file", {"--view", "host", "--show-home"}), "r\n");
}

KERNEL_TEST(KernelRules, AGrantReallyChangesTheHost) {
  const Workspace workspace;
  const Place place;
  for (const std::string& view : kViews) {
    const std::string file = place / ("a/new-" + view);
    EXPECT_EQ(workspace.run(shell("echo changed > " + file), in_view(view, {"--rw", place / "a"}))
                  .exit_code,
              0);
    EXPECT_EQ(read_file(file), "changed\n");
  }
}

KERNEL_TEST(KernelRules, ASymlinkAsAGrantIsItsTarget) {
  const Workspace workspace;
  const Place place;
  make_symlink("a", place / "link");
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(shell("echo through > " + (place / "link/new-") + view),
                                  in_view(view, {"--rw", place / "link"}));
    EXPECT_EQ(ran.exit_code, 0) << view << ": " << ran.err;
    EXPECT_EQ(read_file(place / ("a/new-" + view)), "through\n");
  }
}

KERNEL_TEST(KernelRules, TheMoreSpecificRuleWinsInAnyOrder) {
  const Workspace workspace;
  const Place place;
  for (const std::string& view : kViews)
    for (const Arguments& flags : {Arguments{"--rw", place / "a", "--ro", place / "a/deep"},
                                   Arguments{"--ro", place / "a/deep", "--rw", place / "a"}}) {
      EXPECT_EQ(access_to(workspace, place / "a/file", in_view(view, flags)), "rw\n");
      EXPECT_EQ(access_to(workspace, place / "a/deep/file", in_view(view, flags)), "r\n");
    }
  EXPECT_EQ(
      access_to(workspace, place / "a/deep/file", {"--ro", place / "a", "--rw", place / "a/deep"}),
      "rw\n");
}

KERNEL_TEST(KernelRules, OfTwoForTheSamePathTheLaterWins) {
  const Workspace workspace;
  const Place place;
  for (const std::string& view : kViews) {
    EXPECT_EQ(access_to(workspace, place / "a/file",
                        in_view(view, {"--rw", place / "a", "--ro", place / "a"})),
              "r\n");
    EXPECT_EQ(access_to(workspace, place / "a/file",
                        in_view(view, {"--ro", place / "a", "--rw", place / "a"})),
              "rw\n");
    EXPECT_EQ(access_to(workspace, place / "a/file",
                        in_view(view, {"--ro", place / "a", "--hide", place / "a"})),
              "\n");
    EXPECT_EQ(access_to(workspace, place / "a/file",
                        in_view(view, {"--hide", place / "a", "--ro", place / "a"})),
              "r\n");
  }
}

KERNEL_TEST(KernelRules, HiddenIsEmptyAndCannotBeFilled) {
  const Workspace workspace;
  const Place place;
  const Arguments both{"--ro",      place.root.path(), "--hide",
                       place / "a", "--hide",          place / "b/file"};
  for (const std::string& view : kViews) {
    EXPECT_EQ(workspace.run(shell("ls -A " + (place / "a")), in_view(view, both)).out, "");
    EXPECT_NE(workspace.run(shell("touch " + (place / "a/new")), in_view(view, both)).exit_code, 0);
    EXPECT_EQ(access_to(workspace, place / "b/file", in_view(view, both)), "\n");
  }
  EXPECT_FALSE(exists(place / "a/new"));
}

KERNEL_TEST(KernelRules, AGrantBelowAHiddenDirectoryIsAllThatIsThere) {
  const Workspace workspace;
  const Place place;
  const Arguments flags{"--ro", place.root.path(), "--hide", place / "a", "--rw", place / "a/deep"};
  for (const std::string& view : kViews) {
    EXPECT_EQ(workspace.run({"ls", "-A", place / "a"}, in_view(view, flags)).out, "deep\n");
    EXPECT_EQ(access_to(workspace, place / "a/deep/file", in_view(view, flags)), "rw\n");
    EXPECT_EQ(access_to(workspace, place / "a/file", in_view(view, flags)), "\n");
    EXPECT_NE(workspace.run(shell("touch " + (place / "a/new")), in_view(view, flags)).exit_code,
              0);
  }
}

KERNEL_TEST(KernelRules, HidingAFileOfTheWorkspace) {
  const Workspace workspace;
  write_file(workspace / ".env", "PASSWORD=s3cret\n");
  for (const std::string& view : kViews) {
    EXPECT_EQ(workspace.run({"cat", ".env"}, in_view(view)).out, "PASSWORD=s3cret\n");  // control
    EXPECT_EQ(workspace.run({"cat", ".env"}, in_view(view, {"--hide", ".env"})).out, "");
    EXPECT_EQ(
        workspace.run({"cat", ".env"}, in_view(view, {"--blacklist", workspace / ".env"})).out, "");
  }
}

KERNEL_TEST(KernelRules, HidingOrReplacingAWholeRepository) {
  const Workspace workspace;
  make_directories(workspace / ".git/hooks");
  for (const char* name : {".git/HEAD", ".git/config"}) write_file(workspace / name, "x\n");
  for (const std::string& view : kViews)
    for (const char* flag : {"--hide", "--tmpfs"}) {
      const Ran ran = workspace.run({"ls", "-A", ".git"}, in_view(view, {flag, ".git"}));
      EXPECT_EQ(ran.exit_code, 0) << view << " " << flag << ": " << ran.err;
      EXPECT_EQ(ran.out, "");
    }
}

KERNEL_TEST(KernelRules, AStricterRuleForAGuardedPathIsKept) {
  const Workspace workspace;
  make_directories(workspace / ".git/hooks");
  for (const char* name :
       {".git/HEAD", ".git/config", ".git/hooks/pre-commit", ".envrc", ".mcp.json"})
    write_file(workspace / name, "s3cret\n");
  for (const std::string& view : kViews) {
    for (const char* name : {".envrc", ".mcp.json", ".git/config", ".git/hooks/pre-commit"}) {
      EXPECT_EQ(workspace.run({"cat", name}, in_view(view)).out, "s3cret\n");  // control
      EXPECT_EQ(workspace.run({"cat", name}, in_view(view, {"--hide", name})).out, "") << name;
    }
    EXPECT_EQ(
        workspace.run({"ls", "-A", ".git/hooks"}, in_view(view, {"--hide", ".git/hooks"})).out, "");
    EXPECT_EQ(workspace.run({"touch", ".git/index"}, in_view(view)).exit_code, 0);  // control
    EXPECT_NE(workspace.run({"touch", ".git/index"}, in_view(view, {"--ro", ".git"})).exit_code, 0);
    EXPECT_EQ(
        workspace
            .run(shell("echo x > .git/HEAD; cat .git/HEAD"), in_view(view, {"--overlay", ".git"}))
            .out,
        "x\n");
    EXPECT_EQ(read_file(workspace / ".git/HEAD"), "s3cret\n");
  }
}

KERNEL_TEST(KernelRules, OverlayWritesVanish) {
  const Workspace workspace;
  const Place place;
  for (const std::string& view : kViews) {
    const Ran ran =
        workspace.run(shell("cd " + (place / "a") +
                            "; echo more >> file; rm -r deep; echo new > new; cat file; ls"),
                      in_view(view, {"--overlay", place / "a"}));
    if (ran.err.find("overlay") != std::string::npos) GTEST_SKIP() << ran.err;
    EXPECT_EQ(ran.out, "a\nmore\nfile\nnew\n") << ran.err;
    EXPECT_EQ(read_file(place / "a/file"), "a\n");
    EXPECT_TRUE(exists(place / "a/deep/file"));
    EXPECT_FALSE(exists(place / "a/new"));
  }
}

KERNEL_TEST(KernelRules, AnOverlaidWorkspaceIsUnchanged) {
  const Workspace workspace;
  write_file(workspace / "kept", "before");
  const Ran ran =
      workspace.run(shell("echo after > kept; rm payload; touch new; ls"), {"--overlay", "."});
  EXPECT_EQ(ran.out, "kept\nnew\n") << ran.err;
  EXPECT_EQ(read_file(workspace / "kept"), "before");
  EXPECT_TRUE(exists(workspace / "payload"));
  EXPECT_FALSE(exists(workspace / "new"));
}

KERNEL_TEST(KernelRules, TmpfsIsEmptyWritableAndLimited) {
  const Workspace workspace;
  const Place place;
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(
        shell("cd " + (place / "a") +
              " && ls -A && echo x > new && cat new && head -c 9000000 /dev/zero > fill"),
        in_view(view, {"--tmpfs", place / "a", "--tmp-size", "4m"}));
    EXPECT_EQ(ran.out, "x\n");
    EXPECT_THAT(ran.err, HasSubstr("No space left"));
    EXPECT_FALSE(exists(place / "a/new"));
  }
}

KERNEL_TEST(KernelRules, AMissingPathIsAnErrorUnlessOptional) {
  const Workspace workspace;
  for (const char* flag : {"--rw", "--ro", "--hide", "--overlay", "--tmpfs"}) {
    const Ran refused = workspace.run({"true"}, {flag, "/no/such/path"});
    EXPECT_EQ(refused.exit_code, 125) << flag;
    EXPECT_THAT(refused.err,
                HasSubstr(std::string(flag) + " '/no/such/path?' if it may be missing"));
    EXPECT_EQ(workspace.run({"true"}, {flag, "/no/such/path?"}).exit_code, 0) << flag;
  }
}

KERNEL_TEST(KernelRules, TildeAndRelativePathsAreUnderstood) {
  const Workspace workspace;
  make_directories(workspace.around() / "tools");
  write_file(workspace.around() / "tools/file", "tool\n");
  EXPECT_EQ(
      workspace
          .run({"cat", workspace.around() / "tools/file"}, {"--ro", "~/tools"}, workspace.options())
          .out,
      "tool\n");
  EXPECT_EQ(workspace.run({"cat", workspace.around() / "tools/file"}, {"--ro", "../tools"}).out,
            "tool\n");
}

// ".." after a symlink is resolved by the kernel, not textually.
KERNEL_TEST(KernelRules, DotsBehindASymlinkAreWhatTheKernelMakesOfThem) {
  const Workspace workspace;
  make_directories(workspace.around() / "other/deep");
  write_file(workspace.around() / "other/file", "elsewhere\n");
  write_file(workspace / "file", "here\n");
  make_symlink(workspace.around() / "other/deep", workspace / "link");
  const Ran ran = workspace.run({"cat", workspace.around() / "other/file", "file"},
                                {"--ro", workspace / "link/../file"});
  EXPECT_EQ(ran.out, "elsewhere\nhere\n") << ran.err;
}

KERNEL_TEST(KernelRules, CachesAreCopiesByName) {
  const Workspace workspace{visible_place()};
  const std::string cache = workspace.around() / ".cache/pip";
  make_directories(cache);
  RunOptions options = workspace.options();
  write_file(cache + "/old", "old\n");
  const Arguments command = shell("cat " + cache + "/old && touch " + cache + "/wheel");
  for (const std::string& view : kViews) {
    EXPECT_NE(workspace.run(command, in_view(view), options).exit_code, 0);  // control
    const Ran ran = workspace.run(command, in_view(view, {"--cache", "pip"}), options);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(
        workspace.run(shell("echo $PIP_CACHE_DIR"), in_view(view, {"--cache", "pip"}), options).out,
        cache + "\n");
  }
  EXPECT_FALSE(exists(cache + "/wheel"));
  EXPECT_NE(workspace
                .run(shell("touch " + cache + "/other"),
                     {"--view", "host", "--cache", "pip", "--ro", cache}, options)
                .exit_code,
            0);
  EXPECT_EQ(workspace.run({"true"}, {"--cache", "nothing"}).exit_code, 125);
  EXPECT_EQ(workspace.run({"true"}, {"--cache", "cargo"}, options).exit_code,
            0);  // not there: a new one, private
}

KERNEL_TEST(KernelRules, AReadOnlyWorkspace) {
  const Workspace workspace;
  for (const std::string& view : kViews) {
    EXPECT_NE(workspace.run({"touch", "new"}, in_view(view, {"--ro", "."})).exit_code, 0);
    EXPECT_EQ(workspace.run({"ls"}, in_view(view, {"--ro", "."})).out, "payload\n");
  }
}

KERNEL_TEST(KernelRules, NoGhostFilesOnTheHost) {
  const Workspace workspace{visible_place()};
  for (const char* name : {"granted/sub", "hidden/sub", "layered", "empty"})
    make_directories(workspace.around() / name);
  write_file(workspace / ".env", "x");
  const std::set<std::string> before = listing_of(workspace.around().path());
  const TempDir home;
  const RunOptions options{
      .environment = {{"HOME", home.path()}, {"XDG_STATE_HOME", home / "state"}}};
  const auto at = [&](const char* name) { return workspace.around() / name; };
  for (const std::string& view : kViews) {
    const Ran ran =
        workspace.run({"true"},
                      in_view(view, {"--ro", at("granted"), "--hide", at("hidden"), "--rw",
                                     at("hidden/sub"), "--overlay", at("layered"), "--tmpfs",
                                     at("empty"), "--hide", ".env", "--rw", "/no/such/path?"}),
                      options);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(listing_of(workspace.around().path()), before);
  }
  EXPECT_FALSE(exists("/no"));
}

}  // namespace
}  // namespace coop::tests
