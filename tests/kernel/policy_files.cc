// Policy files change real sandboxes: each test shows the sandbox without the file first.
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/harness.h"

namespace coop::tests {
namespace {

// A home with a policy, a state directory, and files outside the workspace.
class Home {
 public:
  explicit Home(const Workspace& workspace) : workspace_(workspace) {
    make_directories(home() + "/.config/coop");
    make_directories(outside());
    make_directories(workspace_ / ".coop");
  }

  std::string home() const { return workspace_.around() / "home"; }
  std::string outside() const { return workspace_.around() / "outside"; }

  std::string config() const { return workspace_.around() / "coop.toml"; }

  void user_policy(const std::string& text) const {
    const std::string path = home() + "/.config/coop/policy.toml";
    write_file(path, text);
    ::chmod(path.c_str(), 0600);
  }
  void project_policy(const std::string& text) const {
    write_file(workspace_ / ".coop/policy.toml", text);
  }

  RunOptions options() const {
    RunOptions options = workspace_.options();
    options.environment["HOME"] = home();
    options.environment["XDG_STATE_HOME"] = home() + "/state";
    options.environment["XDG_CONFIG_HOME"] = "";
    return options;
  }
  Ran coop(const Arguments& arguments) const { return run_coop(arguments, options()); }
  Ran run(const Arguments& flags, const std::string& script) const {
    Arguments arguments{"run"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    return coop(arguments);
  }

 private:
  const Workspace& workspace_;
};

std::string grant(const std::string& key, const std::string& path) {
  return "[sandbox]\n" + key + " = [\"" + path + "\"]\n";
}

KERNEL_TEST(PolicyFiles, ACacheOfAFileIsTheSameAsOneOfAFlag) {
  const Workspace workspace{visible_place()};
  const Home home(workspace);
  const std::string cache = home.home() + "/.cargo/registry/cache";
  const auto make_repository = [&](const Arguments& flags, const std::string& name) {
    const std::string bare = cache + "/" + name;
    make_directories(cache);
    const Ran ran = home.run(flags, "mkdir -p " + bare + "/hooks " + bare + "/objects " + bare +
                                        "/refs && echo 'ref: refs/heads/main' >" + bare +
                                        "/HEAD && printf '[core]\\nfsmonitor = x\\n' >" + bare +
                                        "/config && echo x >" + bare + "/hooks/pre-commit");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return exists(bare + "/config");
  };
  EXPECT_FALSE(make_repository({"--rw", cache}, "granted"));  // control: a grant is watched
  EXPECT_TRUE(make_repository({"--share-cache", "cargo"}, "flag"));
  EXPECT_FALSE(make_repository({"--cache", "cargo"}, "private"));
  home.user_policy("[sandbox]\nshare_caches = [\"cargo\"]\n");
  EXPECT_TRUE(make_repository({}, "file"));
  home.user_policy("[sandbox]\ncache_volumes = [\"cargo\"]\n");
  EXPECT_FALSE(make_repository({}, "private-file"));
}

KERNEL_TEST(PolicyFiles, TheUsersPolicyIsTheSandbox) {
  const Workspace workspace;
  const Home home(workspace);
  const std::string write = "echo x > " + home.outside() + "/made";
  EXPECT_NE(home.run({}, write).exit_code, 0);  // control
  home.user_policy(grant("writable_paths", home.outside()) + "tmp_size = \"1m\"\n");
  const Ran ran = home.run({}, write);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(read_file(home.outside() + "/made"), "x\n");
  EXPECT_NE(home.run({}, "head -c 2000000 /dev/zero > /tmp/big").exit_code, 0);
  EXPECT_EQ(home.run({"--tmp-size", "8m"}, "head -c 2000000 /dev/zero > /tmp/big").exit_code, 0);
}

KERNEL_TEST(PolicyFiles, AMistakeInAPolicyIsAnErrorAndNothingRuns) {
  const Workspace workspace;
  const Home home(workspace);
  home.user_policy("[sandbox]\nmemroy = \"2g\"\n");
  const Ran ran = home.run({}, "touch ran");
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_NE(ran.err.find("policy.toml:2:1"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("memory"), std::string::npos) << ran.err;
  EXPECT_FALSE(exists(workspace / "ran"));
}

KERNEL_TEST(PolicyFiles, APolicyThatOthersCanChangeIsNotBelieved) {
  const Workspace workspace;
  const Home home(workspace);
  home.user_policy("[sandbox]\n");
  EXPECT_EQ(home.run({}, "true").exit_code, 0);  // control
  ::chmod((home.home() + "/.config/coop/policy.toml").c_str(), 0666);
  const Ran ran = home.run({}, "true");
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_NE(ran.err.find("can be changed by others"), std::string::npos) << ran.err;
}

KERNEL_TEST(PolicyFiles, AProjectNarrowsWithoutApproval) {
  const Workspace workspace;
  const Home home(workspace);
  write_file(workspace / "secret.txt", "key");
  EXPECT_EQ(home.run({}, "grep -q key secret.txt").exit_code, 0);  // control
  home.project_policy(grant("hidden_paths", "secret.*"));
  EXPECT_NE(home.run({}, "grep -q key secret.txt").exit_code, 0);
}

KERNEL_TEST(PolicyFiles, AProjectWidensOnlyAfterApprovalOfExactlyThisText) {
  const Workspace workspace;
  const Home home(workspace);
  const std::string write = "echo x > " + home.outside() + "/made";
  home.project_policy(grant("writable_paths", home.outside()));
  const Ran refused = home.run({}, write);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("not approved"), std::string::npos) << refused.err;
  EXPECT_EQ(home.coop({"policy", "check"}).exit_code, 1);

  const Ran approved = home.coop({"policy", "approve", "--yes"});
  EXPECT_EQ(approved.exit_code, 0) << approved.err;
  EXPECT_EQ(home.run({}, write).exit_code, 0);
  EXPECT_EQ(read_file(home.outside() + "/made"), "x\n");

  home.project_policy(grant("writable_paths", home.outside()) + "# one byte more\n");
  EXPECT_NE(home.run({}, "echo y > " + home.outside() + "/made").exit_code, 0);
  EXPECT_EQ(read_file(home.outside() + "/made"), "x\n");
}

// The approval stays when the user's own file becomes narrower: all that it then grants is to be seen.
KERNEL_TEST(PolicyFiles, WhatTheUserAlreadyAllowsIsShownForApprovalToo) {
  const Workspace workspace;
  const Home home(workspace);
  const std::string both = grant("writable_paths", home.outside());
  home.project_policy(both);
  EXPECT_NE(home.coop({"policy", "approve"}).out.find(home.outside()),
            std::string::npos);  // control
  home.user_policy(both);
  EXPECT_NE(home.coop({"policy", "approve"}).out.find(home.outside()), std::string::npos);
}

KERNEL_TEST(PolicyFiles, ApprovalNeedsAPersonOrTheWordYes) {
  const Workspace workspace;
  const Home home(workspace);
  home.project_policy(grant("writable_paths", home.outside()));
  EXPECT_EQ(home.coop({"policy", "approve"}).exit_code, 125);
  EXPECT_NE(home.run({}, "echo x > " + home.outside() + "/made").exit_code, 0);
}

KERNEL_TEST(PolicyFiles, ASandboxChangesNeitherItsPolicyNorItsApprovals) {
  const Workspace workspace;
  const Home home(workspace);
  home.project_policy("[sandbox]\n");
  home.user_policy("[sandbox]\n");
  make_directories(home.home() + "/state/coop/approvals");
  EXPECT_NE(home.run({}, "echo x >> .coop/policy.toml").exit_code, 0);
  EXPECT_NE(home.run({}, "mv .coop other").exit_code, 0);
  EXPECT_EQ(read_file(workspace / ".coop/policy.toml"), "[sandbox]\n");
  const Arguments wide{"--view", "host", "--rw", workspace.around().path(), "-w", workspace.path()};
  EXPECT_NE(home.run(wide, "echo x > " + home.home() + "/.config/coop/policy.toml").exit_code, 0);
  EXPECT_NE(home.run(wide, "echo x > " + home.home() + "/state/coop/approvals/x").exit_code, 0);
  EXPECT_EQ(read_file(home.home() + "/.config/coop/policy.toml"), "[sandbox]\n");
  EXPECT_FALSE(exists(home.home() + "/state/coop/approvals/x"));
}

// The organisation's file belongs to root: here to root of a user namespace, with an overlay over
// /etc.
class Organisation {
 public:
  Organisation(const Workspace& workspace, const Home& home, const std::string& policy)
      : home_(home), layer_(workspace.around() / "etc") {
    make_directories(layer_ + "/coop");
    ::chmod((layer_ + "/coop").c_str(), 0755);
    write_file(layer_ + "/coop/policy.toml", policy);
    ::chmod((layer_ + "/coop/policy.toml").c_str(), 0644);
  }

  Ran coop(const Arguments& arguments) const {
    Arguments command{
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        "mount -t overlay overlay -o lowerdir=" + layer_ + ":/etc /etc && exec \"$@\"",
        "sh",
        coop_binary()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_bare(command, home_.options());
  }

 private:
  const Home& home_;
  std::string layer_;
};

KERNEL_TEST(PolicyFiles, NoPolicyExceedsTheOrganisation) {
  const Workspace workspace;
  const Home home(workspace);
  make_directories(home.outside() + "/allowed");
  const Organisation organisation(workspace, home,
                                  "[sandbox]\nnetwork = \"none\"\npids_limit = 100\n"
                                  "writable_paths = [\"" +
                                      home.outside() +
                                      "/allowed\"]\n"
                                      "hidden_paths = [\"" +
                                      home.outside() + "/allowed/hidden\"]\n");
  make_directories(home.outside() + "/allowed/hidden");
  const auto run = [&](Arguments flags, const std::string& script) {
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), {"--", "sh", "-c", script});
    return organisation.coop(flags);
  };
  const Ran control = run({}, "echo x > " + home.outside() + "/allowed/file");
  EXPECT_EQ(control.exit_code, 0) << control.err;
  const std::vector<Arguments> beyond{{"--network", "host", "--unsafe", "host_network"},
                                      {"--pids", "200"},
                                      {"--pids", "unlimited"},
                                      {"--rw", home.outside()},
                                      {"--ro", home.outside() + "/allowed/hidden"}};
  for (const Arguments& flags : beyond) {
    const Ran ran = run(flags, "true");
    EXPECT_EQ(ran.exit_code, 125) << flags.front() << ran.err;
    EXPECT_NE(ran.err.find("/etc/coop/policy.toml"), std::string::npos) << ran.err;
  }
  // The symlink's name is inside the bound, its target is not.
  make_symlink(home.home(), home.outside() + "/allowed/link");
  const Ran linked = run({"--rw", home.outside() + "/allowed/link"}, "true");
  EXPECT_EQ(linked.exit_code, 125) << linked.err;
  // Lower files are cut back, with a note.
  home.user_policy("[sandbox]\npids_limit = 200\n");
  const Ran cut = run({}, "true");
  EXPECT_EQ(cut.exit_code, 0) << cut.err;
  EXPECT_NE(cut.err.find("pids_limit"), std::string::npos) << cut.err;
}

// --- coop.toml ---------------------------------------------------------------------------------

constexpr const char* kPeople = R"([sandbox]
enabled = true
best_effort = ["limits"]

[[users]]
name = "alice"
trust = "owner"
match = ["terminal:default"]

[[users]]
name = "bob"
trust = "inner"
match = ["signal:+15555550101"]
sandbox = { memory = "64m" }

[[users]]
name = "carol"
trust = "familiar"
match = ["signal:+15555550102"]

[[cron]]
name = "count"
cron = "@daily"
user = "bob"
command = "./payload allocate 1024"
sandbox = { memory = "unlimited" }
)";

KERNEL_TEST(PolicyFiles, AUsersOverrideChangesTheSandbox) {
  const Workspace workspace;
  const Home home(workspace);
  write_file(home.config(), kPeople);
  const auto allocate = [&](const Arguments& who) {
    Arguments arguments{"run", "--config", home.config()};
    arguments.insert(arguments.end(), who.begin(), who.end());
    arguments.insert(arguments.end(), {"--", "./payload", "allocate", "256"});
    return home.coop(arguments);
  };
  EXPECT_TRUE(escaped(allocate({"--as", "alice"})));  // control: the global limit is larger
  const Ran limited = allocate({"--channel", "signal:+15555550101"});
  EXPECT_TRUE(limited.exit_code == 137 || blocked(limited, ENOMEM))
      << limited.exit_code << limited.out << limited.err;
}

KERNEL_TEST(PolicyFiles, ACronJobsOverrideWinsOverItsUsers) {
  const Workspace workspace;
  const Home home(workspace);
  write_file(home.config(), kPeople);
  EXPECT_TRUE(escaped(home.coop({"run", "--config", home.config(), "--cron", "count"})));
}

KERNEL_TEST(PolicyFiles, WhoMayNotRunCommandsDoesNot) {
  const Workspace workspace;
  const Home home(workspace);
  write_file(home.config(), kPeople);
  EXPECT_EQ(home.run({"--config", home.config(), "--as", "bob"}, "true").exit_code, 0);  // control
  const std::vector<Arguments> refused{{"--as", "carol"},
                                       {"--channel", "signal:+15555550199"},
                                       {"--channel", "terminal:default", "--group"},
                                       {"--as", "bob", "--group"}};
  for (const Arguments& who : refused) {
    Arguments flags{"--config", home.config()};
    flags.insert(flags.end(), who.begin(), who.end());
    const Ran ran = home.run(flags, "touch ran");
    EXPECT_EQ(ran.exit_code, 125) << who[1];
    EXPECT_NE(ran.err.find("may not run commands"), std::string::npos) << ran.err;
  }
  EXPECT_FALSE(exists(workspace / "ran"));
}

// A stranger's repository: its own `workspace` line points below it, and the caller at the terminal is the owner.
KERNEL_TEST(PolicyFiles, AConfigurationOfTheCurrentDirectoryHasToBeNamed) {
  const Workspace workspace;
  const Home home(workspace);
  make_directories(workspace / "below");
  const std::string people = "[sandbox]\nworkspace = \"below\"\n";
  write_file(workspace / "coop.toml", people);
  const std::string escape = home.outside() + "/escaped";
  const Arguments tool{"tool", "bash", R"({"command": "touch )" + escape + R"("})", "--channel",
                       "terminal:default"};
  const auto with = [](Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  for (const Arguments& arguments :
       {tool, Arguments{"mcp", "--channel", "terminal:default"},
        Arguments{"run", "--channel", "terminal:default", "--", "true"},
        Arguments{"trust", "terminal:default"}, Arguments{"config", "check"}}) {
    const Ran unnamed = home.coop(arguments);
    EXPECT_EQ(unnamed.exit_code, 125) << arguments.front();
    EXPECT_NE(unnamed.err.find("there is none at"), std::string::npos) << unnamed.err;
  }
  EXPECT_FALSE(exists(escape));
  EXPECT_EQ(home.coop(with(tool, {"--config", "./coop.toml"})).exit_code, 0);  // control: named
  EXPECT_TRUE(exists(escape));
  std::filesystem::remove(escape);
  write_file(home.home() + "/.config/coop/coop.toml", people);  // and the user's own is found
  make_directories(home.home() + "/.config/coop/below");
  EXPECT_EQ(home.coop(tool).exit_code, 0);
  EXPECT_TRUE(exists(escape));
}

KERNEL_TEST(PolicyFiles, AConfigurationThatOthersCanChangeIsRefused) {
  const Workspace workspace;
  const Home home(workspace);
  const std::string place = workspace.around() / "place";
  const std::string file = place + "/coop.toml";
  const std::string link = workspace.around() / "link.toml";
  make_directories(place);
  write_file(file, kPeople);
  make_symlink(file, link);
  const auto refused = [&](const std::string& config, const std::string& why) {
    for (const Arguments& arguments :
         {Arguments{"run", "--config", config, "--as", "bob", "--", "true"},
          Arguments{"config", "check", config}}) {
      const Ran ran = home.coop(arguments);
      EXPECT_EQ(ran.exit_code, 125) << ran.out << ran.err;
      EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
    }
  };
  ::chmod(place.c_str(), 0755);
  ::chmod(file.c_str(), 0644);
  for (const std::string& config : {file, link})
    EXPECT_EQ(home.run({"--config", config, "--as", "bob"}, "true").exit_code, 0);  // control
  ::chmod(file.c_str(), 0664);
  refused(file, "can be changed by others");
  ::chmod(file.c_str(), 0644);
  ::chmod(place.c_str(), 0777);
  refused(file, "can be changed by others");
  refused(link, "can be changed by others");
  ::chmod(place.c_str(), 0755);
  if (!is_root()) return;
  EXPECT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  refused(file, "belongs to user 12345");
}

// What run refuses, the check must not pass.
KERNEL_TEST(PolicyFiles, TheCheckOfAConfigurationPlansIt) {
  const Workspace workspace;
  const Home home(workspace);
  const std::string here = "workspace = \"" + workspace.path() + "\"\n";
  const std::string people = "\n[[users]]\nname = \"bob\"\ntrust = \"inner\"\nmatch = [\"a:b\"]\n";
  const auto status_of = [&](const std::string& text, const Arguments& arguments) {
    write_file(home.config(), text);
    const Ran ran = home.coop(arguments);
    return std::pair(ran.exit_code, ran.out + ran.err);
  };
  const Arguments check{"config", "check", home.config()};
  const Arguments as_bob{"run", "--config", home.config(), "--as", "bob", "--", "true"};
  const std::string good = "[sandbox]\nbest_effort = [\"limits\"]\n" + here;
  EXPECT_EQ(status_of(good + people, as_bob).first, 0);  // control
  EXPECT_EQ(status_of(good + people, check).first, 0) << status_of(good + people, check).second;
  for (const std::string& bad :
       {std::string("containers = true"), std::string("vm = true"),
        std::string("backend = \"bwrap\""), std::string("writable_paths = [\"/nowhere\"]"),
        std::string("readable_paths = [\"/\"]"), "hidden_paths = [\"" + workspace.path() + "\"]",
        std::string("env = { set = { LD_PRELOAD = \"x\" } }"),
        "writable_paths = [\"" + home.home() + "/.config/coop\"]",
        std::string("network = { publish = [\"8080:80\"], host_ports = [80] }"),
        std::string("network = { mode = \"full\", deny = [\"a.example\"] }"),
        std::string("sockets = [\"/nowhere.sock\"]"), std::string("network = \"host\"")}) {
    const std::string text = "[sandbox]\nbest_effort = [\"limits\"]\n" + here + bad + "\n" + people;
    const auto [ran, said] = status_of(text, as_bob);
    EXPECT_EQ(ran, 125) << bad << said;
    EXPECT_EQ(status_of(text, check).first, 1) << bad << ": " << said;
  }
  const std::string job = "\n[[cron]]\nname = \"night\"\ncron = \"@daily\"\ncommand = \"true\"\n";
  EXPECT_EQ(status_of(good + job, {"run", "--config", home.config(), "--cron", "night"}).first,
            125);
  EXPECT_EQ(status_of(good + job, check).first, 1);  // the job has no user who may run commands
  const std::string override = people + "sandbox = { network = \"host\" }\n";
  EXPECT_EQ(status_of(good + override, as_bob).first, 125);
  EXPECT_EQ(status_of(good + override, check).first, 1);
}

KERNEL_TEST(PolicyFiles, TheCheckOfPolicyFilesPlansThem) {
  const Workspace workspace;
  const Home home(workspace);
  home.user_policy("[sandbox]\nmemory = \"1g\"\n");
  EXPECT_EQ(home.coop({"policy", "check"}).exit_code, 0);  // control
  for (const std::string& bad :
       {"hidden_paths = [\"" + workspace.path() + "\"]",
        std::string("readable_paths = [\"/nowhere\"]"), std::string("writable_paths = [\"/\"]")}) {
    home.user_policy("[sandbox]\n" + bad + "\n");
    EXPECT_EQ(home.run({}, "true").exit_code, 125) << bad;
    EXPECT_EQ(home.coop({"policy", "check"}).exit_code, 1) << bad;
    EXPECT_EQ(home.coop({"policy", "check", home.home() + "/.config/coop/policy.toml"}).exit_code,
              1)
        << bad;
  }
}

KERNEL_TEST(PolicyFiles, AConfigurationInTheWorkspaceCannotBeWritten) {
  const Workspace workspace;
  const Home home(workspace);
  write_file(workspace / "coop.toml", kPeople);
  const Arguments named{"--config", "coop.toml", "--as", "bob"};
  EXPECT_EQ(home.run(named, "true").exit_code, 0);  // control
  for (const Arguments& flags : {named, Arguments{}}) {
    EXPECT_NE(home.run(flags, "echo x >> coop.toml").exit_code, 0);
    EXPECT_NE(home.run(flags, "mv coop.toml other").exit_code, 0);
  }
  EXPECT_EQ(read_file(workspace / "coop.toml"), kPeople);
  // A new one in a subdirectory is quarantined too: coop may be started there later.
  make_directories(workspace / "sub/deep");
  EXPECT_EQ(home.run({},
                     "mkdir sub/deep/.coop; echo x > sub/deep/.coop/policy.toml; "
                     "echo x > sub/coop.toml")
                .exit_code,
            0);
  EXPECT_FALSE(exists(workspace / "sub/deep/.coop"));
  EXPECT_FALSE(exists(workspace / "sub/coop.toml"));
}

KERNEL_TEST(PolicyFiles, WhatCoopHasNotMadeYetIsNotTheSandboxsToMake) {
  const Workspace workspace;
  const Home home(workspace);
  const std::string own = workspace / "home";
  make_directories(own);
  RunOptions options = home.options();
  options.environment["HOME"] = own;
  options.environment.erase("XDG_STATE_HOME");
  const auto run = [&](const std::string& script) {
    return run_coop({"run", "-w", workspace.path(), "--", "sh", "-c", script}, options);
  };
  EXPECT_EQ(run("echo x > home/made").exit_code, 0);  // control
  for (const char* place :
       {"home/.config/coop/policy.toml", "home/.local/state/coop/approvals/x"}) {
    run("mkdir -p $(dirname " + std::string(place) + "); echo x > " + place);
    EXPECT_FALSE(exists(workspace / place)) << place;
  }
}

KERNEL_TEST(PolicyFiles, APolicyThatIsASymlinkIsProtectedWhereItReallyIs) {
  const Workspace workspace;
  const Home home(workspace);
  write_file(workspace / "dotfile.toml", "[sandbox]\n");
  make_symlink(workspace / "dotfile.toml", home.home() + "/.config/coop/policy.toml");
  EXPECT_EQ(home.run({}, "echo x > other.toml").exit_code, 0);  // control
  EXPECT_NE(home.run({}, "echo x > dotfile.toml").exit_code, 0);
  EXPECT_EQ(read_file(workspace / "dotfile.toml"), "[sandbox]\n");
}

KERNEL_TEST(PolicyFiles, AGrantDoesNotFollowASymlinkTheCommandMade) {
  const Workspace workspace;
  const Home home(workspace);
  home.project_policy(grant("writable_paths", "out?"));
  EXPECT_EQ(home.coop({"policy", "approve", "--yes"}).exit_code, 0);
  EXPECT_EQ(home.run({}, "ln -s " + home.outside() + " out").exit_code, 0);
  const Ran ran = home.run({}, "echo x > " + home.outside() + "/made");
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_NE(ran.err.find("symlink"), std::string::npos) << ran.err;
  EXPECT_FALSE(exists(home.outside() + "/made"));
  for (const char* flag : {"--rw", "--ro", "--overlay"})
    EXPECT_EQ(home.run({flag, "out"}, "true").exit_code, 125) << flag;
}

KERNEL_TEST(PolicyFiles, AProjectSetsNoVariablesUnapproved) {
  const Workspace workspace;
  const Home home(workspace);
  home.project_policy("[sandbox]\nenv = { set = { SERVICE_URL = \"http://evil\" } }\n");
  EXPECT_EQ(home.run({}, "test -z \"$SERVICE_URL\"").exit_code, 0);
  EXPECT_EQ(home.coop({"policy", "approve", "--yes"}).exit_code, 0);
  EXPECT_EQ(home.run({}, "test \"$SERVICE_URL\" = http://evil").exit_code, 0);  // control
}

KERNEL_TEST(PolicyFiles, AnApprovalEndsWithTheNextOneAndWithItsRevocation) {
  const Workspace workspace;
  const Home home(workspace);
  const std::string first = grant("writable_paths", home.outside());
  const std::string write = "echo x > " + home.outside() + "/made";
  home.project_policy(first);
  EXPECT_EQ(home.coop({"policy", "approve", "--yes"}).exit_code, 0);
  EXPECT_EQ(home.run({}, write).exit_code, 0);  // control
  home.project_policy(first + "memory = \"1g\"\n");
  EXPECT_EQ(home.coop({"policy", "approve", "--yes"}).exit_code, 0);
  home.project_policy(first);
  EXPECT_NE(home.run({}, write).exit_code, 0);
  home.project_policy(first + "memory = \"1g\"\n");
  EXPECT_EQ(home.run({}, write).exit_code, 0);
  EXPECT_EQ(home.coop({"policy", "approve", "--revoke"}).exit_code, 0);
  EXPECT_NE(home.run({}, write).exit_code, 0);
}

// --- Logs --------------------------------------------------------------------------------------

KERNEL_TEST(PolicyFiles, VerboseRunsLogOneObjectALineAndNoSecret) {
  const Workspace workspace;
  const Home home(workspace);
  RunOptions options = home.options();
  options.environment["MY_API_KEY"] = "correct-horse-battery";
  const Ran ran = run_coop({"run", "-v", "--env", "DB_PASSWORD=staple-staple", "--memory", "1g",
                            "--timeout", "1m", "--", "sh", "-c", "exit 3", "correct-horse-battery",
                            std::string("gh") + "p_0123456789abcdefghij0123456789abcdef"},
                           options);
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_EQ(ran.err.find("correct-horse"), std::string::npos);
  EXPECT_EQ(ran.err.find("staple-staple"), std::string::npos);
  EXPECT_EQ(ran.err.find("ghp_0123"), std::string::npos);
  std::istringstream lines(ran.err);
  std::string line;
  std::string session;
  nlohmann::json start;
  int steps = 0;
  std::map<std::string, std::string> level_of;
  while (std::getline(lines, line)) {
    const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
    ASSERT_FALSE(record.is_discarded()) << line;
    EXPECT_EQ(record["span"], "sandbox_exec");
    if (session.empty()) session = record["session"];
    EXPECT_EQ(record["session"], session);
    EXPECT_FALSE(session.empty());
    steps += record["fields"].contains("step") ? 1 : 0;
    if (record["message"] == "starting a command") start = record["fields"];
    level_of[record["message"].get<std::string>()] = record["level"].get<std::string>();
  }
  EXPECT_GT(steps, 20);
  EXPECT_EQ(level_of["this machine's isolation"], "info");
  EXPECT_EQ(level_of["starting a command"], "debug");
  // The same fields as those of a tool, and numbers are numbers.
  EXPECT_EQ(start["program"], "sh");
  EXPECT_EQ(start["arguments"], 4);
  EXPECT_EQ(start["memory"], std::uint64_t{1} << 30);
  EXPECT_EQ(start["timeout_ms"], 60000);
}

KERNEL_TEST(PolicyFiles, AFailedStartIsLoggedAsAnError) {
  const Workspace workspace;
  const Home home(workspace);
  const Ran ran = home.run({"-v", "--log-format", "text", "--ro", "/nonexistent"}, "true");
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_NE(ran.err.find(" error "), std::string::npos) << ran.err;
}

KERNEL_TEST(PolicyFiles, AWeakerSandboxIsLoggedAsAWarning) {
  const Workspace workspace;
  const Home home(workspace);
  const auto level = [&](const Arguments& flags) {
    const Ran ran = home.run(flags, "true");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::istringstream lines(ran.err);
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
      if (record.is_object() && record.value("message", "").starts_with("unsafe.host_network"))
        return record.value("level", "");
    }
    return std::string("not logged");
  };
  EXPECT_EQ(level({"-v"}), "not logged");
  EXPECT_EQ(level({"-v", "--network", "host", "--unsafe", "host_network"}), "warn");
}

// Notes, denials and errors too; with -v and without.
KERNEL_TEST(PolicyFiles, AJsonStreamHasNothingButJson) {
  const Workspace workspace;
  const Home home(workspace);
  for (const bool verbose : {false, true})
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--ro", "/nonexistent"},
          std::vector<std::string>{"--timeout", "1s"},
          std::vector<std::string>{"--network", "allowlist"}, std::vector<std::string>{}}) {
      std::vector<std::string> flags{"--log-format", "json"};
      if (verbose) flags.emplace_back("-v");
      flags.insert(flags.end(), words.begin(), words.end());
      const bool late = !words.empty() && words.front() == "--timeout";
      const Ran ran = home.run(
          flags,
          late ? "sleep 60" : "exec 2>/dev/null; mkdir -p .git/hooks; touch .git/config; exit 3");
      std::istringstream lines(ran.err);
      std::size_t count = 0;
      for (std::string line; std::getline(lines, line); ++count)
        EXPECT_TRUE(nlohmann::json::accept(line)) << line;
      EXPECT_TRUE(count > 0 || (!late && !verbose));
    }
}

}  // namespace
}  // namespace coop::tests
