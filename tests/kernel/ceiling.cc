// The organisation's policy bounds the library's calls: each test shows the call without the file first.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "coop/request.h"
#include "coop/sandbox.h"
#include "kernel/support.h"

namespace coop::tests {
namespace {

using std::chrono::milliseconds;

constexpr int kRefused = 3;

// Runs `test` in a process of its own with `policy` as /etc/coop/policy.toml, owned by root of its namespace. What
// it returns is the exit code; -1 when the namespaces could not be made.
int with_ceiling(const Workspace& workspace, const std::string& policy,
                 const std::function<int()>& test) {
  const std::string layer = workspace.around() / "etc";
  make_directories(layer + "/coop");
  ::chmod((layer + "/coop").c_str(), 0755);
  write_file(layer + "/coop/policy.toml", policy);
  ::chmod((layer + "/coop/policy.toml").c_str(), 0644);
  const std::string uid = "0 " + std::to_string(::getuid()) + " 1";
  const std::string gid = "0 " + std::to_string(::getgid()) + " 1";
  const std::string options = "lowerdir=" + layer + ":/etc";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(255);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/gid_map", gid);
    write_file("/proc/self/uid_map", uid);
    if (::mount("overlay", "/etc", "overlay", 0, options.c_str()) != 0) ::_exit(255);
    ::_exit(test());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

// 0: it ran; kRefused: it was refused by the organisation's file, and the error says so.
int outcome_of(const Result<ExecOutput>& done) {
  if (done) return done->exit_code;
  std::fprintf(stderr, "%s\n", to_text(done.error()).c_str());
  return (to_text(done.error()) + done.error().hint).contains("/etc/coop/policy.toml") ? kRefused
                                                                                       : 100;
}

constexpr const char* kPolicy =
    "[sandbox]\nnetwork = \"none\"\nmemory = \"256m\"\ntimeout = \"2s\"\nwritable_paths = "
    "[\"/srv\"]\n"
    "best_effort = [\"limits\"]\n";

Policy with_rule(const Workspace& workspace, RuleKind kind, const std::string& path) {
  Policy policy{.workspace = workspace.path()};
  policy.rules.push_back({.kind = kind, .path = path});
  return policy;
}

KERNEL_TEST(Ceiling, ExecWithAPolicyOfTheProgramsOwnIsBounded) {
  const Workspace workspace;
  const std::string outside = workspace.around() / "outside";
  make_directories(outside);
  Policy networked{.workspace = workspace.path()};
  networked.network = NetworkMode::full;
  const Policy writing = with_rule(workspace, RuleKind::read_write, outside);
  Policy forged = writing;  // whatever a program claims about its rules
  forged.rules.front().origin = Origin::of_coop();
  forged.rules.front().precedence = Precedence::final;
  forged.bounds.writable = {"/"};
  const std::string write = "echo x > " + outside + "/file";
  EXPECT_EQ(outcome_of(exec(writing, write)), 0);  // control
  const auto in_ceiling = [&](const Policy& policy, const std::string& script) {
    return with_ceiling(workspace, kPolicy, [&] { return outcome_of(exec(policy, script)); });
  };
  EXPECT_EQ(in_ceiling(Policy{.workspace = workspace.path()}, "true"), 0);  // control
  EXPECT_EQ(in_ceiling(writing, write), kRefused);
  EXPECT_EQ(in_ceiling(forged, write), kRefused);
  EXPECT_EQ(in_ceiling(networked, "true"), kRefused);
}

// A sandbox that was prepared before the file changed.
KERNEL_TEST(Ceiling, AChangedFileBindsASandboxThatWaits) {
  const Workspace workspace;
  const std::string stricter = workspace.around() / "stricter.toml";
  write_file(stricter, std::string(kPolicy) + "hostname = \"\"\n");
  ::chmod(stricter.c_str(), 0644);
  Policy policy{.workspace = workspace.path()};
  policy.hostname = "box";
  const auto run = [&](const std::function<bool()>& change) {
    return with_ceiling(workspace, kPolicy, [&] {
      Result<Pool> pool = Pool::create(policy, 1);
      if (!pool || !eventually([&] { return pool->ready() == 1; }) || !change()) return 101;
      return outcome_of(pool->exec({.arguments = shell("true")}));
    });
  };
  EXPECT_EQ(run([] { return true; }), 0);  // control
  EXPECT_EQ(run([&] {
              return ::mount(stricter.c_str(), "/etc/coop/policy.toml", nullptr, MS_BIND,
                             nullptr) == 0;
            }),
            kRefused);
}

// Each policy works without the organisation's line, and not with it.
KERNEL_TEST(Ceiling, WhatOnlyFlagsCouldSetIsBoundedToo) {
  const Workspace workspace;
  const std::string place = workspace.around() / "place";
  make_directories(place + "/empty");
  make_directories(workspace.around() / "elsewhere");
  make_symlink(workspace.around() / "elsewhere", place + "/link");
  const Policy plain{.workspace = workspace.path()};
  const auto changed = [&](const auto& change) {
    Policy policy = plain;
    change(policy);
    return policy;
  };
  struct Row {
    Policy policy;
    std::string ceiling;
  };
  const std::vector<Row> rows{
      {plain, "workspaces = [\"/srv\"]"},
      {changed([](Policy& policy) { policy.allow_guarded = {".envrc"}; }), "allow_guarded = []"},
      {changed([](Policy& policy) { policy.identity = Identity::root; }), "as_root = false"},
      {changed([](Policy& policy) { policy.hostname = "box"; }), "hostname = \"\""},
      {changed([](Policy& policy) { policy.mptcp = Mptcp::allowed; }),
       "network = { mptcp = false }"},
      {changed([](Policy& policy) {
         policy.publish = {{.address = "127.0.0.1", .host = 48121, .sandbox = 80}};
       }),
       "network = \"none\""},
      {changed([](Policy& policy) { policy.limits.open_files = 100; }), "open_files = 99"},
      {changed([](Policy& policy) { policy.limits.file_size = 10000; }), "file_size = 9999"},
      {changed([](Policy& policy) { policy.set_environment["COLOUR"] = "red"; }),
       "env = { names = [\"CI_*\"] }"},
      {with_rule(workspace, RuleKind::tmpfs, place + "/empty"), "tmpfs_paths = []"},
      {with_rule(workspace, RuleKind::tmpfs, place + "/link"), "tmpfs_paths = [\"" + place + "\"]"},
  };
  for (const auto& [policy, ceiling] : rows) {
    EXPECT_EQ(outcome_of(exec(policy, "true")), 0) << ceiling;  // control
    EXPECT_EQ(with_ceiling(workspace, "[sandbox]\n" + ceiling + "\n",
                           [&] { return outcome_of(exec(policy, "true")); }),
              kRefused)
        << ceiling;
  }
  // A variable of one command.
  const auto with_variable = [&] {
    return outcome_of(
        exec(plain, Command{.arguments = {"true"}, .environment = {{"COLOUR", "red"}}}));
  };
  EXPECT_EQ(with_variable(), 0);  // control
  EXPECT_EQ(with_ceiling(workspace, "[sandbox]\nenv = { names = [\"CI_*\"] }\n", with_variable),
            kRefused);
}

KERNEL_TEST(Ceiling, WhatAProgramLeavesOpenIsAsTheOrganisationSays) {
  const Workspace workspace;
  const Policy plain{.workspace = workspace.path()};
  EXPECT_EQ(exec(plain, "sleep 3", milliseconds(10000))->outcome, Outcome::exited);  // control
  const int outcome = with_ceiling(workspace, kPolicy, [&] {
    const Result<ExecOutput> done = exec(plain, "sleep 20");
    return done && done->outcome == Outcome::timed_out ? 0 : 1;
  });
  EXPECT_EQ(outcome, 0);
  write_file(workspace / "secret", "key");
  const std::string read = "grep -q key secret";
  EXPECT_EQ(outcome_of(exec(plain, read)), 0);  // control
  EXPECT_EQ(
      with_ceiling(workspace, "[sandbox]\nhidden_paths = [\"" + (workspace / "secret") + "\"]\n",
                   [&] { return outcome_of(exec(plain, read)) == 0 ? 0 : 1; }),
      1);
}

KERNEL_TEST(Ceiling, SpawnAndPoolAreBounded) {
  const Workspace workspace;
  const std::string outside = workspace.around() / "outside";
  make_directories(outside);
  const Policy writing = with_rule(workspace, RuleKind::read_write, outside);
  const Command command{.arguments = {"touch", outside + "/file"}};
  const auto spawned = [&]() -> Result<ExecOutput> {
    Result<Sandbox> sandbox = spawn(writing, command, {});
    if (!sandbox) return std::unexpected(sandbox.error());
    return sandbox->wait();
  };
  const auto pooled = [&]() -> Result<ExecOutput> {
    Result<Pool> pool = Pool::create(writing, 1);
    if (!pool) return std::unexpected(pool.error());
    return pool->exec(command);
  };
  EXPECT_EQ(outcome_of(spawned()), 0);  // control
  EXPECT_EQ(outcome_of(pooled()), 0);   // control
  EXPECT_EQ(with_ceiling(workspace, kPolicy, [&] { return outcome_of(spawned()); }), kRefused);
  EXPECT_EQ(with_ceiling(workspace, kPolicy, [&] { return outcome_of(pooled()); }), kRefused);
}

// The call asks for 20 s and the organisation allows 2: 0 if it was killed in between.
int timed_out_of(const Result<ExecOutput>& done) {
  if (!done) return outcome_of(done);
  return done->outcome == Outcome::timed_out && done->usage.wall < milliseconds(10000) ? 0 : 1;
}

KERNEL_TEST(Ceiling, TheTimeoutOfACallIsBounded) {
  const Workspace workspace;
  const Policy plain{.workspace = workspace.path()};
  const Command sleeping{.arguments = {"sleep", "4"}};
  const milliseconds asked(20000);
  const auto executed = [&] { return exec(plain, sleeping, asked); };
  const auto spawned = [&](milliseconds late) -> Result<ExecOutput> {
    Result<Sandbox> sandbox = spawn(plain, sleeping, {});
    if (!sandbox) return std::unexpected(sandbox.error());
    std::this_thread::sleep_for(late);
    return sandbox->wait(asked);
  };
  const auto pooled = [&]() -> Result<ExecOutput> {
    Result<Pool> pool = Pool::create(plain, 1);
    if (!pool) return std::unexpected(pool.error());
    return pool->exec(sleeping, asked);
  };
  const auto in_ceiling = [&](const std::function<Result<ExecOutput>()>& call) {
    return with_ceiling(workspace, kPolicy, [&] { return timed_out_of(call()); });
  };
  EXPECT_EQ(timed_out_of(executed()), 1);  // control
  EXPECT_EQ(timed_out_of(pooled()), 1);    // control
  EXPECT_EQ(in_ceiling(executed), 0);
  EXPECT_EQ(in_ceiling(pooled), 0);
  EXPECT_EQ(in_ceiling([&] { return spawned(milliseconds(0)); }), 0);
  // It counts from the start, also while no one waits.
  EXPECT_EQ(in_ceiling([&] { return spawned(milliseconds(5000)); }), 0);
}

KERNEL_TEST(Ceiling, TheVariablesOfACommandAreBounded) {
  const Workspace workspace;
  const Policy plain{.workspace = workspace.path()};
  Policy unsafe = plain;
  unsafe.unsafe_environment = {"PYTHONPATH"};
  const auto with = [](const std::string& name, const std::string& value) {
    return Command{.arguments = {"/bin/true"}, .environment = {{name, value}}};
  };
  const auto pooled = [&](const Command& command) -> Result<ExecOutput> {
    Result<Pool> pool = Pool::create(plain, 1);
    if (!pool) return std::unexpected(pool.error());
    return pool->exec(command);
  };
  const auto in_ceiling = [&](const std::string& lines, const std::function<int()>& test) {
    return with_ceiling(workspace, "[sandbox.env]\n" + lines, test);
  };
  const auto exec_bounded = [&](const std::string& name, const std::string& value) {
    return in_ceiling("set = { LANG = \"C\" }\n",
                      [&] { return outcome_of(exec(plain, with(name, value))); });
  };
  EXPECT_EQ(outcome_of(exec(plain, with("PATH", "/work"))), 0);         // control
  EXPECT_EQ(outcome_of(exec(plain, with("LANG", "de"))), 0);            // control
  EXPECT_EQ(outcome_of(exec(unsafe, with("PYTHONPATH", "/work"))), 0);  // control
  EXPECT_EQ(exec_bounded("PATH", "/work"), kRefused);
  EXPECT_EQ(exec_bounded("LANG", "de"), kRefused);
  EXPECT_EQ(exec_bounded("LANG", "C"), 0);
  EXPECT_EQ(exec_bounded("ORDINARY", "1"), 0);
  EXPECT_EQ(in_ceiling("set = {}\n", [&] { return outcome_of(pooled(with("PATH", "/work"))); }),
            kRefused);
  EXPECT_EQ(in_ceiling("unsafe = []\n",
                       [&] { return outcome_of(exec(unsafe, with("PYTHONPATH", "/work"))); }),
            kRefused);
  // Without a grant of the policy's own it is the error of every policy.
  const Result<ExecOutput> refused = exec(plain, with("LD_PRELOAD", "/work/x.so"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(to_text(refused.error()).contains("LD_PRELOAD injects code"));
}

KERNEL_TEST(Ceiling, LoadPolicyMergesTheFilesAndIsCutBack) {
  const Workspace workspace;
  const std::string outside = workspace.around() / "outside";
  make_directories(outside);
  const PolicyRequest request{.workspace = workspace.path(),
                              .settings = "{\"writable_paths\": [\"" + outside + "\"]}"};
  const auto write = [&](bool changed) -> Result<ExecOutput> {
    Result<Policy> policy = load_policy(request);
    if (!policy) return std::unexpected(policy.error());
    if (changed) policy->rules.push_back({.kind = RuleKind::read_write, .path = outside});
    return exec(*policy, "echo x > " + outside + "/file");
  };
  EXPECT_EQ(outcome_of(write(false)), 0);  // control
  // What is beyond is left out, and said; it does not come back by changing the policy afterwards.
  EXPECT_EQ(with_ceiling(workspace, kPolicy,
                         [&] {
                           const Result<Policy> policy = load_policy(request);
                           const bool noted = policy && policy->notes.size() == 1 &&
                                              policy->notes.front().contains("writable_paths");
                           const int code = outcome_of(write(false));
                           return !noted ? 50 : code == 0 ? 51 : 0;
                         }),
            0);
  EXPECT_EQ(with_ceiling(workspace, kPolicy, [&] { return outcome_of(write(true)); }), kRefused);
  EXPECT_FALSE(load_policy({.settings = "{\"memroy\": \"2g\"}"}).has_value());
}

}  // namespace
}  // namespace coop::tests
