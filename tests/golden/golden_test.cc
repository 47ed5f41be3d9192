// Whole plans of the shipped profiles, as text and JSON, on a fictitious machine. A change of
// policy shows up here as a diff. COOP_UPDATE_GOLDEN=1 rewrites the files.
#include <gtest/gtest.h>

#include "golden/golden.h"
#include "policy/builtin.h"
#include "report/plan.h"
#include "support/destination_rule.h"
#include "unit/support/plan_facts.h"

namespace coop::plan {
namespace {

// Ann's laptop: a merged /usr, a repository, a few secrets, a mail spool.
HostFacts laptop() {
  HostFacts host = anns_machine();
  for (const char* path :
       {"/etc/alternatives", "/etc/ssl/certs", "/sys", "/mnt", "/media", "/var/tmp", "/var/log",
        "/root", "/home", "/home/ann/.cargo/bin", "/home/ann/.rustup", "/boot", "/etc/ssh",
        "/home/ann/.ssh", "/home/ann/.gnupg", "/home/ann/.config/gh"})
    add_path(host, path);
  for (const char* path :
       {"/etc/ld.so.cache", "/etc/shadow", "/home/ann/.netrc", "/home/ann/.bash_history"})
    add_path(host, path, PathKind::file);
  for (const char* name : {"zero", "full", "random", "urandom", "tty"})
    add_path(host, std::string("/dev/") + name, PathKind::device);
  for (const char* name : {"sbin", "lib", "lib64"})
    add_link(host, std::string("/") + name, std::string("usr/") + name,
             std::string("/usr/") + name);
  add_link(host, "/etc/localtime", "/usr/share/zoneinfo/UTC", "/usr/share/zoneinfo/UTC",
           PathKind::file);
  host.git_identity = {.name = "Ann", .email = "ann@example.com"};
  host.environment["LANG"] = "C.UTF-8";
  host.environment["SHELL"] = "/bin/bash";
  host.environment["GITHUB_TOKEN"] = "never in a plan";
  host.workspace.guarded = {
      GuardedPath{.path = "/home/ann/project/.git/config", .guard = ".git/config"},
      GuardedPath{
          .path = "/home/ann/project/.git/hooks", .guard = ".git/hooks", .directory = true}};
  return host;
}

Policy shipped(View view) {
  Policy policy = policy_for(view);
  policy.rules = policy::secret_rules("/home/ann");
  return policy;
}

using test::expect_golden;

// The reasons of the system call filter differ by architecture; they are tested with the filter.
std::string text_with_reasons(const Plan& plan) {
  Plan portable = plan;
  for (Step& step : portable.steps)
    if (auto* install = std::get_if<InstallSeccomp>(&step.action))
      install->profile += " (reasons left out)";
  return report::plan_text(portable, report::Detail::reasons);
}

TEST(GoldenTest, MinimalView) {
  expect_golden("minimal.txt", text_with_reasons(must_compile(shipped(View::minimal), laptop())));
}

TEST(GoldenTest, HostView) {
  expect_golden("host.txt", text_with_reasons(must_compile(shipped(View::host), laptop())));
}

TEST(GoldenTest, HostViewWithTheHome) {
  Policy policy = shipped(View::host);
  policy.home_view = HomeView::shown;
  expect_golden("host-show-home.txt",
                report::plan_text(must_compile(policy, laptop()), report::Detail::steps));
}

TEST(GoldenTest, MinimalViewWithoutDebugging) {
  Policy policy = shipped(View::minimal);
  policy.debugging = Debugging::denied;
  expect_golden("minimal-no-debug.txt",
                report::plan_text(must_compile(policy, laptop()), report::Detail::steps));
}

// Destinations and the rules for them: the page an auditor reads.
Policy with_allow_list(View view) {
  Policy policy = shipped(view);
  policy.network = NetworkMode::allowlist;
  policy.allow_net = {{tests::destination("example.com"), Origin::of_flag("--allow-net")},
                      {tests::destination("*.example.org:8443"),
                       Origin{Scope::organisation, "/etc/coop/policy.toml", {3, 0}}}};
  policy.deny_net = {{tests::destination("bad.example.org"), Origin::of_flag("--deny-net")}};
  policy.allow_udp = {{tests::destination("9.9.9.0/24:5000"), Origin::of_flag("--allow-udp")}};
  policy.publish = {{.host = 8080, .sandbox = 80, .origin = Origin::of_flag("--publish")}};
  policy.host_ports = {{5432, Origin::of_flag("--host-port")}};
  return policy;
}

TEST(GoldenTest, MinimalViewWithAnAllowList) {
  expect_golden("minimal-allowlist.txt",
                report::plan_text(must_compile(with_allow_list(View::minimal), laptop()),
                                  report::Detail::steps));
}

TEST(GoldenTest, HostViewWithAnAllowList) {
  HostFacts host = laptop();
  add_path(host, "/etc/hosts", PathKind::file);
  add_path(host, "/etc/nsswitch.conf", PathKind::file);
  add_link(host, "/etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf",
           "/run/systemd/resolve/stub-resolv.conf", PathKind::file);
  expect_golden(
      "host-allowlist.txt",
      report::plan_text(must_compile(with_allow_list(View::host), host), report::Detail::steps));
}

TEST(GoldenTest, AnOpenNetwork) {
  Policy policy = shipped(View::minimal);
  policy.network = NetworkMode::full;
  policy.allow_net = {{tests::destination("10.0.0.5:5432"), Origin::of_flag("--allow-net")}};
  HostFacts host = laptop();
  host.pasta = {.available = true, .program = "/usr/bin/pasta"};
  expect_golden("minimal-full.txt",
                report::plan_text(must_compile(policy, host), report::Detail::steps));
}

TEST(GoldenTest, HostViewWithoutDebugging) {
  Policy policy = shipped(View::host);
  policy.debugging = Debugging::denied;
  expect_golden("host-no-debug.txt",
                report::plan_text(must_compile(policy, laptop()), report::Detail::steps));
}

TEST(GoldenTest, MinimalViewAsRoot) {
  Policy policy = shipped(View::minimal);
  policy.identity = Identity::root;
  expect_golden("minimal-as-root.txt",
                report::plan_text(must_compile(policy, laptop()), report::Detail::steps));
}

TEST(GoldenTest, HostViewAsRoot) {
  Policy policy = shipped(View::host);
  policy.identity = Identity::root;
  expect_golden("host-as-root.txt",
                report::plan_text(must_compile(policy, laptop()), report::Detail::steps));
}

TEST(GoldenTest, MinimalViewStartedByRootWithLimits) {
  HostFacts host = laptop();
  host.uid = host.gid = 0;
  for (const char* path : {"/proc/sys", "/proc/irq", "/proc/bus"}) add_path(host, path);
  add_path(host, "/proc/sysrq-trigger", PathKind::file);
  host.cgroup = {
      .kind = CgroupKind::v2,
      .directories = {
          {"memory", "/sys/fs/cgroup"}, {"pids", "/sys/fs/cgroup"}, {"cpu", "/sys/fs/cgroup"}}};
  Policy policy = shipped(View::minimal);
  policy.limits.memory = std::uint64_t{2} << 30;
  policy.limits.milli_cpus = 2000;
  expect_golden("minimal-by-root-limited.txt",
                report::plan_text(must_compile(policy, host), report::Detail::steps));
}

TEST(GoldenTest, EverythingAtOnceAsJson) {
  HostFacts host = laptop();
  for (const char* path : {"/opt/sdk", "/srv/data", "/home/ann/project/cache"})
    add_path(host, path);
  Policy policy = shipped(View::host);
  policy.identity = Identity::root;
  policy.time_offset = 60;
  policy.set_environment = {{"BYTES", "\x1b\xff"}};
  policy.rules.push_back(rule(RuleKind::overlay, "/opt/sdk"));
  policy.rules.push_back(rule(RuleKind::read_write, "/srv/data"));
  policy.rules.push_back(rule(RuleKind::tmpfs, "/home/ann/project/cache"));
  policy.limits.memory = 1 << 30;
  expect_golden("everything.json", report::plan_json(must_compile(policy, host)));
}

TEST(GoldenTest, NoPlanShowsTheCallersSecrets) {
  for (const View view : {View::minimal, View::host}) {
    const Plan plan = must_compile(shipped(view), laptop());
    EXPECT_EQ(report::plan_json(plan).find("never in a plan"), std::string::npos);
    EXPECT_EQ(report::plan_text(plan, report::Detail::reasons).find("never in a plan"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace coop::plan
