#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "host/accounts.h"
#include "host/machine/cgroups.h"
#include "host/machine/kernel_features.h"
#include "host/probe.h"
#include "host/text.h"

namespace coop::host {
namespace {

namespace fs = std::filesystem;

// A directory of its own under a canonical name, gone at the end.
class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "coop-host-XXXXXX").string();
    path_ = fs::canonical(::mkdtemp(name.data())).string();
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  Path operator/(const std::string& name) const { return path_ + "/" + name; }
  const Path& path() const { return path_; }
  void file(const std::string& name, std::string_view text = "") const {
    fs::create_directories(fs::path(*this / name).parent_path());
    std::ofstream(*this / name) << text;
  }

 private:
  Path path_;
};

// --- Text ------------------------------------------------------------------------------------

TEST(EnvironmentTest, TheAccountsHomeIsKnownWhateverTheVariableSays) {
  const passwd* account = ::getpwuid(::geteuid());
  ASSERT_NE(account, nullptr);
  const char* before = std::getenv("HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("HOME", "/tmp/elsewhere", 1);
  const Result<HostFacts> facts = host::probe(host::Depth::quick);
  if (before == nullptr) ::unsetenv("HOME");
  else ::setenv("HOME", kept.c_str(), 1);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->home, "/tmp/elsewhere");
  EXPECT_EQ(facts->account_home, account->pw_dir);
}

TEST(HostTextTest, FieldsAreTakenOneByOne) {
  std::string_view rest = "a::b";
  EXPECT_EQ(take_field(rest, ':'), "a");
  EXPECT_EQ(take_field(rest, ':'), "");
  EXPECT_EQ(take_field(rest, ':'), "b");
  EXPECT_EQ(take_field(rest, ':'), "");
}

TEST(HostTextTest, OnlyPlainDigitsAreANumber) {
  EXPECT_EQ(to_number("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616"})
    EXPECT_EQ(to_number(text), std::nullopt) << text;
}

TEST(HostTextTest, AWordIsFoundOnlyWhole) {
  EXPECT_TRUE(has_word("cpuset cpu io\n", "cpu"));
  EXPECT_TRUE(has_word("memory pids\n", "pids"));
  EXPECT_FALSE(has_word("cpuset io\n", "cpu"));
  EXPECT_FALSE(has_word("", "cpu"));
}

TEST(HostTextTest, StatusFieldsMatchTheWholeName) {
  const std::string_view status = "Seccomp_filters:\t3\nSeccomp:\t2\nEmpty:\n";
  EXPECT_EQ(status_field(status, "Seccomp"), "2");
  EXPECT_EQ(status_field(status, "Empty"), "");
  EXPECT_EQ(status_field(status, "Missing"), "");
}

TEST(HostTextTest, KernelReleasesAreRead) {
  EXPECT_EQ(parse_kernel_release("6.18.44-vendor"), (KernelVersion{6, 18}));
  EXPECT_EQ(parse_kernel_release("5.13-rc1"), (KernelVersion{5, 13}));
  EXPECT_EQ(parse_kernel_release("7"), (KernelVersion{7, 0}));
  EXPECT_EQ(parse_kernel_release("vendor.5"), (KernelVersion{}));
  EXPECT_EQ(parse_kernel_release("99999999999999999999.1"), (KernelVersion{999999, 1}));
}

// --- Mounts ----------------------------------------------------------------------------------

TEST(MountinfoTest, LinesAreReadWithAndWithoutOptionalFields) {
  const std::vector<MountFact> expected{
      {"98:0", "/mnt1", "/mnt2", "ext3", "/dev/root", false},
      {"0:21", "/", "/proc", "proc", "proc", false},
  };
  EXPECT_EQ(parse_mountinfo("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root "
                            "rw,errors=continue\n"
                            "22 27 0:21 / /proc rw,relatime - proc proc rw\n"),
            expected);
}

TEST(MountinfoTest, OctalEscapesAreUndone) {
  const std::vector<MountFact> expected{
      {"8:1", "/a b", "/with\ttab\nline\\", "fuse.x", "who:/s p", false}};
  EXPECT_EQ(
      parse_mountinfo("1 2 8:1 /a\\040b /with\\011tab\\012line\\134 rw - fuse.x who:/s\\040p rw"),
      expected);
}

TEST(MountinfoTest, WhatIsNoEscapeStays) {
  const std::vector<MountFact> expected{{"8:1", "/", "/a\\04\\9\\400\\", "ext4", "x", false}};
  EXPECT_EQ(parse_mountinfo("1 2 8:1 / /a\\04\\9\\400\\ rw - ext4 x rw"), expected);
}

TEST(MountinfoTest, EitherMountOrFileSystemMakesItReadOnly) {
  const std::vector<MountFact> expected{{"8:1", "/", "/a", "ext4", "x", true},
                                        {"8:1", "/", "/b", "ext4", "x", true},
                                        {"8:1", "/", "/c", "ext4", "x", false}};
  EXPECT_EQ(parse_mountinfo("1 2 8:1 / /a ro,nosuid - ext4 x rw\n"
                            "1 2 8:1 / /b rw - ext4 x ro\n"
                            "1 2 8:1 / /c rw,errors=remount-ro - ext4 x rw,roomy\n"),
            expected);
}

TEST(MountinfoTest, AnEmptySourceShiftsNothing) {
  const std::vector<MountFact> expected{{"0:5", "/", "/t", "tmpfs", "", false}};
  EXPECT_EQ(parse_mountinfo("1 2 0:5 / /t rw -  tmpfs rw\n1 2 0:5 / /t rw - tmpfs  rw\n"),
            expected);
}

TEST(MountinfoTest, BadLinesAreSkipped) {
  EXPECT_EQ(parse_mountinfo("\n\nnonsense\n1 2 3\n1 2 8:1 / relative rw - ext4 x rw\n"
                            "1 2 8:1 / /no-separator rw shared:1 ext4 x rw\n"
                            "1 2 8:1 / /short rw - ext4\n1 2 8:1 / /shorter rw -\n   - - - \n"),
            std::vector<MountFact>{});
}

TEST(MountinfoTest, TheOwnTableHasARoot) {
  HostFacts facts;
  ASSERT_TRUE(inspect_mounts(facts).has_value());
  EXPECT_FALSE(facts.mounts.empty());
}

// --- Account files ---------------------------------------------------------------------------

TEST(AccountsTest, PasswdIsSearchedByUid) {
  const std::string_view passwd =
      "root:x:0:0:root:/root:/bin/sh\n# comment\nbroken\n:x:7:7::/none:\n"
      "ann:x:1000:1000:Ann,,,:/home/ann/:/bin/bash\nalso-ann:x:1000:1000::/other:\n"
      "bob:x:1001:1001::relative:";
  EXPECT_EQ(parse_passwd(passwd, 0), (Account{"root", "/root"}));
  EXPECT_EQ(parse_passwd(passwd, 1000), (Account{"ann", "/home/ann"}));
  EXPECT_EQ(parse_passwd(passwd, 1001), (Account{"bob", ""}));
  EXPECT_EQ(parse_passwd(passwd, 7), std::nullopt);
  EXPECT_EQ(parse_passwd(passwd, 4), std::nullopt);
}

TEST(AccountsTest, AHomeIsFoundByName) {
  const std::string_view passwd =
      "root:x:0:0:root:/root:/bin/sh\nbroken\n:x:7:7::/none:\nann:x:1000:1000:Ann,,,:/home/ann/:/"
      "bin/bash\n"
      "ann:x:1001:1001::/other:\nbob:x:1002:1002::relative:\nshort:x:1";
  EXPECT_EQ(parse_home_of(passwd, "ann"), "/home/ann");
  for (const char* const none : {"", "bob", "short", "broken", "an", "carl"})
    EXPECT_EQ(parse_home_of(passwd, none), "") << none;
}

TEST(AccountsTest, HomesOfPeopleAreThoseOfRootAndFromAThousandOn) {
  const std::string_view passwd =
      "root:x:0:0:root:/root:/bin/sh\nwww:x:33:33::/var/www:\nann:x:1000:1000::/home/"
      "ann:\nbob:x:1001:"
      "1001::/data/bob/:\ncy:x:1002:1002::relative:\nnobody:x:65534:65534::/nonexistent:\nbroken\n"
      "bob2:x:1003:1003::/data/bob:\n";
  EXPECT_EQ(parse_homes(passwd), (std::vector<Path>{"/data/bob", "/root"}));
}

TEST(AccountsTest, RangesBelongToANameOrANumber) {
  const std::vector<IdRange> expected{{100000, 65536}, {300000, 10}};
  EXPECT_EQ(
      parse_subid("ann:100000:65536\nbob:200000:65536\n1000:300000:10\nannie:1:1\n", "ann", 1000),
      expected);
}

TEST(AccountsTest, RangesOutsideOfThirtyTwoBitsAreSkipped) {
  const std::vector<IdRange> expected{{4294967294, 1}};
  EXPECT_EQ(parse_subid("ann:4294967294:1\nann:4294967295:1\nann:1:4294967295\nann:5:0\nann:-1:5\n"
                        "ann:1\nann\n:1:1\nann:1:2:3\nann:99999999999999999999:1\n",
                        "ann", 1000),
            expected);
}

TEST(AccountsTest, AnEmptyUserNameOwnsNothing) {
  EXPECT_EQ(parse_subid(":1:65536\n", "", 1000), std::vector<IdRange>{});
}

TEST(AccountsTest, MappedIdsAreAdded) {
  EXPECT_EQ(parse_mapped_ids("         0          0 4294967295\n"), 4294967295u);
  EXPECT_EQ(
      parse_mapped_ids("         0       1000          1\n         1     100000      65536\n"),
      65537u);
  EXPECT_EQ(parse_mapped_ids(""), 0u);
}

// --- Paths -----------------------------------------------------------------------------------

TEST(InspectTest, EveryKindOfPathIsDescribed) {
  const Directory base;
  base.file("real/file");
  fs::create_hard_link(base / "real/file", base / "real/second");
  fs::create_directory_symlink("real", base / "link");
  fs::create_symlink("link/file", base / "chain");
  fs::create_symlink("nowhere", base / "dangling");
  fs::create_symlink("loop", base / "loop");

  HostFacts facts;
  facts.paths[base / "gone"] = PathFact{.kind = PathKind::file};  // from an earlier look
  const std::vector<Path> asked{base / "real",
                                base / "real/file",
                                base / "link",
                                base / "link/file",
                                base / "chain",
                                base / "dangling",
                                base / "loop",
                                base / "gone",
                                base / "real/file/below",
                                base / std::string("real/file\0.txt", 14),
                                "/",
                                "/dev/null"};
  inspect(facts, asked);

  const Path file = base / "real/file";
  const std::map<Path, PathFact> expected{
      {base / "real", {PathKind::directory, PathKind::directory, base / "real", "", 1}},
      {base / "real/file", {PathKind::file, PathKind::file, file, "", 2}},
      {base / "link", {PathKind::symlink, PathKind::directory, base / "real", "real", 1}},
      {base / "link/file", {PathKind::file, PathKind::file, file, "", 2}},
      {base / "chain", {PathKind::symlink, PathKind::file, file, "link/file", 2}},
      {base / "dangling", {PathKind::symlink, PathKind::missing, "", "nowhere", 1}},
      {base / "loop", {PathKind::symlink, PathKind::missing, "", "loop", 1}},
      {"/", {PathKind::directory, PathKind::directory, "/", "", 1}},
      {"/dev/null", {PathKind::device, PathKind::device, "/dev/null", "", 1}},
  };
  EXPECT_EQ(facts.paths, expected);
}

// --- Control groups --------------------------------------------------------------------------

TEST(CgroupsTest, OwnGroupsAreReadForEachController) {
  const std::map<std::string, Path> expected{{"", "/user.slice/a:b"},
                                             {"cpu", "/c"},
                                             {"cpuacct", "/c"},
                                             {"memory", "/m"},
                                             {"name=systemd", "/s"}};
  EXPECT_EQ(
      parse_own_groups("4:memory:/m\n3:cpu,cpuacct:/c\n2:name=systemd:/s\n0::/user.slice/a:b\n"
                       "1::/no-controller\nx:pids:/p\n5:pids:relative\n\n6\n"),
      expected);
}

// Builds what the kernel shows in a v2 directory.
void unified_group(const Directory& base, const std::string& name, std::string_view offers) {
  const std::string prefix = name.empty() ? "" : name + "/";
  base.file(prefix + "cgroup.procs");
  base.file(prefix + "cgroup.controllers", "cpuset cpu io memory pids\n");
  base.file(prefix + "cgroup.subtree_control", offers);
  if (!name.empty()) base.file(prefix + "cgroup.type", "domain\n");
}

TEST(CgroupsTest, TheNearestGroupThatOffersMemoryAndPidsIsTaken) {
  const Directory base;
  unified_group(base, "", "cpu memory pids\n");
  unified_group(base, "service", "cpu memory pids\n");
  unified_group(base, "service/app", "pids\n");
  unified_group(base, "service/app/scope", "");
  const Path service = base / "service";
  const CgroupFacts expected{
      .kind = CgroupKind::v2,
      .directories = {{"cpu", service}, {"memory", service}, {"pids", service}},
      .unified = service};
  EXPECT_EQ(find_cgroups(base.path(), "0::/service/app/scope\n"), expected);
}

TEST(CgroupsTest, AGroupThatOffersLessIsBetterThanNone) {
  const Directory base;
  base.file("cgroup.controllers", "memory pids\n");  // no cgroup.procs: not ours to use
  unified_group(base, "app", "pids\n");
  unified_group(base, "app/scope", "");
  const CgroupFacts expected{
      .kind = CgroupKind::v2, .directories = {{"pids", base / "app"}}, .unified = base / "app"};
  EXPECT_EQ(find_cgroups(base.path(), "0::/app/scope\n"), expected);
}

TEST(CgroupsTest, AScopeHasWhatTheUserManagersOwnGroupHas) {
  const Directory base;
  base.file("user/manager/cgroup.controllers", "memory pids\n");
  base.file("user/other/cgroup.controllers", "cpuset\n");
  const Path manager = base / "user/manager";
  const CgroupFacts expected{.kind = CgroupKind::scope,
                             .directories = {{"memory", manager}, {"pids", manager}}};
  EXPECT_EQ(find_scope(base.path(), "/user/manager"), expected);
  for (const char* group : {"/user/other", "/user/none", "", "user/manager", "/x/../user/manager"})
    EXPECT_EQ(find_scope(base.path(), group), CgroupFacts{}) << group;
}

TEST(CgroupsTest, TheMachinesRootCanBeMadeToOfferControllers) {
  const Directory base;
  unified_group(base, "", "");
  unified_group(base, "service", "");
  const Path& root = base.path();
  const CgroupFacts expected{
      .kind = CgroupKind::v2,
      .directories = {{"cpu", root}, {"io", root}, {"memory", root}, {"pids", root}},
      .unified = root};
  EXPECT_EQ(find_cgroups(root, "0::/service\n"), expected);
}

TEST(CgroupsTest, AContainersRootWithProcessesCannotOfferControllers) {
  const Directory base;
  unified_group(base, "", "");
  base.file("cgroup.type", "domain\n");
  base.file("cgroup.procs", "1\n");
  const CgroupFacts expected{
      .unified = base.path(),
      .reason = "no group above ours that we can write offers memory or pids"};
  EXPECT_EQ(find_cgroups(base.path(), "0::/\n"), expected);
}

TEST(CgroupsTest, AGroupOutsideOfTheNamespaceIsNoAncestor) {
  const Directory base;
  unified_group(base, "", "memory pids\n");
  const CgroupFacts expected{.reason = "no write access to our control group or any above it"};
  EXPECT_EQ(find_cgroups(base.path(), "0::/../other\n"), expected);
}

TEST(CgroupsTest, HybridHostsUseVersionOneAndKeepTheUnifiedDirectory) {
  const Directory base;
  base.file("memory/jobs/cgroup.procs");
  base.file("memory/cgroup.procs");
  base.file("pids/cgroup.procs");  // our group's path does not exist below this mount
  base.file("cpu/other");          // not a hierarchy we can use
  base.file("unified/cgroup.controllers", "hugetlb\n");
  base.file("unified/cgroup.subtree_control");
  base.file("unified/cgroup.procs");
  const CgroupFacts expected{
      .kind = CgroupKind::v1,
      .directories = {{"memory", base / "memory/jobs"}, {"pids", base / "pids"}},
      .unified = base / "unified"};
  EXPECT_EQ(find_cgroups(base.path(), "4:memory:/jobs\n3:pids:/container\n2:cpu:/\n0::/\n"),
            expected);
}

TEST(CgroupsTest, NothingMountedIsSaid) {
  const Directory base;
  EXPECT_EQ(find_cgroups(base.path(), ""),
            (CgroupFacts{.reason = "the kernel shows no control groups"}));
  EXPECT_EQ(
      find_cgroups(base.path(), "4:memory:/\n"),
      (CgroupFacts{.reason = "no write access to the memory, pids or cpu groups (cgroup v1)"}));
}

// --- The probe itself ------------------------------------------------------------------------

TEST(ProbeTest, QuickAssumesWhatAStartWillTry) {
  const Result<HostFacts> facts = probe(Depth::quick);
  ASSERT_TRUE(facts.has_value());
  std::map<std::string, Feature> namespaces;
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts", "cgroup", "time"})
    namespaces[name] = {.available = true};
  EXPECT_EQ(facts->namespaces, namespaces);
  EXPECT_EQ(facts->seccomp, Feature{.available = true});
  EXPECT_EQ(facts->overlay, Feature{.available = true});
  EXPECT_EQ(facts->proc, ProcMount::full);
  EXPECT_EQ(facts->uid, ::geteuid());
  EXPECT_EQ(facts->working_directory, fs::canonical(".").string());
  EXPECT_TRUE(facts->home.starts_with('/'));
  EXPECT_TRUE(facts->state_directory.ends_with("/coop"));
  EXPECT_GT(facts->kernel, (KernelVersion{3, 0}));
  EXPECT_TRUE(facts->mounts.empty());
  EXPECT_EQ(facts->cgroup, CgroupFacts{});
}

TEST(ProbeTest, FullLeavesNothingBehind) {
  HostFacts before;
  ASSERT_TRUE(inspect_mounts(before).has_value());
  const Result<HostFacts> facts = probe(Depth::full);
  ASSERT_TRUE(facts.has_value());
  HostFacts after;
  ASSERT_TRUE(inspect_mounts(after).has_value());
  EXPECT_EQ(before.mounts, after.mounts);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);  // every child was reaped
  EXPECT_EQ(errno, ECHILD);
  for (const auto& [name, feature] : facts->namespaces)
    EXPECT_NE(feature.available, !feature.reason.empty()) << name;  // one or the other
}

}  // namespace
}  // namespace coop::host
