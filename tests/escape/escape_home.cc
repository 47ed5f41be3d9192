// Homes in the host view: what is not listed is not there, under any name, at any time.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "kernel/support.h"

namespace coop::tests {
namespace {

constexpr std::initializer_list<int> kAbsent{ENOENT, EACCES};

// A developer's home: the workspace is a project in it.
class DevelopersHome {
 public:
  DevelopersHome() : workspace_(visible_place()) {
    for (const char* directory : {".ssh", ".newtool", "sibling", "Documents", ".local/bin",
                                  ".cargo/bin", ".cargo/registry", ".config/newtool"})
      make_directories(*this / directory);
    for (const char* file :
         {".ssh/id_rsa", ".newtool/token", "sibling/main.c", "Documents/letter", ".local/bin/tool",
          ".cargo/bin/tool", ".cargo/credentials.toml", ".config/newtool/auth", ".gitconfig"})
      write_file(*this / file, "CONTENTS");
  }

  std::string operator/(const std::string& name) const { return workspace_.around() / name; }
  const std::string& path() const { return workspace_.around().path(); }
  const Workspace& workspace() const { return workspace_; }

  RunOptions options() const { return workspace_.options(); }
  Ran run(const std::string& script, Arguments flags = {}) const {
    return workspace_.run(shell(script), in_view("host", std::move(flags)), options());
  }
  Ran read(const std::string& path, Arguments flags = {}) const {
    return workspace_.inside({"read", path}, in_view("host", std::move(flags)), options());
  }
  // `prepare` in a mount namespace of its own, where it may mount; then coop.
  Ran read_after(const std::string& prepare, const std::string& path,
                 const Arguments& flags = {}) const {
    Arguments command{"unshare",
                      "--user",
                      "--map-root-user",
                      "--mount",
                      "sh",
                      "-c",
                      prepare + " && exec \"$@\"",
                      "sh",
                      coop_binary(),
                      "run",
                      "--view",
                      "host",
                      "-w",
                      "."};
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"--", "./payload", "read", path});
    return run_bare(command, options());
  }

 private:
  Workspace workspace_;
};

KERNEL_TEST(EscapeHome, WhatIsNotListedIsNotThere) {
  const DevelopersHome home;
  for (const char* name : {".newtool/token", "Documents/letter", ".config/newtool/auth"}) {
    EXPECT_TRUE(escaped(home.read(home / name, {"--show-home"}))) << name;  // control
    EXPECT_TRUE(blocked(home.read(home / name), ENOENT)) << name;
  }
  for (const char* name : {".ssh/id_rsa", ".cargo/credentials.toml"}) {
    EXPECT_TRUE(escaped(home.workspace().outside({"read", home / name}))) << name;  // control
    EXPECT_TRUE(blocked(home.read(home / name, {"--show-home"}), kAbsent)) << name;
    EXPECT_TRUE(blocked(home.read(home / name), ENOENT)) << name;
  }
  for (const char* name : {".local/bin/tool", ".cargo/bin/tool", "workspace/payload"})
    EXPECT_TRUE(escaped(home.read(home / name))) << name;
}

KERNEL_TEST(EscapeHome, SiblingProject) {
  const DevelopersHome home;
  EXPECT_TRUE(escaped(home.read("../sibling/main.c", {"--show-home"})));  // control
  for (const std::string& path : {std::string("../sibling/main.c"), home / "sibling/main.c",
                                  "/proc/self/root" + (home / "sibling/main.c")})
    EXPECT_TRUE(blocked(home.read(path), ENOENT)) << path;
}

KERNEL_TEST(EscapeHome, MadeAfterTheStart) {
  const DevelopersHome home;
  for (const bool shown : {true, false}) {
    const std::string late = home / (shown ? "shown" : "hidden");
    const std::string go = home.workspace() / (shown ? "go1" : "go2");
    Arguments arguments{"run", "-w", home.workspace().path(), "--view", "host"};
    if (shown) arguments.push_back("--show-home");
    arguments.insert(arguments.end(), {"--", "sh", "-c",
                                       "touch " + go + ".ready; until [ -e " + go +
                                           " ]; do sleep 0.02; done; cat " + late + "/token"});
    arguments.insert(arguments.begin(), coop_binary());
    Process running(arguments, home.options());
    ASSERT_TRUE(eventually([&] { return exists(go + ".ready"); }));
    make_directories(late);
    write_file(late + "/token", "LATE");
    write_file(go, "");
    const Ran ran = running.finish();
    if (shown) EXPECT_THAT(ran.out, testing::HasSubstr("LATE")) << ran.err;  // control
    else EXPECT_THAT(ran.out, testing::Not(testing::HasSubstr("LATE")));
  }
}

KERNEL_TEST(EscapeHome, UnderAnotherName) {
  const DevelopersHome home;
  const std::string whole = "mount --bind '" + home.path() + "' /var/opt";
  const std::string part = "mount --bind '" + (home / "sibling") + "' /var/opt";
  const std::string letter = "/var/opt/Documents/letter";
  const std::string code = "/var/opt/main.c";
  EXPECT_TRUE(escaped(home.read_after(whole, letter, {"--show-home"})));  // control
  EXPECT_TRUE(blocked(home.read_after(whole, letter), ENOENT));
  EXPECT_TRUE(escaped(home.read_after(part, code, {"--show-home"})));  // control
  EXPECT_TRUE(blocked(home.read_after(part, code), ENOENT));
  // What the user names is there.
  EXPECT_TRUE(escaped(home.read_after(part, code, {"--ro", "/var/opt"})));
}

KERNEL_TEST(EscapeHome, HomeThatIsASymlink) {
  const DevelopersHome home;
  const TempDir elsewhere(visible_place());
  const std::string alias = elsewhere / "ann";
  make_symlink(home.path(), alias);
  RunOptions options = home.options();
  options.environment["HOME"] = alias;
  const auto read = [&](const std::string& path) {
    return home.workspace().inside({"read", path}, {"--view", "host"}, options);
  };
  EXPECT_TRUE(escaped(read(alias + "/.local/bin/tool")));  // control: it leads to the home
  for (const std::string& path : {home / "Documents/letter", alias + "/Documents/letter"})
    EXPECT_TRUE(blocked(read(path), ENOENT)) << path;
}

KERNEL_TEST(EscapeHome, TheAccountsHomeWhenHomeIsAnother) {
  // uid 0 of a user namespace: the account's home is /root.
  const DevelopersHome home;
  const std::string prepare = "mount -t tmpfs t /root && echo x > /root/notes && chmod 755 /root";
  EXPECT_TRUE(escaped(home.read_after(prepare, "/root/notes", {"--show-home"})));  // control
  EXPECT_TRUE(blocked(home.read_after(prepare, "/root/notes"), ENOENT));
}

KERNEL_TEST(EscapeHome, HomesOfOtherPeople) {
  const DevelopersHome home;
  // A /home with one more in it; the workspace may lie in another.
  const std::string prepare =
      "mount -t tmpfs t /mnt && mkdir /mnt/homes && mount --rbind /home /mnt/homes && mount -t "
      "tmpfs t /home && for home in /mnt/homes/*; do mkdir \"/home/${home##*/}\" && mount --rbind "
      "\"$home\" \"/home/${home##*/}\"; done; cd \"$PWD\" && mkdir /home/bob && echo x > "
      "/home/bob/notes && cat /home/bob/notes";
  for (const Arguments& flags : {Arguments{}, Arguments{"--show-home"}}) {
    const Ran ran = home.read_after(prepare, "/home/bob/notes", flags);
    EXPECT_THAT(ran.out, testing::StartsWith("x\n"));  // control: outside it can be read
    EXPECT_TRUE(blocked(ran, ENOENT));
  }
  EXPECT_TRUE(escaped(home.read_after(prepare, "/home/bob/notes", {"--ro", "/home/bob"})));
}

KERNEL_TEST(EscapeHome, AHomeListedInPasswd) {
  const DevelopersHome home;
  const std::string notes = "mount -t tmpfs t /var/opt && echo x > /var/opt/notes";
  const std::string file = home.workspace() / "passwd";
  const std::string prepare = notes + " && cp /etc/passwd " + file +
                              " && echo 'bob:x:2001:2001::/var/opt:/bin/sh' >> " + file +
                              " && mount --bind " + file + " /etc/passwd";
  EXPECT_TRUE(escaped(home.read_after(notes, "/var/opt/notes")));  // control: not a home
  EXPECT_TRUE(blocked(home.read_after(prepare, "/var/opt/notes"), ENOENT));
}

// What the list shows by a symlink is still subject to the list of secrets.
KERNEL_TEST(EscapeHome, AListedNameThatLeadsToASecret) {
  const DevelopersHome home;
  make_symlink(".ssh", home / "bin");
  make_symlink("Documents", home / "perl5");
  EXPECT_TRUE(escaped(home.read(home / "perl5/letter")));  // control: such a symlink is followed
  EXPECT_TRUE(blocked(home.read(home / "bin/id_rsa"), kAbsent));
}

// The secrets list's own lines about toolchains, with a name for each wildcard.
Arguments tokens_of_toolchains() {
  Arguments names;
  std::ifstream input(COOP_SOURCE_DIRECTORY "/policies/secrets.txt");
  bool wanted = false;
  for (std::string text; std::getline(input, text);) {
    if (text.starts_with('#')) wanted = text.starts_with("# Inside the toolchains");
    std::string name;
    std::istringstream(text) >> name;
    if (!wanted || !name.starts_with("~/")) continue;
    for (std::size_t at = 0; (at = name.find('*')) != std::string::npos;) name.replace(at, 1, "1");
    names.push_back(name.substr(2));
  }
  return names;
}

// What package managers keep beside the programs that the list shows.
KERNEL_TEST(EscapeHome, TokensInsideToolchains) {
  const DevelopersHome home;
  Arguments names{"miniconda3/.condarc",
                  ".nvm/versions/node/v22.1.0/etc/npmrc",
                  ".local/share/fnm/node-versions/v20/installation/etc/npmrc",
                  ".volta/tools/image/node/20.1.0/etc/npmrc",
                  ".pyenv/.git/config",
                  ".pyenv/versions/3.12.1/pip.conf",
                  ".virtualenvs/work/pip.conf",
                  "anaconda3/envs/ml/conda-meta/state",
                  ".sdkman/candidates/maven/3.9.9/conf/settings.xml",
                  ".asdf/installs/rust/1.80.0/credentials.toml",
                  ".rbenv/vars",
                  ".opam/plugins/opam-publish/ann.token",
                  ".cargo/credentials.toml",
                  ".gradle/gradle.properties",
                  ".m2/settings.xml",
                  "go/pkg/mod/cache/vcs/0123/config"};
  const Arguments listed = tokens_of_toolchains();
  ASSERT_GT(listed.size(), 300u);
  names.insert(names.end(), listed.begin(), listed.end());
  const auto directory_of = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
  for (const std::string& name : names) {
    // A directory on the list, or a file below one.
    if (exists(home / name)) continue;
    make_directories(directory_of(home / name));
    write_file(home / name, "token = CANARY\n");
  }
  const std::string plain = "[remote \"origin\"]\n\turl = https://example.com/nvm.git\n";
  write_file(home / ".nvm/.git/config", plain);
  write_file(home / ".nvm/versions/node/v22.1.0/bin", "CANARY of a program");

  const std::string search = "grep -rl CANARY ~ 2>/dev/null | sort";
  const Ran outside =
      run_bare({"sh", "-c", "grep -rl CANARY '" + home.path() + "' | wc -l"}, home.options());
  EXPECT_GT(std::stoul(outside.out), 300u);  // control: they are there
  const Ran ran = home.run(search);
  EXPECT_EQ(ran.out, home / ".nvm/versions/node/v22.1.0/bin\n")
      << ran.err;  // and a program is shown
  EXPECT_EQ(home.run(search, {"--show-home"}).out, home / ".nvm/versions/node/v22.1.0/bin\n");
  EXPECT_EQ(home.run("cat ~/.nvm/.git/config").out, plain);  // no credentials in it
  for (const char* name : {".nvm/versions/node/v22.1.0/etc/npmrc", ".pyenv/.git/config"})
    EXPECT_THAT(home.run("cat ~/" + std::string(name), {"--ro", home / name}).out,
                testing::HasSubstr("CANARY"));  // control: a rule that names it shows it
}

KERNEL_TEST(EscapeHome, WritesAreThrownAway) {
  const DevelopersHome home;
  const Ran ran = home.run("echo x > ~/.bashrc && mkdir -p ~/.config/autostart && cat ~/.bashrc");
  EXPECT_EQ(ran.out, "x\n") << ran.err;
  EXPECT_FALSE(exists(home / ".bashrc"));
  EXPECT_FALSE(exists(home / ".config/autostart"));
  EXPECT_NE(home.run("echo x > ~/.local/bin/tool").exit_code, 0);
  EXPECT_NE(home.run("rm -rf ~/.local/bin/tool").exit_code, 0);
  EXPECT_EQ(read_file(home / ".local/bin/tool"), "CONTENTS");
}

KERNEL_TEST(EscapeHome, OfTheGitConfigurationOnlyWhoCommits) {
  const DevelopersHome home;
  write_file(home / ".gitconfig",
             "[user]\n\tname = Ann \\\"A\\\" B\n\temail = ann@example.com\n"
             "[url \"https://ann:TOKEN@example.com/\"]\n\tinsteadOf = https://example.com/\n");
  EXPECT_THAT(home.run("cat ~/.gitconfig", {"--show-home"}).out,
              testing::HasSubstr("TOKEN"));  // control
  const Ran ran = home.run("cat ~/.gitconfig; git config --global user.name");
  EXPECT_THAT(ran.out, testing::Not(testing::HasSubstr("TOKEN")));
  EXPECT_THAT(ran.out, testing::HasSubstr("ann@example.com"));
  if (installed("git")) {
    EXPECT_THAT(ran.out, testing::HasSubstr("\nAnn \"A\" B\n")) << ran.err;
  }
}

KERNEL_TEST(EscapeHome, OfTheGitConfigurationOnlyWhoCommitsInTheMinimalView) {
  const DevelopersHome home;
  write_file(home / ".gitconfig",
             "[user]\n\tname = \"Ann\\n[core]\\n\\tpager = evil\"\n\temail = ann@example.com\n"
             "[url \"https://ann:TOKEN@example.com/\"]\n\tinsteadOf = https://example.com/\n");
  EXPECT_THAT(
      home.run("cat " + home / ".gitconfig", {"--view", "minimal", "--ro", home / ".gitconfig"})
          .out,
      testing::HasSubstr("TOKEN"));  // control
  const Ran ran = home.run("cat /etc/gitconfig; git config user.email; git config core.pager",
                           {"--view", "minimal"});
  EXPECT_THAT(ran.out, testing::Not(testing::HasSubstr("TOKEN")));
  EXPECT_THAT(ran.out, testing::HasSubstr("email = \"ann@example.com\""));
  // A line break in the name begins no section.
  EXPECT_THAT(ran.out, testing::HasSubstr("\tname = \"Ann[core]pager = evil\"\n"));
  if (installed("git")) {
    EXPECT_THAT(ran.out, testing::EndsWith("\nann@example.com\n")) << ran.err;
  }
}

KERNEL_TEST(EscapeHome, GrantsBelowIt) {
  const DevelopersHome home;
  EXPECT_TRUE(escaped(home.read(home / "Documents/letter", {"--ro", home / "Documents"})));
  EXPECT_TRUE(escaped(home.read(home / "Documents/letter", {"--ro", home.path()})));
  EXPECT_TRUE(blocked(home.read(home / ".ssh/id_rsa", {"--ro", home.path()}), kAbsent));
  EXPECT_TRUE(escaped(home.read(home / ".ssh/id_rsa", {"--ro", home / ".ssh/id_rsa"})));
  EXPECT_EQ(home.run("echo new > ~/Documents/letter", {"--rw", home / "Documents"}).exit_code, 0);
  EXPECT_EQ(read_file(home / "Documents/letter"), "new\n");
  EXPECT_EQ(home.run("echo other > ~/Documents/letter; cat ~/Documents/letter",
                     {"--overlay", home / "Documents"})
                .out,
            "other\n");
  EXPECT_EQ(read_file(home / "Documents/letter"), "new\n");
  // A grant above a listed path holds: it stays writable.
  EXPECT_EQ(home.run("echo new > ~/.local/file", {"--rw", home / ".local"}).exit_code, 0);
  EXPECT_EQ(read_file(home / ".local/file"), "new\n");
  // But what the host runs from there is guarded.
  EXPECT_NE(home.run("echo new > ~/.local/bin/tool", {"--rw", home / ".local"}).exit_code, 0);
}

KERNEL_TEST(EscapeHome, EverydayProgramsStart) {
  const DevelopersHome home;
  write_file(home / ".gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.com\n");
  const Ran git = home.run(
      "git init -q repo && cd repo && echo x > f && git add f && git commit -qm m && git log "
      "--format=%an");
  if (installed("git")) {
    EXPECT_EQ(git.out, "Ann\n") << git.err;
  }
  const Ran python = home.run("python3 -c 'import os; print(os.path.expanduser(\"~\"))'");
  if (installed("python3")) {
    EXPECT_EQ(python.out, home.path() + "\n") << python.err;
  }
  if (installed("npm")) {
    const Ran npm = home.run("npm init -y >/dev/null && npm config get cache");
    EXPECT_EQ(npm.out, home / ".npm\n") << npm.err;
  }
  // With rustup it needs a toolchain in this home, too.
  if (run_bare({"cargo", "--version"}, home.options()).exit_code == 0) {
    const Ran cargo = home.run(
        "cargo new --quiet --vcs none hello && cd hello && cargo build --quiet --offline && "
        "target/debug/hello");
    EXPECT_EQ(cargo.out, "Hello, world!\n") << cargo.err;
  }
}

}  // namespace
}  // namespace coop::tests
