// Secrets of a home directory that is shown, by every name they have. Without --show-home: escape_home.cc.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "support/harness.h"

namespace coop::tests {
namespace {

// A home directory with secrets, at a path the host view shows.
class Home {
 public:
  Home() : workspace_(visible_place()), path_(workspace_.around() / "home") {
    for (const char* directory : {"/.ssh", "/.aws", "/.config/gh", "/.docker", "/project"})
      make_directories(path_ + directory);
    for (const char* file : {"/.ssh/id_rsa", "/.aws/credentials", "/.config/gh/hosts.yml",
                             "/.docker/config.json", "/.netrc", "/.npmrc", "/.bash_history"})
      write_file(path_ + file, "SECRET");
    write_file(path_ + "/notes.txt", "public");
  }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  const Workspace& workspace() const { return workspace_; }

  RunOptions options() const {
    RunOptions options = workspace_.options();
    options.environment["HOME"] = path_;
    return options;
  }
  Ran read(const std::string& path, Arguments flags = {}) const {
    flags.insert(flags.begin(), {"--view", "host", "--show-home"});
    return workspace_.inside({"read", path}, flags, options());
  }

 private:
  Workspace workspace_;
  std::string path_;
};

Arguments in_shell(const std::string& script) { return {"sh", "-c", script}; }

// A hidden directory is empty, a hidden file cannot be opened.
constexpr std::initializer_list<int> kHidden{ENOENT, EACCES};

KERNEL_TEST(EscapeSecrets, ByTheirOwnNames) {
  const Home home;
  EXPECT_TRUE(escaped(home.read(home / "notes.txt")));  // control: the home itself is there
  for (const char* name : {".ssh/id_rsa", ".aws/credentials", ".config/gh/hosts.yml",
                           ".docker/config.json", ".netrc", ".npmrc", ".bash_history"}) {
    EXPECT_TRUE(escaped(home.workspace().outside({"read", home / name})));
    EXPECT_TRUE(blocked(home.read(home / name), kHidden)) << name;
  }
}

KERNEL_TEST(EscapeSecrets, OnlyARuleThatNamesThemShowsThem) {
  const Home home;
  EXPECT_TRUE(blocked(home.read(home / ".ssh/id_rsa", {"--ro", home.path()}), kHidden));
  EXPECT_TRUE(escaped(home.read(home / ".ssh/id_rsa", {"--ro", home / ".ssh"})));
}

KERNEL_TEST(EscapeSecrets, AGrantedHomeInTheMinimalView) {
  const Home home;
  const auto read = [&](const std::string& name) {
    return home.workspace().inside({"read", home / name}, {"--ro", home.path()}, home.options());
  };
  EXPECT_TRUE(escaped(read("notes.txt")));
  EXPECT_TRUE(blocked(read(".ssh/id_rsa"), kHidden));
  EXPECT_TRUE(blocked(read(".netrc"), kHidden));
}

KERNEL_TEST(EscapeSecrets, OwnStateInsideTheWorkspace) {
  // A state directory inside the workspace: sessions and quarantine must not be accessible.
  const Home home;
  RunOptions options = home.options();
  options.environment["XDG_STATE_HOME"] = home.workspace() / "state";
  make_directories(home.workspace() / "state/coop");
  write_file(home.workspace() / "state/coop/session", "SECRET");
  write_file(home.workspace() / "state/other", "public");
  EXPECT_TRUE(escaped(home.workspace().inside({"read", "state/other"}, {}, options)));
  EXPECT_TRUE(
      blocked(home.workspace().inside({"read", "state/coop/session"}, {}, options), kHidden));
  EXPECT_TRUE(blocked(home.workspace().inside({"write", "state/coop/new", "x"}, {}, options),
                      {EROFS, EACCES}));
  EXPECT_FALSE(exists(home.workspace() / "state/coop/new"));
}

KERNEL_TEST(EscapeSecrets, ThroughASymlinkOfTheHost) {
  const Home home;
  make_symlink(home.path(), home.workspace().around() / "alias");
  make_symlink(home / ".ssh/id_rsa", home.workspace() / "key");
  EXPECT_TRUE(escaped(home.read(home.workspace().around() / "alias/notes.txt")));
  EXPECT_TRUE(blocked(home.read(home.workspace().around() / "alias/.ssh/id_rsa"), kHidden));
  EXPECT_TRUE(escaped(home.workspace().outside({"read", "key"})));
  EXPECT_TRUE(blocked(home.read("key"), kHidden));
}

KERNEL_TEST(EscapeSecrets, ThroughProc) {
  const Home home;
  EXPECT_TRUE(escaped(home.read("/proc/self/root" + (home / "notes.txt"))));
  EXPECT_TRUE(blocked(home.read("/proc/self/root" + (home / ".netrc")), kHidden));
  EXPECT_TRUE(blocked(home.read("/proc/1/root" + (home / ".netrc")), kHidden));
  EXPECT_TRUE(blocked(home.read("/proc/self/cwd/../home/.ssh/id_rsa"), kHidden));
  EXPECT_TRUE(blocked(home.read("../home/.ssh/../.ssh/id_rsa"), kHidden));
}

KERNEL_TEST(EscapeSecrets, ThroughAGrantedSymlinkToTheHome) {
  const Home home;
  const std::string alias = home.workspace().around() / "alias";
  make_symlink(home.path(), alias);
  const Ran control = home.read(alias + "/notes.txt", {"--ro", alias});
  EXPECT_TRUE(control.exit_code == 125 || escaped(control)) << control.err;
  const Ran attack = home.read(alias + "/.ssh/id_rsa", {"--ro", alias});
  EXPECT_TRUE(attack.exit_code == 125 || blocked(attack, kHidden)) << attack.out;
}

KERNEL_TEST(EscapeSecrets, HomeThatIsASymlink) {
  const Home home;
  const std::string alias = home.workspace().around() / "alias";
  make_symlink(home.path(), alias);
  RunOptions options = home.options();
  options.environment["HOME"] = alias;
  for (const std::string& name :
       {home / ".ssh/id_rsa", alias + "/.ssh/id_rsa", home / ".netrc", alias + "/.netrc"})
    EXPECT_TRUE(
        blocked(home.workspace().inside({"read", name}, {"--view", "host", "--show-home"}, options),
                kHidden))
        << name;
}

KERNEL_TEST(EscapeSecrets, SecretThatIsASymlink) {
  // Dotfiles are often symlinks into a dotfiles repository: both names must be hidden.
  const Home home;
  make_directories(home / "dotfiles");
  write_file(home / "dotfiles/pypirc", "SECRET");
  make_symlink("dotfiles/pypirc", home / ".pypirc");
  EXPECT_TRUE(escaped(home.workspace().outside({"read", home / ".pypirc"})));
  EXPECT_TRUE(blocked(home.read(home / ".pypirc"), kHidden));
  EXPECT_TRUE(blocked(home.read(home / "dotfiles/pypirc"), kHidden));
}

KERNEL_TEST(EscapeSecrets, ThroughABindMountOfTheHost) {
  // The home is bind-mounted a second time elsewhere, before coop starts.
  const Home home;
  const std::string alias = "/var/opt";  // in no home
  const auto read_alias = [&](const std::string& name) {
    return run_bare(
        {"unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
         "mount --bind \"$1\" \"$2\" && exec \"$0\" run --view host --show-home -w . -- "
         "./payload read \"$2/$3\"",
         coop_binary(), home.path(), alias, name},
        home.options());
  };
  EXPECT_TRUE(escaped(read_alias("notes.txt")));
  EXPECT_TRUE(blocked(read_alias(".ssh/id_rsa"), kHidden));
  EXPECT_TRUE(blocked(read_alias(".netrc"), kHidden));
}

KERNEL_TEST(EscapeSecrets, TheWorkspaceIsTheHome) {
  const Home home;
  copy_program(payload_binary(), home / "payload");
  RunOptions options = home.options();
  options.directory = home.path();
  for (const char* view : {"minimal", "host"}) {
    const auto read = [&](const char* name) {
      return run_coop({"run", "--view", view, "-w", home.path(), "--", "./payload", "read", name},
                      options);
    };
    EXPECT_TRUE(escaped(read("notes.txt"))) << view;
    EXPECT_TRUE(blocked(read(".ssh/id_rsa"), kHidden)) << view;
    EXPECT_TRUE(blocked(read(".netrc"), kHidden)) << view;
  }
}

KERNEL_TEST(EscapeSecrets, TheWorkspaceIsAboveTheHome) {
  const Home home;
  const std::string above = home.workspace().around().path();
  copy_program(payload_binary(), above + "/payload");
  RunOptions options = home.options();
  options.directory = above;
  for (const char* view : {"minimal", "host"}) {
    const auto read = [&](const char* name) {
      return run_coop({"run", "--view", view, "-w", above, "--", "./payload", "read", name},
                      options);
    };
    EXPECT_TRUE(escaped(read("home/notes.txt"))) << view;
    EXPECT_TRUE(blocked(read("home/.ssh/id_rsa"), kHidden)) << view;
    EXPECT_TRUE(blocked(read("home/.netrc"), kHidden)) << view;
  }
}

// Two runs: the first moves the path to the hidden file, the second reads the new name.
KERNEL_TEST(EscapeSecrets, MovingWhatLeadsToAHiddenFile) {
  for (const char* view : {"minimal", "host"}) {
    for (const char* hidden : {"conf/secret.env", "a/b/private"}) {
      const std::string top = std::string(hidden).substr(0, std::string(hidden).find('/'));
      const auto move_and_look = [&](const Arguments& rule) {
        const Workspace workspace;
        make_directories(std::filesystem::path(workspace / hidden).parent_path());
        write_file(workspace / hidden, "TOPSECRET");
        Arguments flags{"--view", view};
        flags.insert(flags.end(), rule.begin(), rule.end());
        workspace.run(in_shell("mv " + top + " moved; mkdir -p \"$(dirname " + hidden +
                               ")\"; echo x > " + std::string(hidden)),
                      flags);
        const std::string below = std::string(hidden).substr(top.size());
        return workspace.run(in_shell("cat moved" + below + " " + hidden), flags).out;
      };
      EXPECT_THAT(move_and_look({}), testing::HasSubstr("TOPSECRET"));
      EXPECT_THAT(move_and_look({"--hide", hidden}), testing::Not(testing::HasSubstr("TOPSECRET")))
          << view << " " << hidden;
    }
  }
}

KERNEL_TEST(EscapeSecrets, PointingAHiddenSymlinkElsewhere) {
  const Workspace workspace;
  make_directories(workspace / "config");
  write_file(workspace / "config/prod.env", "TOPSECRET");
  make_symlink("config/prod.env", workspace / ".env");
  // The rule could not hold in the next run: it is refused, with a hint that names the file itself.
  const Ran refused = workspace.run({"true"}, {"--hide", ".env"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_THAT(refused.err, testing::HasSubstr("config/prod.env"));
  const Ran ran =
      workspace.run(in_shell("cat .env config/prod.env"), {"--hide", "config/prod.env"});
  EXPECT_THAT(ran.out, testing::Not(testing::HasSubstr("TOPSECRET")));
}

KERNEL_TEST(EscapeSecrets, HardLinkFromInside) {
  const Home home;
  const Arguments attack{"link", home / ".netrc", home / "project/copy"};
  EXPECT_TRUE(blocked(
      home.workspace().inside(attack, {"--view", "host", "--show-home", "--rw", home / "project"},
                              home.options()),
      {EXDEV, EACCES, EPERM}));
  EXPECT_FALSE(exists(home / "project/copy"));
  EXPECT_TRUE(escaped(home.workspace().outside(attack)));  // control
}

KERNEL_TEST(EscapeSecrets, FifoAtAHiddenPath) {
  const Home home;
  ASSERT_EQ(::unlink((home / ".netrc").c_str()), 0);
  ASSERT_EQ(::mkfifo((home / ".netrc").c_str(), 0600), 0);
  EXPECT_TRUE(escaped(home.read(home / "notes.txt")));  // it starts, and does not block
  EXPECT_TRUE(blocked(home.read(home / ".netrc"), kHidden));
}

KERNEL_TEST(EscapeSecrets, DeviceOrSocketAtAHiddenPath) {
  const Home home;
  const std::string path = home / ".npmrc";
  ASSERT_EQ(::unlink(path.c_str()), 0);
  if (is_root()) {
    ASSERT_EQ(::mknod(path.c_str(), S_IFCHR | 0666, 0x105), 0);  // /dev/zero
    EXPECT_TRUE(escaped(home.workspace().outside({"read", path})));
  } else {
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{AF_UNIX, {}};
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::close(listener);
  }
  EXPECT_TRUE(escaped(home.read(home / "notes.txt")));
  EXPECT_TRUE(blocked(home.read(path), kHidden));
}

KERNEL_TEST(EscapeSecrets, PasswordsOfTheMachine) {
  const Home home;
  EXPECT_TRUE(sandboxed(home.workspace()));
  const Ran control = home.workspace().outside({"read", "/etc/shadow"});
  EXPECT_TRUE(is_root() ? escaped(control) : blocked(control, {EACCES, ENOENT}));
  EXPECT_TRUE(blocked(home.read("/etc/shadow"), kHidden));
  EXPECT_TRUE(blocked(home.read("/etc/../etc//shadow"), kHidden));
  EXPECT_TRUE(blocked(home.workspace().inside({"read", "/etc/shadow"}), kHidden));
}

}  // namespace
}  // namespace coop::tests
