// /etc of the minimal view.
#include "plan/view/layout.h"
#include "policy/builtin.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

std::string contents_of_made(const Plan& plan, const Path& path) {
  for (const MakeFile& file : all_of<MakeFile>(plan))
    if (file.target == path) return file.contents;
  return "missing";
}

TEST(PlanEtcTest, PasswdAndGroupHoldRootTheCallerAndTheOverflowIdOnly) {
  const Plan plan = must_compile(policy_for(View::minimal), anns_machine());
  EXPECT_EQ(contents_of_made(plan, "/etc/passwd"),
            "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/user:/bin/sh\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
  EXPECT_EQ(contents_of_made(plan, "/etc/group"), "root:x:0:\nann:x:1000:\nnogroup:x:65534:\n");
}

TEST(PlanEtcTest, RootHasOneAccount) {
  Policy policy = policy_for(View::minimal);
  policy.identity = Identity::root;
  const Plan plan = must_compile(policy, anns_machine());
  EXPECT_EQ(contents_of_made(plan, "/etc/passwd"),
            "root:x:0:0:root:/home/user:/bin/sh\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
  EXPECT_EQ(contents_of_made(plan, "/etc/group"), "root:x:0:\nnogroup:x:65534:\n");
}

TEST(PlanEtcTest, AUserVariableAddsNoLineOfItsOwn) {
  HostFacts host = anns_machine();
  host.user = "x:x:0:0::/:/bin/sh\nann";
  const Plan plan = must_compile(policy_for(View::minimal), host);
  EXPECT_EQ(contents_of_made(plan, "/etc/passwd"),
            "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
}

TEST(PlanEtcTest, OnlyListedSettingsAreShown) {
  HostFacts host = anns_machine();
  add_path(host, "/etc/java-17-openjdk");
  add_path(host, "/etc/services", PathKind::file);
  add_path(host, "/etc/shadow", PathKind::file);
  add_path(host, "/etc/apt");
  add_link(host, "/etc/os-release", "../usr/lib/os-release", "/usr/lib/os-release", PathKind::file);
  add_link(host, "/etc/mime.types", "/srv/types", "/srv/types", PathKind::file);
  const Plan plan = must_compile(policy_for(View::minimal), host);
  Actions shown = about(plan, "/etc");
  std::erase_if(shown,
                [](const Action& action) { return std::holds_alternative<MakeFile>(action); });
  EXPECT_TRUE(
      same(shown, {MakeDirectory{"/etc"}, MakeDirectory{"/etc/java-17-openjdk"},
                   BindMount{"/etc/java-17-openjdk", "/etc/java-17-openjdk"},
                   BindMount{"/srv/types", "/etc/mime.types", kReadOnly, PathKind::file},
                   MakeSymlink{"/etc/mtab", "/proc/self/mounts"},
                   MakeSymlink{"/etc/os-release", "../usr/lib/os-release"},
                   BindMount{"/etc/services", "/etc/services", kReadOnly, PathKind::file}}));
}

TEST(PlanEtcTest, ASettingWithCredentialsIsLeftOut) {
  HostFacts host = anns_machine();
  add_path(host, "/etc/maven/settings.xml", PathKind::file);
  Policy policy = policy_for(View::minimal);
  EXPECT_FALSE(about(must_compile(policy, host), "/etc/maven/settings.xml").empty());
  policy.rules.push_back(rule(RuleKind::hide, "/etc/maven/settings.xml"));
  EXPECT_TRUE(about(must_compile(policy, host), "/etc/maven/settings.xml").empty());
}

TEST(PlanEtcTest, WhatARuleHidesIsNotShownByTheView) {
  HostFacts host = anns_machine();
  for (const char* path : {"/sys/devices/system/cpu", "/etc/fonts", "/etc", "/sys"})
    add_path(host, path);
  Policy policy = policy_for(View::minimal);
  EXPECT_EQ(about(must_compile(policy, host), "/sys/devices/system/cpu").size(), 2U);
  EXPECT_EQ(about(must_compile(policy, host), "/etc/fonts").size(), 2U);
  policy.rules = {rule(RuleKind::hide, "/sys"), rule(RuleKind::hide, "/etc")};
  EXPECT_TRUE(about(must_compile(policy, host), "/sys/devices/system/cpu").empty());
  EXPECT_TRUE(about(must_compile(policy, host), "/etc/fonts").empty());
}

TEST(PlanEtcTest, WildcardsAreMatchedWithTheNamesInEtc) {
  const std::vector<std::string> names{"java-11-openjdk", "java-17-openjdk", "maven", "shadow"};
  const std::vector<Path> paths = etc_paths(names);
  const std::vector<Path> expected{"/etc/java-11-openjdk",    "/etc/java-17-openjdk",
                                   "/etc/maven/m2.conf",      "/etc/maven/logging",
                                   "/etc/maven/settings.xml", "/etc/maven/toolchains.xml",
                                   "/var/lib/texmf",          "/var/lib/ghc"};
  EXPECT_EQ(paths, expected);
}

TEST(PlanEtcTest, NoLineOfTheListShowsAKnownSecret) {
  for (const policy::NamedReason& line : policy::etc_list())
    for (const PathRule& secret : policy::secret_rules("/home/ada"))
      EXPECT_FALSE(is_within(line.name, secret.path)) << line.name;
}

}  // namespace
}  // namespace coop::plan
