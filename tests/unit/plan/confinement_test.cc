// Landlock by ABI, limits by what the machine offers, and the environment.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <linux/landlock.h>

#include "abi/landlock.h"
#include "plan/environment.h"
#include "plan/landlock/rights.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kAbi1 = (1ULL << 13) - 1;
constexpr std::uint64_t kMakeDevices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

std::uint64_t all_rights(int abi) {
  std::uint64_t rights = kAbi1;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= abi::kLandlockTruncate;
  if (abi >= 5) rights |= abi::kLandlockIoctlDev;
  return rights;
}

// mq_open() opens a file in a mount that no path leads to; the rule is about the same directory.
TEST(PlanLandlockTest, MessageQueuesHaveARuleOfTheirOwn) {
  HostFacts host = anns_machine();
  add_path(host, "/proc/sys/fs/mqueue");
  const Plan plan = must_compile(policy_for(View::minimal), host);
  EXPECT_EQ(all_of<MqueueMount>(plan).size(), 1U);
  const std::vector<LandlockRule> rules = all_of<RestrictLandlock>(plan).front().rules;
  const LandlockRule expected{"/dev/mqueue",
                              LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                  LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                  LANDLOCK_ACCESS_FS_MAKE_REG};
  EXPECT_NE(std::ranges::find(rules, expected), rules.end());
}

TEST(PlanLandlockTest, RightsAreThoseOfTheKernelsAbi) {
  for (int abi = 2; abi <= 8; ++abi) {
    HostFacts host = anns_machine();
    host.landlock_abi = abi;
    const Plan plan = must_compile(policy_for(View::minimal), host);
    const std::uint64_t write = all_rights(abi) & ~kMakeDevices;
    const std::uint64_t use =
        all_rights(abi) & (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                           LANDLOCK_ACCESS_FS_WRITE_FILE | abi::kLandlockTruncate);
    const std::uint64_t device = use | (all_rights(abi) & abi::kLandlockIoctlDev);
    const RestrictLandlock expected{
        .abi = std::min(abi, 7),
        .handled = all_rights(abi),
        .scoped = abi >= 6 ? abi::kLandlockScopeAbstractUnixSocket | abi::kLandlockScopeSignal : 0,
        .rules = {{"/", kRead},
                  {"/dev", device},
                  {"/home/user", write},
                  {"/proc", use},
                  {"/run", write},
                  {"/tmp", write},
                  {"/var/tmp", write},
                  {"/work", write}}};
    EXPECT_EQ(all_of<RestrictLandlock>(plan), std::vector{expected}) << "ABI " << abi;
    EXPECT_EQ(plan.notes, std::vector<std::string>{}) << "ABI " << abi;
  }
}

TEST(PlanLandlockTest, WithoutAUsefulAbiItIsANoteOrAnError) {
  for (int abi = 0; abi <= 1; ++abi) {
    HostFacts host = anns_machine();
    host.landlock_abi = abi;
    Policy policy = policy_for(View::minimal);
    const Plan plan = must_compile(policy, host);
    EXPECT_TRUE(all_of<RestrictLandlock>(plan).empty());
    EXPECT_THAT(plan.notes, ElementsAre(testing::StartsWith("landlock: not applied, ")));
    policy.needs[Mechanism::landlock] = Need::required;
    EXPECT_EQ(must_fail(policy, host).kind, Error::Kind::unsupported) << "ABI " << abi;
  }
}

TEST(PlanLandlockTest, OnlyWritableGrantsAreWritable) {
  HostFacts host = anns_machine();
  for (const char* path : {"/opt/sdk", "/srv/data", "/srv/layer"}) add_path(host, path);
  add_path(host, "/etc/motd", PathKind::file);
  Policy policy = policy_for(View::minimal);
  policy.rules = {rule(RuleKind::read_only, "/opt/sdk"), rule(RuleKind::read_write, "/srv/data"),
                  rule(RuleKind::overlay, "/srv/layer"), rule(RuleKind::read_write, "/etc/motd")};
  const auto found = all_of<RestrictLandlock>(must_compile(policy, host));
  ASSERT_EQ(found.size(), 1u);
  std::map<Path, std::uint64_t> rights;
  for (const LandlockRule& allowed : found[0].rules) rights[allowed.path] = allowed.rights;
  const std::uint64_t write = all_rights(7) & ~kMakeDevices;
  EXPECT_FALSE(rights.contains("/opt/sdk"));
  EXPECT_EQ(rights["/srv/data"], write);
  EXPECT_EQ(rights["/srv/layer"], write);
  // The kernel refuses rights of directories on a file.
  EXPECT_EQ(rights["/etc/motd"], LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                     LANDLOCK_ACCESS_FS_WRITE_FILE | abi::kLandlockTruncate |
                                     abi::kLandlockIoctlDev);
}

TEST(PlanLandlockTest, RightsHaveNames) {
  EXPECT_EQ(landlock::names_of(kRead), "execute read_file read_dir");
  EXPECT_EQ(landlock::names_of(0), "");
}

Policy limited() {
  Policy policy = policy_for(View::minimal);
  policy.limits.memory = std::uint64_t{1} << 30;
  policy.limits.pids = 64;
  policy.limits.milli_cpus = 1500;
  return policy;
}

std::vector<ResourceLimit> resources(const Plan& plan) { return all_of<ResourceLimit>(plan); }
const ResourceLimit kFiles{RLIMIT_NOFILE, "open files", 640};
const ResourceLimit kNoCore{RLIMIT_CORE, "core dump size", 0, LimitKind::soft};
const ResourceLimit kSignals{RLIMIT_SIGPENDING, "pending signals", 4, LimitKind::part};
const ResourceLimit kRealTime{RLIMIT_RTPRIO, "real-time priority", 0};
const ResourceLimit kPriority{RLIMIT_NICE, "raised priority", 0};
const ResourceLimit kQueues{RLIMIT_MSGQUEUE, "bytes in message queues", 4, LimitKind::part};

TEST(PlanLimitsTest, OnVersion2OneGroupHasAllLimits) {
  HostFacts host = anns_machine();
  host.cgroup = {.kind = CgroupKind::v2,
                 .directories = {{"memory", "/cg"}, {"pids", "/cg"}, {"cpu", "/cg"}}};
  const Plan plan = must_compile(limited(), host);
  const GroupPlan expected{.kind = CgroupKind::v2,
                           .name = "coop-test",
                           .limits = {{"memory", "/cg", "memory.max", "1073741824"},
                                      {"memory", "/cg", "memory.swap.max?", "0"},
                                      {"pids", "/cg", "pids.max", "64"},
                                      {"cpu", "/cg", "cpu.max", "150000 100000"}}};
  EXPECT_EQ(plan.group, expected);
  EXPECT_EQ(plan.notes, std::vector<std::string>{});
  EXPECT_EQ(resources(plan), (std::vector{ResourceLimit{RLIMIT_NPROC, "processes", 64}, kFiles,
                                          kNoCore, kQueues, kSignals, kRealTime, kPriority}));
}

TEST(PlanLimitsTest, OnVersion1EachControllerHasItsOwnDirectory) {
  HostFacts host = anns_machine();
  host.uid = 0;  // setrlimit's process count does not hold for root
  host.cgroup = {
      .kind = CgroupKind::v1,
      .directories = {{"memory", "/cg/memory"}, {"pids", "/cg/pids"}, {"cpu", "/cg/cpu"}}};
  const Plan plan = must_compile(limited(), host);
  const GroupPlan expected{
      .kind = CgroupKind::v1,
      .name = "coop-test",
      .limits = {{"memory", "/cg/memory", "memory.limit_in_bytes", "1073741824"},
                 {"memory", "/cg/memory", "memory.memsw.limit_in_bytes?", "1073741824"},
                 {"memory", "/cg/memory", "memory.kmem.tcp.limit_in_bytes?", "1073741824"},
                 {"pids", "/cg/pids", "pids.max", "64"},
                 {"cpu", "/cg/cpu", "cpu.cfs_quota_us", "150000"}}};
  EXPECT_EQ(plan.group, expected);
  EXPECT_EQ(resources(plan),
            (std::vector{kFiles, kNoCore, kQueues, kSignals, kRealTime, kPriority}));
}

TEST(PlanLimitsTest, WithoutGroupsWhatIsWeakerIsNoted) {
  HostFacts host = anns_machine();
  host.cgroup.reason = "no delegation";
  const Plan plan = must_compile(limited(), host);
  EXPECT_EQ(plan.group, GroupPlan{.sampled_memory = std::uint64_t{1} << 30});
  EXPECT_EQ(resources(plan),
            (std::vector{ResourceLimit{RLIMIT_DATA, "data of one process", 1 << 30},
                         ResourceLimit{RLIMIT_NPROC, "processes", 64}, kFiles, kNoCore, kQueues,
                         kSignals, kRealTime, kPriority}));
  EXPECT_THAT(plan.notes,
              ElementsAre(HasSubstr("limits: the memory limit is applied to each process"),
                          HasSubstr("limits: the CPU limit is not applied; no delegation")));

  host.uid = 0;
  EXPECT_THAT(
      must_compile(limited(), host).notes,
      ElementsAre(HasSubstr("the memory limit"), HasSubstr("the process limit is not applied"),
                  HasSubstr("the CPU limit")));
}

TEST(PlanLimitsTest, RequiredLimitsWithoutGroupsAreAnError) {
  HostFacts host = anns_machine();
  Policy policy = limited();
  policy.needs[Mechanism::limits] = Need::required;
  const Error error = must_fail(policy, host);
  EXPECT_EQ(error.kind, Error::Kind::unsupported);
  EXPECT_THAT(to_text(error), HasSubstr("the memory limit needs a control group"));
  policy.limits.memory.reset();
  policy.limits.milli_cpus.reset();
  EXPECT_EQ(must_compile(policy, host).notes,
            std::vector<std::string>{});  // setrlimit really enforces this one
  host.uid = 0;
  EXPECT_THAT(to_text(must_fail(policy, host)),
              HasSubstr("the process limit needs a control group"));
}

TEST(PlanLimitsTest, WhatTheUserSharesIsBoundedUnlessSettingsAreReadOnly) {
  HostFacts host = anns_machine();
  host.inotify_instances = 3;
  host.inotify_watches = 0;  // not known
  Policy policy = policy_for(View::minimal);
  policy.network = NetworkMode::host;
  EXPECT_EQ(all_of<KernelSetting>(must_compile(policy, host)),
            (std::vector{KernelSetting{"/proc/sys/user/max_inotify_instances", 1}}));
  host.settings_read_only = true;
  const Plan plan = must_compile(policy_for(View::minimal), host);
  EXPECT_EQ(all_of<KernelSetting>(plan), std::vector<KernelSetting>{});
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("/proc/sys is read-only here")));
}

TEST(PlanLimitsTest, WithoutListsOfChildrenMemoryIsNotSampled) {
  HostFacts host = anns_machine();
  host.lists_children = false;
  const Plan plan = must_compile(limited(), host);
  EXPECT_EQ(plan.group, GroupPlan{});
  EXPECT_THAT(plan.notes[0], HasSubstr("is applied to each process, not to the sandbox"));
}

TEST(PlanLimitsTest, TheDefaultsNeedNoGroup) {
  HostFacts host = anns_machine();
  host.cgroup = {.kind = CgroupKind::v2, .directories = {{"pids", "/cg"}}};
  EXPECT_EQ(must_compile(policy_for(View::minimal), host).group, GroupPlan{});
  Policy policy = policy_for(View::minimal);
  policy.limits = {.pids = std::nullopt, .open_files = 100, .file_size = 5000};
  EXPECT_EQ(resources(must_compile(policy, host)),
            (std::vector{ResourceLimit{RLIMIT_NOFILE, "open files", 100},
                         ResourceLimit{RLIMIT_FSIZE, "file size", 5000}, kNoCore, kQueues, kSignals,
                         kRealTime, kPriority}));
}

using Environment = std::map<std::string, std::string>;

HostFacts talkative() {
  HostFacts host = anns_machine();
  host.environment = {{"PATH", "/home/ann/bin:/usr/bin"},
                      {"HOME", "/home/ann"},
                      {"SHELL", "/bin/zsh"},
                      {"TERM", "xterm-256color"},
                      {"LANG", "C.UTF-8"},
                      {"LC_TIME", "C"},
                      {"TZ", "UTC"},
                      {"AWS_SECRET_ACCESS_KEY", "s3cret"},
                      {"GITHUB_TOKEN", "s3cret"},
                      {"ANTHROPIC_API_KEY", "s3cret"},
                      {"SSH_AUTH_SOCK", "/s3cret"},
                      {"LD_PRELOAD", "/s3cret"},
                      {"DBUS_SESSION_BUS_ADDRESS", "s3cret"},
                      {"HTTPS_PROXY", "http://u:s3cret@p"},
                      {"BASH_ENV", "s3cret"},
                      {"MYSQL_PWD", "s3cret"}};
  return host;
}

TEST(PlanEnvironmentTest, MinimalViewHasOnlyTheAllowedAndItsOwn) {
  const Environment expected{
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
      {"HOME", "/home/user"},
      {"USER", "ann"},
      {"LOGNAME", "ann"},
      {"SHELL", "/bin/sh"},
      {"TERM", "xterm-256color"},
      {"LANG", "C.UTF-8"},
      {"LC_TIME", "C"},
      {"TZ", "UTC"},
      {"COOP_SESSION", "test"},
      {"COOP_WORKSPACE", "/work"}};
  EXPECT_EQ(environment_for(policy_for(View::minimal), talkative()), expected);
}

TEST(PlanEnvironmentTest, HostViewKeepsPathHomeAndShell) {
  const Environment found = environment_for(policy_for(View::host), talkative());
  EXPECT_EQ(found.at("PATH"), "/home/ann/bin:/usr/bin");
  EXPECT_EQ(found.at("HOME"), "/home/ann");
  EXPECT_EQ(found.at("SHELL"), "/bin/zsh");
  for (const auto& [name, value] : found)
    EXPECT_EQ(value.find("s3cret"), std::string::npos) << name;
}

TEST(PlanEnvironmentTest, WhatIsPassedAndSetWinsInThatOrder) {
  Policy policy = policy_for(View::minimal);
  policy.pass_environment = {"GITHUB_TOKEN", "PATH", "NOT_SET"};
  policy.set_environment = {{"PATH", "/opt/bin"}, {"HOME", "/tmp"}, {"EMPTY", ""}};
  policy.identity = Identity::root;
  const Environment found = environment_for(policy, talkative());
  EXPECT_EQ(found.at("GITHUB_TOKEN"), "s3cret");  // asked for by name
  EXPECT_EQ(found.at("PATH"), "/opt/bin");
  EXPECT_EQ(found.at("HOME"), "/tmp");
  EXPECT_EQ(found.at("EMPTY"), "");
  EXPECT_EQ(found.at("USER"), "root");
  EXPECT_FALSE(found.contains("NOT_SET"));
}

}  // namespace
}  // namespace coop::plan
