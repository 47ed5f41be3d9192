#include <gtest/gtest.h>

#include "host/probe.h"
#include "host/verdict.h"
#include "report/status.h"

namespace coop {
namespace {

HostFacts capable_host() {
  HostFacts facts{.kernel = {6, 8}, .kernel_release = "6.8.0-31-generic", .architecture = "x86_64"};
  facts.uid = 1000;
  facts.environment = {{"API_KEY", "hunter2"}};
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts", "cgroup", "time"})
    facts.namespaces[name] = {.available = true};
  facts.landlock_abi = 6;
  facts.seccomp = {.available = true};
  facts.seccomp_notify = {.available = true};
  facts.seccomp_flags = {"tsync", "log"};
  facts.cgroup = {
      .kind = CgroupKind::v2, .directories = {{"memory", "/g"}, {"pids", "/g"}}, .unified = "/g"};
  facts.overlay = {.available = true};
  facts.fuse = {.available = true};
  facts.id_ranges = {.available = true, .detail = "65536 uids, 65536 gids"};
  facts.pasta = {.available = true, .program = "/usr/bin/pasta"};
  facts.slirp4netns = {.reason = "slirp4netns is not installed",
                       .fix = "install the package slirp4netns"};
  return facts;
}

TEST(VerdictTest, ACapableHostLacksNothing) {
  const HostFacts facts = capable_host();
  EXPECT_TRUE(host::can_sandbox(facts));
  EXPECT_EQ(host::isolation_name(facts), "linux (namespaces + landlock + seccomp)");
  EXPECT_EQ(host::degraded(facts), std::vector<std::string>{});
}

TEST(VerdictTest, LandlockAndGroupsOnlyDegrade) {
  HostFacts facts = capable_host();
  facts.landlock_abi = 0;
  facts.cgroup = {};
  EXPECT_TRUE(host::can_sandbox(facts));
  EXPECT_EQ(host::isolation_name(facts), "linux (namespaces + seccomp)");
  const std::vector<std::string> expected{
      "no Landlock: the mount view is the only wall around files",
      "no control group: memory and processes are limited with setrlimit"};
  EXPECT_EQ(host::degraded(facts), expected);
}

TEST(VerdictTest, EachRequiredPartIsRequired) {
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts"}) {
    HostFacts facts = capable_host();
    facts.namespaces[name] = {.reason = "why"};
    EXPECT_FALSE(host::can_sandbox(facts)) << name;
    EXPECT_EQ(host::isolation_name(facts), "none") << name;
    EXPECT_EQ(host::missing_for_sandbox(facts),
              std::vector<std::string>{std::string(name) + " namespaces (why)"});
  }
  for (const char* name : {"cgroup", "time"}) {
    HostFacts facts = capable_host();
    facts.namespaces[name] = {.reason = "why"};
    EXPECT_TRUE(host::can_sandbox(facts)) << name;
  }
  HostFacts no_proc = capable_host();
  no_proc.proc = ProcMount::refused;
  EXPECT_EQ(host::missing_for_sandbox(no_proc), std::vector<std::string>{"a fresh /proc"});
  HostFacts no_filter = capable_host();
  no_filter.seccomp = {};
  EXPECT_EQ(host::missing_for_sandbox(no_filter), std::vector<std::string>{"seccomp filters"});
}

TEST(VerdictTest, UnprobedFactsAllowNothing) { EXPECT_FALSE(host::can_sandbox(HostFacts{})); }

TEST(StatusTest, TextOfACapableHost) {
  EXPECT_EQ(report::status_text(capable_host()),
            "coop 0.1.0 on Linux 6.8 (x86_64)\n"
            "isolation: linux (namespaces + landlock + seccomp)\n"
            "\n"
            "  ✓ user namespaces\n"
            "  ✓ mount namespaces\n"
            "  ✓ pid namespaces\n"
            "  ✓ net namespaces\n"
            "  ✓ ipc namespaces\n"
            "  ✓ uts namespaces\n"
            "  ✓ cgroup namespaces\n"
            "  ✓ time namespaces\n"
            "  ✓ landlock              ABI 6\n"
            "  ✓ seccomp filter        tsync, log\n"
            "  ✓ seccomp notify\n"
            "  ✓ cgroup v2             memory, pids\n"
            "  ✓ fresh /proc\n"
            "  ✓ host name\n"
            "  ✓ overlayfs\n"
            "  ✓ /dev/fuse             git directories are served by name\n"
            "  ✓ uid and gid ranges    65536 uids, 65536 gids\n"
            "  ✓ pasta                 /usr/bin/pasta\n"
            "  ✗ slirp4netns           slirp4netns is not installed\n"
            "                          fix: install the package slirp4netns\n"
            "\n"
            "The default sandbox can run here.\n");
}

TEST(StatusTest, TextOfAContainerThatRefuses) {
  HostFacts facts = capable_host();
  for (auto& [name, feature] : facts.namespaces) feature = {.reason = "needs a user namespace"};
  facts.namespaces["user"] = {.reason = "blocked\x1b[2J", .fix = "unblock"};
  facts.nested_in = "docker";
  facts.landlock_abi = 0;
  facts.kernel = {5, 10};
  facts.cgroup = {.reason = "no write access"};
  facts.proc = ProcMount::refused;
  facts.overlay = {.reason = "needs a user and a mount namespace"};
  EXPECT_EQ(report::status_text(facts),
            "coop 0.1.0 on Linux 5.10 (x86_64)\n"
            "isolation: none\n"
            "inside: docker\n"
            "\n"
            "  ✗ user namespaces       blocked\\x1b[2J\n"
            "                          fix: unblock\n"
            "  ✗ mount namespaces      needs a user namespace\n"
            "  ✗ pid namespaces        needs a user namespace\n"
            "  ✗ net namespaces        needs a user namespace\n"
            "  ✗ ipc namespaces        needs a user namespace\n"
            "  ✗ uts namespaces        needs a user namespace\n"
            "  ✗ cgroup namespaces     needs a user namespace\n"
            "  ✗ time namespaces       needs a user namespace\n"
            "  ✗ landlock              the kernel is older than 5.13\n"
            "                          fix: use Linux 5.13 or later\n"
            "  ✓ seccomp filter        tsync, log\n"
            "  ✓ seccomp notify\n"
            "  ✗ cgroups               no write access; limits use setrlimit\n"
            "                          fix: make the control group writable for coop\n"
            "  ✗ fresh /proc           needs a user namespace\n"
            "  ✗ host name             needs a user namespace\n"
            "  ✗ overlayfs             needs a user and a mount namespace\n"
            "  ✓ /dev/fuse             git directories are served by name\n"
            "  ✓ uid and gid ranges    65536 uids, 65536 gids\n"
            "  ✓ pasta                 /usr/bin/pasta\n"
            "  ✗ slirp4netns           slirp4netns is not installed\n"
            "                          fix: install the package slirp4netns\n"
            "\n"
            "degraded: no Landlock: the mount view is the only wall around files\n"
            "degraded: no control group: memory and processes are limited with setrlimit\n"
            "degraded: no overlayfs: copy-on-write directories are not possible\n"
            "degraded: no cgroup namespace: /proc/self/cgroup shows the host's groups\n"
            "degraded: no time namespace: clocks cannot be shifted\n"
            "The default sandbox cannot run here, it lacks: user namespaces (blocked\\x1b[2J).\n");
}

TEST(StatusTest, AContainersFlagsAreNamed) {
  HostFacts facts = capable_host();
  facts.nested_in = "podman";
  facts.proc = ProcMount::refused;
  facts.proc_refusal = {.reason = "parts are covered", .fix = "podman run --flag"};
  facts.hostname = {.reason = "the filter blocks sethostname", .fix = "podman run --other"};
  const std::string text = report::status_text(facts);
  EXPECT_NE(text.find("  ✗ fresh /proc           parts are covered\n"
                      "                          fix: podman run --flag\n"
                      "  ✗ host name             the filter blocks sethostname\n"
                      "                          fix: podman run --other\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with(
      "degraded: the host name inside is the one outside: setting another is refused\n"
      "The default sandbox cannot run here, it lacks: a fresh /proc (parts are covered).\n"))
      << text;
  facts.proc = ProcMount::full;
  EXPECT_TRUE(host::can_sandbox(facts));  // a refused host name alone is no obstacle
}

TEST(StatusTest, JsonSaysTheSameAndHoldsNoEnvironment) {
  HostFacts facts = capable_host();
  facts.pasta.program = "/opt/\xff/pasta";  // not UTF-8: must not throw
  const std::string json = report::status_json(facts);
  EXPECT_TRUE(
      json.starts_with("{\n"
                       "  \"version\": \"0.1.0\",\n"
                       "  \"kernel\": \"6.8.0-31-generic\",\n"
                       "  \"architecture\": \"x86_64\",\n"
                       "  \"isolation\": \"linux (namespaces + landlock + seccomp)\",\n"
                       "  \"can_sandbox\": true,\n"
                       "  \"missing\": [],\n"
                       "  \"degraded\": [],\n"
                       "  \"nested_in\": \"\",\n"
                       "  \"features\": {\n"
                       "    \"user_namespace\": {\n"
                       "      \"available\": true,\n"
                       "      \"reason\": \"\",\n"
                       "      \"fix\": \"\"\n"
                       "    },\n"))
      << json;
  EXPECT_TRUE(json.ends_with(
      "  \"landlock_abi\": 6,\n"
      "  \"seccomp_flags\": [\n    \"tsync\",\n    \"log\"\n  ],\n"
      "  \"proc\": \"full\",\n"
      "  \"cgroup\": {\n"
      "    \"kind\": \"v2\",\n"
      "    \"directories\": {\n      \"memory\": \"/g\",\n      \"pids\": \"/g\"\n    },\n"
      "    \"unified\": \"/g\"\n"
      "  }\n"
      "}\n"))
      << json;
  EXPECT_EQ(json.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace coop
