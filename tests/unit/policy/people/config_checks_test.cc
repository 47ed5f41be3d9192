// The checks of a configuration as a whole, on fictitious machines.
#include "policy/people/config_checks.h"

#include <gmock/gmock.h>

#include <set>

#include "config_text.h"

namespace coop::policy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const PathFact kDirectory{.kind = PathKind::directory, .target_kind = PathKind::directory};
const PathFact kFile{.kind = PathKind::file, .target_kind = PathKind::file};

// A machine where everything works.
CheckFacts good_machine() {
  CheckFacts facts{.can_sandbox = true, .isolation = "linux (namespaces + landlock + seccomp)"};
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts"})
    facts.host.namespaces[name] = {.available = true};
  facts.host.landlock_abi = 6;
  facts.host.seccomp = {.available = true};
  facts.host.cgroup.kind = CgroupKind::v2;
  facts.host.pasta = {.available = true};
  return facts;
}

constexpr std::string_view kOwner =
    "[[users]]\nname = \"ann\"\ntrust = \"owner\"\nmatch = [\"terminal:default\"]\n";

// "3:11 error sandbox_backend: … [fix]" each. The file has no errors of its own.
std::vector<std::string> checked(const std::string& text,
                                 const CheckFacts& facts = good_machine()) {
  ReadConfig read = read_text(text);
  EXPECT_FALSE(has_errors(read.findings)) << text;
  read.findings = check_config(read.config, facts);
  return read.found();
}

// Those of one check.
std::vector<std::string> checked(std::string_view check, const std::string& text,
                                 const CheckFacts& facts = good_machine()) {
  std::vector<std::string> lines = checked(text, facts);
  std::erase_if(lines, [&](const std::string& line) {
    return line.find(" " + std::string(check) + ": ") == std::string::npos;
  });
  return lines;
}

const std::string kEnabled = "[sandbox]\nenabled = true\n";

TEST(ConfigChecksTest, AGoodFileOnAGoodMachineIsOneLineOfInformation) {
  EXPECT_THAT(checked(kEnabled + std::string(kOwner)),
              ElementsAre("2:11 info sandbox_available: the sandbox runs here: linux (namespaces + "
                          "landlock + seccomp)"));
}

TEST(ConfigChecksTest, NothingIsAskedOfTheMachineWhenTheSandboxIsOff) {
  EXPECT_THAT(checked("[sandbox]\nenabled = false\n", CheckFacts{}), IsEmpty());
  EXPECT_THAT(checked("[sandbox]\nenabled = false\nbackend = \"docker\"\nbase_image = \"a:1\"\n"
                      "network = \"full\"\n",
                      CheckFacts{}),
              IsEmpty());
}

// --- The machine ----------------------------------------------------------------------------------

TEST(ConfigChecksTest, AMachineThatCannotSandboxIsAnErrorWithItsReason) {
  CheckFacts facts = good_machine();
  facts.can_sandbox = false;
  facts.host.namespaces["pid"] = {.reason = "EPERM", .fix = "ask the administrator"};
  EXPECT_THAT(checked(kEnabled + std::string(kOwner), facts),
              ElementsAre("2:11 error sandbox_available: the sandbox is enabled and cannot run on "
                          "this machine: no pid namespaces: EPERM [ask the administrator]"));
  facts = good_machine();
  facts.can_sandbox = false;
  facts.host.seccomp = {.reason = "not built in"};
  EXPECT_THAT(checked(kEnabled + std::string(kOwner), facts),
              ElementsAre("2:11 error sandbox_available: the sandbox is enabled and cannot run on "
                          "this machine: no seccomp filter: not built in"));
}

TEST(ConfigChecksTest, UserNamespacesHaveACheckOfTheirOwn) {
  CheckFacts facts = good_machine();
  facts.can_sandbox = false;
  facts.host.namespaces["user"] = {.reason = "kernel.unprivileged_userns_clone is 0",
                                   .fix = "sysctl kernel.unprivileged_userns_clone=1"};
  EXPECT_THAT(checked("sandbox_user_namespaces", kEnabled, facts),
              ElementsAre("2:11 error sandbox_user_namespaces: the sandbox needs user namespaces: "
                          "kernel.unprivileged_userns_clone is 0 [sysctl "
                          "kernel.unprivileged_userns_clone=1]"));
  facts.host.namespaces.clear();
  EXPECT_THAT(checked("sandbox_user_namespaces", kEnabled, facts),
              ElementsAre("2:11 error sandbox_user_namespaces: the sandbox needs user namespaces: "
                          "not tried"));
}

TEST(ConfigChecksTest, AWeakerMachineIsAWarningWithDetails) {
  CheckFacts facts = good_machine();
  facts.host.landlock_abi = 0;
  facts.host.cgroup = {.reason = "not writable"};
  EXPECT_THAT(
      checked("sandbox_available", kEnabled, facts),
      ElementsAre("2:11 warning sandbox_available: the sandbox runs without Landlock, the second "
                  "check on file access [use Linux 5.13 or later with landlock in the lsm= boot "
                  "parameter]",
                  "2:11 warning sandbox_available: the sandbox runs without a control group, so "
                  "limits hold for each process alone: not writable [make the control group "
                  "writable for coop, or start it with systemd-run --user --scope]"));
}

TEST(ConfigChecksTest, AWeaknessThatTheFileRulesOutIsAnError) {
  CheckFacts facts = good_machine();
  facts.host.landlock_abi = 0;
  const std::vector<std::string> lines =
      checked("sandbox_available", kEnabled + "require = [\"landlock\"]\n", facts);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("error sandbox_available: the sandbox runs without Landlock, the "
                                  "second check on file access, which the configuration requires"));
}

TEST(ConfigChecksTest, OneAgentsSandboxCounts) {
  CheckFacts facts = good_machine();
  facts.can_sandbox = false;
  facts.host.namespaces["user"] = {};
  const std::string agents =
      "[sandbox]\nenabled = false\n[[agents]]\nid = \"a\"\n[[agents]]\nid = \"b\"\nsandbox = { "
      "mode = \"enabled\" }\n";
  const std::vector<std::string> lines = checked("sandbox_available", agents, facts);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("7:20 error"));
}

TEST(ConfigChecksTest, AnotherBackendNeedsItsProgramAndNotOurKernel) {
  CheckFacts facts;  // no namespaces at all
  const std::string text = kEnabled + "backend = \"docker\"\n";
  EXPECT_THAT(programs_to_check(read_text(text).config), ElementsAre("docker"));
  EXPECT_THAT(checked(text + std::string(kOwner), facts),
              ElementsAre("3:11 error sandbox_backend: [sandbox]: backend \"docker\" needs the "
                          "program docker, which is not installed [install docker, or set backend "
                          "= \"auto\"]"));
  facts.programs = {"docker"};
  EXPECT_THAT(checked(text + std::string(kOwner), facts), IsEmpty());
}

TEST(ConfigChecksTest, EveryBackendHasItsProgram) {
  const auto programs = [](const std::string& backend) {
    return programs_to_check(good_config("[sandbox]\nbackend = \"" + backend + "\"\n"));
  };
  EXPECT_THAT(programs("docker"), ElementsAre("docker"));
  EXPECT_THAT(programs("podman"), ElementsAre("podman"));
  EXPECT_THAT(programs("bwrap"), ElementsAre("bwrap"));
  EXPECT_THAT(programs("gvisor"), ElementsAre("runsc"));
  EXPECT_THAT(programs("apple"), ElementsAre("container"));
  EXPECT_THAT(programs("sandbox-exec"), ElementsAre("sandbox-exec"));
  EXPECT_THAT(programs("kubernetes"), ElementsAre("kubectl"));
  EXPECT_THAT(programs("auto"), IsEmpty());
  EXPECT_THAT(programs("kernel"), IsEmpty());
  EXPECT_THAT(programs_to_check(good_config(
                  "[sandbox]\nbackend = \"podman\"\n[[agents]]\nid = \"a\"\nsandbox = { backend = "
                  "\"podman\" }\n[[agents]]\nid = \"b\"\nsandbox = { backend = \"docker\" }\n")),
              ElementsAre("podman", "docker"));
}

TEST(ConfigChecksTest, AnImageThatIsNotHereWillBePulled) {
  CheckFacts facts = good_machine();
  facts.programs = {"podman"};
  const std::string text = kEnabled +
                           "backend = \"podman\"\nbase_image = \"debian:12\"\n[[cron]]\nname = "
                           "\"x\"\ncron = \"@daily\"\ncommand = \"y\"\nsandbox = { image = "
                           "\"tools:1\" }\n";
  EXPECT_THAT(checked("sandbox_image", text, facts),
              ElementsAre("4:14 warning sandbox_image: [sandbox]: image \"debian:12\" is not here: "
                          "it will be pulled on first use [pull it before, so that the first "
                          "command need not wait]",
                          "9:21 warning sandbox_image: cron job \"x\": image \"tools:1\" is not "
                          "here: it will be pulled on first use [pull it before, so that the first "
                          "command need not wait]"));
  facts.images = {"tools:1", "debian:12"};
  EXPECT_THAT(checked("sandbox_image", text, facts), IsEmpty());
}

TEST(ConfigChecksTest, AnImageMeansNothingToTheKernel) {
  EXPECT_THAT(
      checked("sandbox_image", kEnabled + "base_image = \"debian:12\"\n"),
      ElementsAre("3:14 info sandbox_image: [sandbox]: image \"debian:12\" is not used: the "
                  "sandbox shows this machine's programs [for an image, set backend = "
                  "\"docker\" or \"podman\"]"));
}

// --- The network ------------------------------------------------------------------------------------

TEST(ConfigChecksTest, TheHostsNetworkMustBeConfirmed) {
  const std::string host = "[sandbox]\nnetwork = \"host\"\n";
  const char* const expected =
      ": network \"host\" shares every service of this machine, and is not confirmed [use network "
      "= \"full\", or add unsafe = [\"host_network\"] to [sandbox]]";
  EXPECT_THAT(checked("sandbox_network", host),
              ElementsAre(std::string("2:11 error sandbox_network: [sandbox]") + expected));
  EXPECT_THAT(checked("sandbox_network", host + "unsafe = [\"host_network\"]\n"), IsEmpty());
  EXPECT_THAT(checked("sandbox_network", host + "unsafe = [\"control_sockets\"]\n").size(), 1u);
  const std::string user =
      "[[users]]\nname = \"ben\"\ntrust = \"full\"\nsandbox = { network = \"host\" }\n";
  EXPECT_THAT(checked("sandbox_network", user),
              ElementsAre(std::string("4:23 error sandbox_network: user \"ben\"") + expected));
  EXPECT_THAT(checked("sandbox_network", "[sandbox]\nunsafe = [\"host_network\"]\n" + user),
              IsEmpty());
}

TEST(ConfigChecksTest, AnEmptyAllowListDeniesEverything) {
  EXPECT_THAT(checked("sandbox_network", "[sandbox]\nnetwork = \"allowlist\"\n"),
              ElementsAre("2:11 warning sandbox_network: [sandbox]: network \"allowlist\" with "
                          "nothing allowed denies everything [list the hosts that may be reached, "
                          "or say network = \"none\"]"));
  EXPECT_THAT(checked("sandbox_network",
                      "[sandbox.network]\nmode = \"allowlist\"\nallow = [\"example.com\"]\n"),
              IsEmpty());
}

TEST(ConfigChecksTest, SocketsThatControlTheMachineMustBeConfirmed) {
  const std::string text = "[sandbox]\nsockets = [\"/run/docker.sock\", \"/run/db.sock\"]\n";
  const auto of_sockets = [](const std::string& config) {
    std::vector<std::string> found = checked("sandbox_paths", config);
    std::erase_if(found, [](const std::string& one) { return one.find("socket") == one.npos; });
    return found;
  };
  EXPECT_THAT(of_sockets(text),
              ElementsAre("2:12 error sandbox_paths: [sandbox]: the socket \"/run/docker.sock\" "
                          "controls this machine (starts containers with any part of the host in "
                          "them), and is not confirmed [remove it, or add unsafe = "
                          "[\"control_sockets\"] to [sandbox]]"));
  EXPECT_THAT(of_sockets(text + "unsafe = [\"control_sockets\"]\n"), IsEmpty());
  EXPECT_EQ(of_sockets(text + "unsafe = [\"host_network\"]\n").size(), 1u);
}

TEST(ConfigChecksTest, EveryNetworkIsThere) {
  for (const char* mode : {"allow_network = true", "network = \"full\"", "network = \"bridge\"",
                           "network = \"veth\"", "[sandbox.network]\nudp = [\"10.0.0.1:53\"]"})
    EXPECT_THAT(checked("sandbox_network", kEnabled + mode + "\n"), IsEmpty()) << mode;
}

// --- Paths --------------------------------------------------------------------------------------------

TEST(ConfigChecksTest, PathsThatAreNotThereAreFound) {
  const std::string text =
      "[sandbox]\nworkspace = \"/w\"\nwritable_paths = [\"~/a\", \"/there\", \"/may?\", "
      "\"/glob/*\"]\nhidden_paths = [\"/h\"]\n[agent]\nid = \"x\"\n[[agents]]\nid = "
      "\"y\"\nworkspace = \"/y\"\nsandbox = { readable_paths = [\"/r\"] }\n";
  EXPECT_THAT(paths_to_check(good_config(text)),
              UnorderedElementsAre("/w", "/y", "/home/ann/a", "/there", "/h", "/r"));
  CheckFacts facts = good_machine();
  facts.host.paths = {{"/there", kFile}, {"/y", kFile}};
  const std::string fix =
      " does not exist [correct the path, or end it with \"?\" if it may be missing]";
  EXPECT_THAT(
      checked("sandbox_paths", text, facts),
      ElementsAre(
          "2:13 error sandbox_paths: [sandbox]: the workspace \"/w\" does not exist [create "
          "the directory, or name one that is there]",
          "7:1 error sandbox_paths: agent \"y\": the workspace \"/y\" is not a directory "
          "[create the directory, or name one that is there]",
          "3:19 error sandbox_paths: writable_paths: \"/home/ann/a\"" + fix,
          "4:17 warning sandbox_paths: hidden_paths: \"/h\"" + fix,
          "10:31 error sandbox_paths: readable_paths: \"/r\"" + fix));
  for (const char* path : {"/w", "/y", "/home/ann/a", "/h", "/r"})
    facts.host.paths[path] = kDirectory;
  EXPECT_THAT(checked("sandbox_paths", text, facts), IsEmpty());
}

TEST(ConfigChecksTest, AWorkspaceMayBeReachedThroughALink) {
  CheckFacts facts = good_machine();
  facts.host.paths["/w"] = {.kind = PathKind::symlink, .target_kind = PathKind::directory};
  EXPECT_THAT(checked("sandbox_paths", "[agent]\nworkspace = \"/w\"\n", facts), IsEmpty());
}

// --- People -------------------------------------------------------------------------------------------

TEST(ConfigChecksTest, MoreThanOneOwnerIsAWarning) {
  const std::string text = std::string(kOwner) + "[[users]]\nname = \"ben\"\ntrust = \"owner\"\n";
  EXPECT_THAT(checked("sandbox_multiple_owners", text),
              ElementsAre("5:1 warning sandbox_multiple_owners: 2 users are owners, and none of "
                          "them is sandboxed: \"ann\" (coop.toml:1), \"ben\" (coop.toml:5) [keep "
                          "one owner, and give the others trust = \"full\"]"));
}

TEST(ConfigChecksTest, ManyOwnersAreNotAllNamed) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += "[[users]]\nname = \"u" + std::to_string(i) + "\"\ntrust = \"owner\"\n";
  const std::vector<std::string> lines = checked("sandbox_multiple_owners", text);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("\"u4\" (coop.toml:13) and 3 more"));
}

TEST(ConfigChecksTest, WithoutAnOwnerTheTerminalIsExplained) {
  const std::string ben = "[[users]]\nname = \"ben\"\ntrust = \"inner\"\nmatch = [\"s:1\"]\n";
  EXPECT_THAT(checked("sandbox_no_owner", kEnabled + ben),
              ElementsAre("2:11 warning sandbox_no_owner: no user has trust \"owner\": "
                          "terminal:default, which matches no user, is the owner, and all others "
                          "are sandboxed [add a user with trust = \"owner\" and match = "
                          "[\"terminal:default\"]]"));
  EXPECT_EQ(checked("sandbox_no_owner", ben).size(), 1u);  // enabled is the default
  EXPECT_THAT(checked("sandbox_no_owner", "[sandbox]\nenabled = false\n" + ben), IsEmpty());
  const std::string terminal =
      "[[users]]\nname = \"ben\"\ntrust = \"full\"\nmatch = [\"terminal:*\"]\n";
  EXPECT_THAT(
      checked("sandbox_no_owner", kEnabled + terminal),
      ElementsAre("3:1 warning sandbox_no_owner: no user has trust \"owner\", and "
                  "terminal:default is \"ben\" with trust \"full\": the person at the "
                  "terminal is sandboxed too [give \"ben\" trust = \"owner\", or remove the "
                  "match]"));
}

TEST(ConfigChecksTest, AnOverrideThatGivesMoreIsPointedOut) {
  const std::string text = "[sandbox]\nmemory = \"1g\"\n" + std::string(kOwner) +
                           "[[users]]\nname = \"ben\"\ntrust = \"full\"\nsandbox = { memory = "
                           "\"2g\", network = \"full\", pids = 5 }\n";
  EXPECT_THAT(
      checked("sandbox_overrides", text),
      UnorderedElementsAre("10:22 info sandbox_overrides: user \"ben\" has memory = \"2g\", "
                           "which is wider than \"1g\" (coop.toml:2)",
                           "10:38 info sandbox_overrides: user \"ben\" has network = "
                           "\"full\", which is wider than \"none\" (built-in)"));
}

// --- The list -----------------------------------------------------------------------------------------

TEST(ConfigChecksTest, EveryNameIsListedOnce) {
  const std::span<const std::string_view> names = check_names();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
  for (const KeyInfo& key : keys()) EXPECT_THAT(names, Contains(key.check));
  // Gateways look for these by name.
  for (const std::string_view name :
       {"sandbox_available", "sandbox_user_namespaces", "sandbox_multiple_owners",
        "sandbox_no_owner", "sandbox_backend", "sandbox_image", "sandbox_network", "sandbox_memory",
        "sandbox_cpus", "sandbox_pids", "sandbox_overrides"})
    EXPECT_THAT(names, Contains(name));
}

}  // namespace
}  // namespace coop::policy
