// HOME: thrown away, kept, or the workspace; and the agents that get one of their own.
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/path.h"
#include "kernel/screen.h"
#include "kernel/support.h"

namespace coop::tests {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// Everything of a user in one directory; the workspace is a project in the home.
class User {
 public:
  User() : around_(visible_place()) {
    make_directories(workspace());
    make_directories(*this / "home/.local/bin");
  }

  std::string operator/(const std::string& name) const { return around_ / name; }
  std::string workspace() const { return *this / "home/project"; }
  std::string kept(const std::string& name) const { return *this / ("state/coop/homes/" + name); }

  RunOptions options() const {
    return {.environment = {{"HOME", *this / "home"},
                            {"XDG_STATE_HOME", *this / "state"},
                            {"XDG_CONFIG_HOME", *this / "config"},
                            {"PATH", *this / "home/.local/bin:/usr/bin:/bin"}},
            .directory = workspace()};
  }
  Ran coop(Arguments words) const {
    words.insert(words.begin(), coop_binary());
    return run_bare(words, options());
  }
  Ran run(const std::string& script, Arguments flags = {}) const {
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), {"--", "sh", "-c", script});
    return coop(std::move(flags));
  }
  // A program that says how it was started.
  void install(const std::string& path) const {
    make_directories(parent_of(*this / path));
    write_file(*this / path, "#!/bin/sh\necho \"$0\" \"$@\"; echo $HOME; hostname; touch ~/used\n");
    ASSERT_EQ(::chmod((*this / path).c_str(), 0755), 0);
  }

 private:
  TempDir around_;
};

KERNEL_TEST(KernelHome, ItIsEmptyAndThrownAway) {
  const User user;
  for (const std::string& view : kViews) {
    const Arguments flags = in_view(view);
    EXPECT_EQ(user.run("ls -A ~ | grep -v -x -e .local -e project -e .gitconfig -e .profile; touch "
                       "~/.new && "
                       "ls -A ~ | grep new",
                       flags)
                  .out,
              ".new\n");
    EXPECT_EQ(user.run("ls -A ~ | grep new", flags).out, "");
    EXPECT_FALSE(exists(user / "home/.new"));
    EXPECT_FALSE(exists(user.workspace() + "/.new"));
  }
  EXPECT_EQ(user.run("echo $HOME; cd ~ && pwd").out, "/home/user\n/home/user\n");
  EXPECT_EQ(user.run("echo $HOME", {"--view", "host"}).out, (user / "home") + "\n");
  EXPECT_EQ(user.run("echo $HOME", {"--home", "workspace"}).out, "/work\n");
}

KERNEL_TEST(KernelHome, AKeptOneLastsUntilItIsRemoved) {
  const User user;
  EXPECT_EQ(user.coop({"home", "ls"}).out, "no home is kept\n");
  EXPECT_EQ(user.run("mkdir ~/.state && echo 1 > ~/.state/file", {"--home", "mine"}).exit_code, 0);
  for (const std::string& view : kViews)
    EXPECT_EQ(user.run("cat ~/.state/file", in_view(view, {"--home", "mine"})).out, "1\n");
  EXPECT_NE(user.run("cat ~/.state/file", {"--home", "other"}).exit_code, 0);
  EXPECT_NE(user.run("cat ~/.state/file").exit_code, 0);

  const json listed = json::parse(user.coop({"home", "ls", "--json"}).out);
  ASSERT_EQ(listed["homes"].size(), 2U) << listed;
  EXPECT_EQ(listed["homes"][0]["name"], "mine");
  EXPECT_EQ(listed["homes"][0]["workspace"], user.workspace());
  EXPECT_EQ(listed["homes"][0]["in_use"], false);
  EXPECT_EQ(user.coop({"home", "path", "mine"}).out, user.kept("mine/home\n"));

  EXPECT_EQ(user.coop({"home", "rm", "mine"}).out, "removed mine\n");
  EXPECT_FALSE(exists(user.kept("mine")));
  const Ran gone = user.coop({"home", "rm", "mine"});
  EXPECT_EQ(gone.exit_code, 125);
  EXPECT_THAT(gone.err, HasSubstr("there is no such home"));
}

KERNEL_TEST(KernelHome, WhatIsLeftInItIsToldAndNotWhatIsInTheWorkspace) {
  const User user;
  const Arguments flags{"--view", "host", "--home", "mine"};
  const Ran work = user.run("touch made", flags);
  EXPECT_EQ(work.exit_code, 0);
  EXPECT_THAT(work.err, Not(HasSubstr("own home")));
  const Ran left = user.run("touch ../beside ~/report.md", flags);
  EXPECT_THAT(left.err, HasSubstr("/home/beside"));
  EXPECT_THAT(left.err, HasSubstr("/home/report.md"));
  EXPECT_THAT(left.err, HasSubstr(" were written to the sandbox's own home, which coop keeps at " +
                                  user.kept("mine/home")));
}

KERNEL_TEST(KernelHome, ItIsNotRemovedWhileItIsUsed) {
  const User user;
  Process running({coop_binary(), "run", "--home", "mine", "--", "sh", "-c",
                   "touch started; while [ ! -e go ]; do sleep 0.01; done; cat ~/kept"},
                  user.options());
  ASSERT_TRUE(eventually([&] { return exists(user.workspace() + "/started"); }));
  write_file(user.kept("mine/home/kept"), "kept\n");
  const Ran refused = user.coop({"home", "rm", "mine"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_THAT(refused.err, HasSubstr("a sandbox uses it"));
  EXPECT_THAT(user.coop({"home", "ls"}).out, HasSubstr("(in use)"));
  write_file(user.workspace() + "/go", "");
  EXPECT_EQ(running.finish().out, "kept\n");
  EXPECT_EQ(user.coop({"home", "rm", "mine"}).exit_code, 0);  // control
}

// Neither a symlink nor a directory that other users may change: either could lead anywhere.
KERNEL_TEST(KernelHome, OnlyADirectoryOfOnesOwnIsTaken) {
  const User user;
  ASSERT_EQ(user.run("true", {"--home", "mine"}).exit_code, 0);
  const std::string secret = user / "secret";
  make_directories(secret);
  const auto refused = [&](const std::string& why) {
    const Ran ran = user.run("touch ~/reached", {"--home", "mine"});
    EXPECT_EQ(ran.exit_code, 125);
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_FALSE(exists(secret + "/reached") || exists(secret + "/mine"));
  };
  for (const char* part : {"mine/home", "mine", ""}) {
    const std::string path = part[0] == '\0' ? user / "state/coop/homes" : user.kept(part);
    ASSERT_EQ(::rename(path.c_str(), (path + ".old").c_str()), 0);
    make_symlink(secret, path);
    refused("is no directory");
    ::unlink(path.c_str());
    ASSERT_EQ(::rename((path + ".old").c_str(), path.c_str()), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
    refused("can be written by other users");
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    if (!is_root()) continue;
    ASSERT_EQ(::chown(path.c_str(), 65533, 65533), 0);
    refused("belongs to another user");
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(user.run("touch ~/reached", {"--home", "mine"}).exit_code, 0);  // control
}

KERNEL_TEST(KernelHome, WhatASandboxDoesToItKeepsNoLaterOneOut) {
  const User user;
  for (const std::string& view : kViews) {
    const Arguments flags = in_view(view, {"--home", "mine", "--preset", "qwen"});
    ASSERT_EQ(
        user.run("rm -rf ~/.qwen; ln -s /tmp ~/.qwen; ln -s nowhere ~/.gitconfig; chmod 000 ~",
                 flags)
            .exit_code,
        0);
    const Ran ran = user.run("readlink ~/.qwen", flags);
    EXPECT_EQ(ran.out, "/tmp\n") << ran.err;
    ASSERT_EQ(user.run("rm ~/.qwen && mkdir -p ~/.qwen/settings.json", flags).exit_code, 0);
    EXPECT_EQ(user.run("true", flags).exit_code, 0);
    ASSERT_EQ(user.run("rm -r ~/.qwen", flags).exit_code, 0);
    EXPECT_EQ(user.run("cat ~/.qwen/settings.json >/dev/null", flags).exit_code, 0);  // made again
  }
}

KERNEL_TEST(KernelHome, ThePeopleOfAConfigurationHaveTheWorkspace) {
  const User user;
  write_file(
      user / "coop.toml",
      "[[users]]\nname = \"ann\"\ntrust = \"full\"\n[[agents]]\nid = \"main\"\nworkspace = \"" +
          user.workspace() + "\"\n");
  const Ran ran =
      user.run("echo $HOME; touch ~/kept", {"--config", user / "coop.toml", "--as", "ann"});
  EXPECT_EQ(ran.out, "/work\n") << ran.err;
  EXPECT_TRUE(exists(user.workspace() + "/kept"));
}

// In the repository the agent would take the repository's files for the user's settings, and leave its login there.
KERNEL_TEST(KernelHome, AProjectFileDoesNotMoveAnAgentsHome) {
  const User user;
  make_directories(user.workspace() + "/.coop");
  const std::string file = user.workspace() + "/.coop/policy.toml";
  const auto home = [&](const std::string& value) {
    write_file(file, "[sandbox]\nhome = \"" + value + "\"\n");
    return user.run("echo $HOME; ls -A ~ | grep -c used", {"--preset", "claude"});
  };
  ASSERT_EQ(user.run("touch ~/used", {"--preset", "claude"}).exit_code, 0);
  EXPECT_EQ(home("workspace").out, (user / "home") + "\n1\n");
  EXPECT_EQ(home("other").out, (user / "home") + "\n1\n");
  EXPECT_THAT(home("other").err, HasSubstr("home = \"other\""));
  EXPECT_EQ(home("ephemeral").out, (user / "home") + "\n0\n");  // it may have less
  EXPECT_EQ(user.coop({"policy", "approve", "--yes"}).exit_code, 0);
}

// A repository can ship a state directory, and settings that make it coop's (direnv).
KERNEL_TEST(KernelHome, AStateDirectoryInTheRepositoryIsNotObeyed) {
  const User user;
  make_directories(user.workspace() + "/.git");
  make_directories(user.workspace() + "/sub/.coop");
  write_file(user.workspace() + "/sub/.coop/policy.toml", "[sandbox]\nhostname = \"other\"\n");
  const auto coop = [&](const std::string& state, Arguments words) {
    RunOptions options = user.options();
    options.environment["XDG_STATE_HOME"] = state;
    options.directory = user.workspace() + "/sub";
    words.insert(words.begin(), coop_binary());
    return run_bare(words, options);
  };
  const Arguments kept{"run", "--home", "mine", "--", "true"};
  const Arguments named{"run", "--", "hostname"};
  for (const bool inside : {true, false}) {
    const std::string state = inside ? user.workspace() + "/.state" : user / "state";
    EXPECT_EQ(coop(state, kept).exit_code, inside ? 125 : 0);
    EXPECT_EQ(coop(state, {"policy", "approve", "--yes"}).exit_code, 0);
    EXPECT_EQ(coop(state, named).out == "other\n", !inside);
  }
}

KERNEL_TEST(KernelPreset, AnAgentIsKnownByTheProgramThatTheNameLeadsTo) {
  const User user;
  const std::string program = "home/.local/bin/codex";
  user.install(program);
  const Ran known = user.coop({"run", "--", "codex", "exec", "hello"});
  EXPECT_EQ(known.out, (user / program) + " -c sandbox_mode=\"danger-full-access\" exec hello\n" +
                           (user / "home") + "\ncoop-codex\n")
      << known.err;
  const json homes = json::parse(user.coop({"home", "ls", "--json"}).out)["homes"];
  ASSERT_EQ(homes.size(), 1U) << homes;
  EXPECT_THAT(homes[0]["name"].get<std::string>(), testing::StartsWith("codex-project-"));
  EXPECT_TRUE(exists(homes[0]["path"].get<std::string>() + "/used"));
  EXPECT_FALSE(exists(user.workspace() + "/used") || exists(user / "home/used"));

  const Ran without = user.coop({"run", "--no-preset", "--view", "host", "--", "codex"});
  EXPECT_EQ(without.out.find("danger"), std::string::npos) << without.out;
  EXPECT_EQ(without.out.find("coop-codex"), std::string::npos) << without.out;

  // The repository's own program: not the one with the login.
  user.install("home/project/codex");
  for (const char* name : {"./codex", "codex"}) {
    Arguments words{coop_binary(), "run", "--", name};
    RunOptions options = user.options();
    options.environment["PATH"] = ".:" + options.environment["PATH"];
    const Ran own = run_bare(words, options);
    EXPECT_THAT(own.err, HasSubstr("lies in the workspace")) << name;
    EXPECT_THAT(own.out, Not(HasSubstr("danger"))) << name;
  }
  EXPECT_EQ(json::parse(user.coop({"home", "ls", "--json"}).out)["homes"].size(), 1U);
}

// A file beside the program may be anything of the user's.
KERNEL_TEST(KernelPreset, OfAProgramInTheHomeOnlyTheFileIsShown) {
  const User user;
  user.install("home/downloads/aider");
  write_file(user / "home/downloads/aider", "#!/bin/sh\nhostname; ls -A ~/downloads\n");
  write_file(user / "home/downloads/letter", "private");
  const Ran ran = user.coop({"run", "--", user / "home/downloads/aider"});
  EXPECT_EQ(ran.out, "coop-aider\naider\n") << ran.err;
}

constexpr const char* kLogin = "home/.aider/oauth-keys.env";

std::string copied_login(const User& user) {
  return read_file(user.kept("mine/home/.aider/oauth-keys.env"));
}

KERNEL_TEST(KernelPreset, ALoginIsCopiedOnlyForAWord) {
  const User user;
  make_directories(user / "home/.aider");
  write_file(user / kLogin, "KEY=1\n");
  const Arguments flags{"--preset", "aider", "--network", "none", "--home", "mine"};
  Arguments importing = flags;
  importing.push_back("--import-login");
  EXPECT_EQ(user.run("true", flags).exit_code, 0);  // there is no terminal to ask at
  EXPECT_EQ(copied_login(user), "");
  const Ran ran =
      user.run("cat ~/.aider/oauth-keys.env; echo KEY=2 > ~/.aider/oauth-keys.env", importing);
  EXPECT_EQ(ran.out, "KEY=1\n") << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("copied ~/.aider/oauth-keys.env into the home mine"));
  EXPECT_EQ(copied_login(user), "KEY=2\n");
  EXPECT_EQ(read_file(user / kLogin), "KEY=1\n");  // never back

  // A symlink that a sandbox may have made there leads to another secret.
  ::unlink((user / kLogin).c_str());
  write_file(user / "home/secret", "SECRET\n");
  make_symlink("../secret", user / kLogin);
  EXPECT_EQ(user.run("cat ~/.aider/oauth-keys.env", importing).exit_code, 125);
  EXPECT_EQ(copied_login(user), "KEY=2\n");

  const Ran fresh = user.run("true", {"--preset", "claude", "--import-login"});
  EXPECT_EQ(fresh.exit_code, 125);
  EXPECT_THAT(fresh.err, HasSubstr("refresh token"));
}

KERNEL_TEST(KernelPreset, ALoginIsOfferedOnceAtATerminal) {
  for (const std::string& answer : {"n", "y"}) {
    const User user;
    make_directories(user / "home/.aider");
    write_file(user / kLogin, "KEY=1\n");
    const Arguments words{coop_binary(), "run",  "--preset", "aider", "--network", "none",
                          "--home",      "mine", "--",       "echo",  "done"};
    Screen first(words, user.options());
    ASSERT_TRUE(first.shows("Copy yours (~/.aider/oauth-keys.env) there? [y/N] ")) << first.seen();
    first.type(answer + "\n");
    EXPECT_TRUE(first.shows("done")) << first.seen();
    EXPECT_EQ(first.finish(), 0);
    EXPECT_EQ(copied_login(user), answer == "y" ? "KEY=1\n" : "");
    Screen second(words, user.options());
    EXPECT_TRUE(second.shows("done")) << second.seen();
    EXPECT_EQ(second.finish(), 0);
    EXPECT_THAT(second.seen(), Not(HasSubstr("Copy yours")));
  }
}

KERNEL_TEST(KernelPreset, PortsOfALoginAreOpenOnlyWithANetworkAndWithoutALogin) {
  const User user;
  const auto publishes = [&](Arguments flags) {
    flags.insert(flags.begin(), {"plan", "--preset", "codex"});
    flags.insert(flags.end(), {"--", "true"});
    return user.coop(flags).out.contains("1455");
  };
  EXPECT_TRUE(publishes({}));  // nothing listens there, or this says nothing
  EXPECT_FALSE(publishes({"--network", "none"}));
  ASSERT_EQ(
      user.run("mkdir -p ~/.codex; touch ~/.codex/auth.json", {"--preset", "codex"}).exit_code, 0);
  EXPECT_FALSE(publishes({}));
}

KERNEL_TEST(KernelPreset, GitKnowsTheUserAndHarmlessAliases) {
  const User user;
  write_file(user / "home/.gitconfig",
             "[user]\n\tname = Ann\n\temail = ann@example.com\n[alias]\n\tst = status -sb\n"
             "\tbad = !touch /tmp/x\n[credential]\n\thelper = store\n[core]\n\thooksPath = ~/h\n"
             "[http]\n\textraHeader = TOKEN\n");
  if (!installed("git")) GTEST_SKIP() << "no git";
  const Ran ran = user.run("git config --list --global", {"--preset", "claude"});
  EXPECT_EQ(ran.out, "user.name=Ann\nuser.email=ann@example.com\nalias.st=status -sb\n") << ran.err;
  EXPECT_THAT(user.run("git config --list", {}).out, HasSubstr("alias.st=status -sb\n"));
}

}  // namespace
}  // namespace coop::tests
