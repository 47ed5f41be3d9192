// What each view starts from.
#include <sys/resource.h>

#include "plan/landlock/rights.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

// A quarter and a half of what anns_machine() has.
const KernelSetting kInstances{"/proc/sys/user/max_inotify_instances", 32};
const KernelSetting kWatches{"/proc/sys/user/max_inotify_watches", 32768};

constexpr MountFlags kDevice{.access = Access::read_write, .exec = false, .devices = true};

RestrictLandlock landlock_of(const Plan& plan) {
  const auto found = all_of<RestrictLandlock>(plan);
  return found.empty() ? RestrictLandlock{} : found.front();
}

// From the end of the mounts to exec: the same in every view.
Actions confinement(const Plan& plan) {
  return {EnterRoot{},
          ResourceLimit{RLIMIT_NPROC, "processes", 4096},
          ResourceLimit{RLIMIT_NOFILE, "open files", 640},
          ResourceLimit{RLIMIT_CORE, "core dump size", 0, LimitKind::soft},
          ResourceLimit{RLIMIT_MSGQUEUE, "bytes in message queues", 4, LimitKind::part},
          ResourceLimit{RLIMIT_SIGPENDING, "pending signals", 4, LimitKind::part},
          ResourceLimit{RLIMIT_RTPRIO, "real-time priority", 0},
          ResourceLimit{RLIMIT_NICE, "raised priority", 0},
          DropCapabilities{},
          NoNewPrivileges{},
          Verify{Verify::What::sealed_root},
          landlock_of(plan),
          RefuseForeignIds{1000, 1000},
          InstallSeccomp{"default"},
          Verify{Verify::What::no_capabilities},
          Verify{Verify::What::no_new_privs},
          Verify{Verify::What::seccomp_filter}};
}

TEST(PlanViewTest, MinimalViewShowsSystemProgramsAndTheWorkspaceOnly) {
  const Plan plan = must_compile(policy_for(View::minimal), anns_machine());
  Actions expected{
      MapIds{1000, 1000, 1000, 1000},
      RaiseLoopback{},
      kInstances,
      kWatches,
      KernelSetting{"/proc/sys/net/unix/max_dgram_qlen", 0x7fffffff, Missing::skip},
      KernelSetting{"/proc/sys/net/ipv4/ip_unprivileged_port_start", 0, Missing::skip},
      SetHostname{"coop-test"},
      RootTmpfs{},
      MakeSymlink{"/bin", "usr/bin"},
      MakeDirectory{"/proc"},
      ProcFilesystem{ProcMount::full},
      MakeDirectory{"/run"},
      tmpfs_at("/run"),
      MakeDirectory{"/tmp"},
      tmpfs_at("/tmp", 01777),
      MakeDirectory{"/usr"},
      BindMount{"/usr", "/usr"},
      MakeDirectory{"/work"},
      BindMount{kProject, "/work", kReadWrite},
      MakeDirectory{"/dev"},
      MakeSymlink{"/dev/fd", "/proc/self/fd"},
      MakeFile{"/dev/null"},
      BindMount{"/dev/null", "/dev/null", kDevice, PathKind::file},
      MakeSymlink{"/dev/ptmx", "pts/ptmx"},
      MakeDirectory{"/dev/pts"},
      DevptsMount{},
      MakeSymlink{"/dev/shm", "/tmp"},
      MakeSymlink{"/dev/stderr", "/proc/self/fd/2"},
      MakeSymlink{"/dev/stdin", "/proc/self/fd/0"},
      MakeSymlink{"/dev/stdout", "/proc/self/fd/1"},
      MakeDirectory{"/etc"},
      MakeFile{"/etc/group", "root:x:0:\nann:x:1000:\nnogroup:x:65534:\n"},
      MakeFile{"/etc/hosts",
               "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 coop-test\n"
               "::1 coop-test\n"},
      MakeSymlink{"/etc/mtab", "/proc/self/mounts"},
      MakeFile{"/etc/nsswitch.conf",
               "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"},
      MakeFile{"/etc/passwd",
               "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/user:/bin/sh\n"
               "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
      MakeFile{"/etc/resolv.conf", "# no network: there is no name server\n"},
      MakeDirectory{"/home"},
      MakeDirectory{"/home/user"},
      tmpfs_at("/home/user", 0700),
      MakeDirectory{"/var"},
      MakeDirectory{"/var/tmp"},
      tmpfs_at("/var/tmp", 01777),
      Seal{"/"},
  };
  for (const Action& action : confinement(plan)) expected.push_back(action);
  EXPECT_TRUE(same(actions_of(plan), expected));
  EXPECT_EQ(plan.namespaces,
            (std::vector<std::string>{"user", "mount", "pid", "ipc", "uts", "net", "cgroup"}));
  EXPECT_EQ(plan.workspace, "/work");
  EXPECT_EQ(plan.directory, "/work");
  EXPECT_EQ(plan.notes, std::vector<std::string>{});
  EXPECT_EQ(plan.group, GroupPlan{});
}

TEST(PlanViewTest, HostViewIsTheHostReadOnlyWithFreshPrivateDirectories) {
  HostFacts host = anns_machine();
  for (const char* path : {"/sys", "/mnt", "/var/tmp"}) add_path(host, path);
  const Plan plan = must_compile(policy_for(View::host), host);
  Actions expected{
      MapIds{1000, 1000, 1000, 1000},
      RaiseLoopback{},
      kInstances,
      kWatches,
      KernelSetting{"/proc/sys/net/unix/max_dgram_qlen", 0x7fffffff, Missing::skip},
      KernelSetting{"/proc/sys/net/ipv4/ip_unprivileged_port_start", 0, Missing::skip},
      SetHostname{"coop-test"},
      RootHost{},
      tmpfs_at("/dev"),
      HideMount{"/mnt"},
      ProcFilesystem{ProcMount::full},
      tmpfs_at("/run"),
      HideMount{"/sys"},
      tmpfs_at("/tmp", 01777),
      MakeSymlink{"/dev/fd", "/proc/self/fd"},
      MakeFile{"/dev/null"},
      BindMount{"/dev/null", "/dev/null", kDevice, PathKind::file},
      MakeSymlink{"/dev/ptmx", "pts/ptmx"},
      MakeDirectory{"/dev/pts"},
      DevptsMount{},
      MakeSymlink{"/dev/shm", "/tmp"},
      MakeSymlink{"/dev/stderr", "/proc/self/fd/2"},
      MakeSymlink{"/dev/stdin", "/proc/self/fd/0"},
      MakeSymlink{"/dev/stdout", "/proc/self/fd/1"},
      tmpfs_at("/home/ann", 0700),
      tmpfs_at("/var/tmp", 01777),
      MakeFile{.target = "/home/ann/.profile",
               .contents = "# Made by coop: /etc/profile has set PATH to that of the system.\n"
                           "PATH=${COOP_PATH:-$PATH}\n",
               .mode = 0644},
      MakeDirectory{kProject},
      BindMount{kProject, kProject, kReadWrite},
      Seal{"/dev"},
  };
  for (const Action& action : confinement(plan)) expected.push_back(action);
  EXPECT_TRUE(same(actions_of(plan), expected));
  EXPECT_EQ(plan.workspace, kProject);
}

TEST(PlanViewTest, AMissingSystemPathIsLeftOut) {
  HostFacts host = anns_machine();
  const Plan without = must_compile(policy_for(View::minimal), host);
  EXPECT_TRUE(same(about(without, "/lib64"), {}));
  add_link(host, "/lib64", "usr/lib64", "/usr/lib64");
  const Plan with_link = must_compile(policy_for(View::minimal), host);
  EXPECT_TRUE(same(about(with_link, "/lib64"), {MakeSymlink{"/lib64", "usr/lib64"}}));
  add_path(host, "/lib64");  // not merged with /usr
  const Plan with_directory = must_compile(policy_for(View::minimal), host);
  EXPECT_TRUE(same(about(with_directory, "/lib64"),
                   {MakeDirectory{"/lib64"}, BindMount{"/lib64", "/lib64"}}));
}

TEST(PlanViewTest, IdentityNetworkClockAndHostnameAreAsAsked) {
  Policy policy = policy_for(View::minimal);
  policy.identity = Identity::root;
  policy.network = NetworkMode::host;
  policy.time_offset = -3600;
  policy.hostname = "box";
  policy.directory = "/work/src";
  policy.debugging = Debugging::denied;
  const Plan plan = must_compile(policy, anns_machine());
  const Actions actions = actions_of(plan);
  const Actions first(actions.begin(), actions.begin() + 6);
  EXPECT_TRUE(same(first, {MapIds{1000, 1000, 0, 0}, OffsetClocks{-3600}, kInstances, kWatches,
                           SetHostname{"box"}, RootTmpfs{}}));
  EXPECT_EQ(plan.namespaces,
            (std::vector<std::string>{"user", "mount", "pid", "ipc", "uts", "cgroup", "time"}));
  EXPECT_EQ(plan.directory, "/work/src");
  EXPECT_EQ(all_of<InstallSeccomp>(plan), std::vector{InstallSeccomp{"no-debug"}});
  ASSERT_EQ(plan.notes.size(), 1u);  // the dangerous grant shows
  EXPECT_TRUE(plan.notes[0].starts_with("unsafe.host_network: "));
}

TEST(PlanViewTest, RootOutsideGetsKernelSettingsReadOnlyAndNoKernelMemory) {
  HostFacts host = anns_machine();
  host.uid = host.gid = 0;
  add_path(host, "/proc/slabinfo", PathKind::file);
  const Actions expected{MakeDirectory{"/proc"}, HideMount{"/proc/slabinfo", PathKind::file}};
  const Plan plan = must_compile(policy_for(View::minimal), host);
  EXPECT_TRUE(same(about(plan, "/proc"), expected));
  EXPECT_EQ(all_of<ProcFilesystem>(plan),
            std::vector{(ProcFilesystem{.machine = Access::read_only})});
  host.proc = ProcMount::pid_subset;  // has none of them
  EXPECT_EQ(all_of<ProcFilesystem>(must_compile(policy_for(View::minimal), host)),
            std::vector{(ProcFilesystem{.kind = ProcMount::pid_subset})});
  host.uid = 1000;
  host.proc = ProcMount::full;
  const Plan of_a_user = must_compile(policy_for(View::minimal), host);
  EXPECT_TRUE(same(about(of_a_user, "/proc"), {MakeDirectory{"/proc"}}));
  EXPECT_EQ(all_of<ProcFilesystem>(of_a_user), std::vector{ProcFilesystem{}});
}

TEST(PlanViewTest, ARefusedProcIsAnErrorUnlessBestEffort) {
  HostFacts host = anns_machine();
  host.proc = ProcMount::refused;
  host.nested_in = "docker";
  Policy policy = policy_for(View::host);
  const Error error = must_fail(policy, host);
  EXPECT_EQ(error.kind, Error::Kind::unsupported);
  EXPECT_NE(to_text(error).find("nested in docker"), std::string::npos) << to_text(error);
  EXPECT_NE(error.hint.find("--best-effort proc"), std::string::npos) << error.hint;

  policy.needs[Mechanism::proc] = Need::best_effort;
  const Plan plan = must_compile(policy, host);
  EXPECT_TRUE(same(about(plan, "/proc"), {HideMount{"/proc"}}));  // never the outer one
  EXPECT_EQ(all_of<ProcFilesystem>(plan), std::vector<ProcFilesystem>{});
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_TRUE(plan.notes[0].starts_with("proc: not mounted, ")) << plan.notes[0];
}

TEST(PlanViewTest, ARefusedProcNamesTheFlagOfTheContainer) {
  HostFacts host = anns_machine();
  host.proc = ProcMount::refused;
  host.proc_refusal = {.reason = "parts of /proc are covered", .fix = "podman run --flag"};
  const Error error = must_fail(policy_for(View::minimal), host);
  EXPECT_NE(to_text(error).find("parts of /proc are covered"), std::string::npos) << to_text(error);
  EXPECT_EQ(error.hint, "podman run --flag; or go without /proc: --best-effort proc");
}

TEST(PlanViewTest, ARefusedHostNameIsANoteUnlessOneWasAskedFor) {
  HostFacts host = anns_machine();
  host.node_name = "outer";
  host.hostname = {.reason = "a filter blocks sethostname", .fix = "podman run --flag"};
  Policy policy = policy_for(View::minimal);
  const Plan plan = must_compile(policy, host);
  EXPECT_EQ(all_of<SetHostname>(plan), std::vector<SetHostname>{});
  EXPECT_EQ(plan.notes, std::vector<std::string>{"the host name inside is \"outer\", as outside: "
                                                 "a filter blocks sethostname"});
  policy.hostname = "box";
  const Error error = must_fail(policy, host);
  EXPECT_EQ(error.kind, Error::Kind::unsupported);
  EXPECT_NE(to_text(error).find("a filter blocks sethostname"), std::string::npos)
      << to_text(error);
  EXPECT_EQ(error.hint, "podman run --flag");
}

TEST(PlanViewTest, WhatTheMachineLacksIsAnErrorWithAName) {
  const Policy policy = policy_for(View::minimal);
  for (const char* name : {"user", "mount", "pid", "ipc", "uts", "net"}) {
    HostFacts host = anns_machine();
    host.namespaces[name] = Feature{.reason = "switched off", .fix = "switch it on"};
    const Error error = must_fail(policy, host);
    EXPECT_EQ(error.kind, Error::Kind::unsupported) << name;
    const std::string word = std::string(name) == "net" ? "network" : name;
    EXPECT_NE(to_text(error).find(word), std::string::npos) << to_text(error);
  }
  HostFacts old = anns_machine();
  old.kernel = {5, 10};
  old.kernel_release = "5.10.0";
  EXPECT_NE(to_text(must_fail(policy, old)).find("older than 5.13"), std::string::npos);

  HostFacts timeless = anns_machine();
  timeless.namespaces.erase("time");
  must_compile(policy, timeless);
  Policy shifted = policy;
  shifted.time_offset = 1;
  EXPECT_EQ(must_fail(shifted, timeless).operation, "plan --time-offset");
}

TEST(PlanViewTest, AWorkspaceMustBeADirectoryAndNotTheWholeMachine) {
  HostFacts host = anns_machine();
  Policy policy = policy_for(View::host);
  policy.workspace = "/nowhere";
  EXPECT_EQ(to_text(must_fail(policy, host)), "--workspace: \"/nowhere\" is not a directory");
  policy.workspace = "/";
  add_path(host, "/");
  EXPECT_EQ(to_text(must_fail(policy, host)), "--workspace: \"/\" is the whole machine");
  add_path(host, "/file", PathKind::file);
  policy.workspace = "/file";
  EXPECT_EQ(to_text(must_fail(policy, host)), "--workspace: \"/file\" is not a directory");
}

}  // namespace
}  // namespace coop::plan
