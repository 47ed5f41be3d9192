#include <gtest/gtest.h>

#include <cerrno>

#include "host/explain.h"
#include "host/machine/nesting.h"
#include "host/machine/trial.h"
#include "host/probe.h"

namespace coop::host {
namespace {

// --- Nesting ---------------------------------------------------------------------------------

TEST(NestingTest, MarkersCountOnlyInNamespacesOfTheirOwn) {
  EXPECT_EQ(name_nesting({.docker_marker = true, .coop_session = "s", .kubernetes = true}), "");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .docker_marker = true}), "docker");
}

TEST(NestingTest, TheInnermostAndMostCertainNameWins) {
  EXPECT_EQ(name_nesting({.own_namespaces = true}), "container");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .podman_marker = true, .container = "oci"}),
            "podman");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .docker_marker = true, .podman_marker = true}),
            "docker");
  EXPECT_EQ(name_nesting({.own_namespaces = true,
                          .docker_marker = true,
                          .podman_marker = true,
                          .container = "podman"}),
            "podman");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .container = "lxc\n"}), "lxc");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .own_groups = "0::/kubepods/x\n"}), "kubernetes");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .own_groups = "0::/libpod-1\n"}), "podman");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .docker_marker = true, .hostname = "coop-1f"}),
            "coop");
  EXPECT_EQ(name_nesting({.own_namespaces = true, .docker_marker = true, .coop_session = "1f"}),
            "coop");
}

TEST(NestingTest, AHostileNameNeverReachesTheTerminal) {
  EXPECT_EQ(name_nesting({.own_namespaces = true, .container = "\x1b[2J"}), "container");
}

// --- Why user namespaces are refused ---------------------------------------------------------

TEST(ExplainTest, DebiansSwitch) {
  EXPECT_EQ(judge_user_namespaces({.uid = 1000, .clone_allowed = 0, .seccomp_filter = true}, EPERM),
            (Feature{.reason = "kernel.unprivileged_userns_clone is 0",
                     .fix = "sudo sysctl kernel.unprivileged_userns_clone=1"}));
}

TEST(ExplainTest, UbuntusAppArmorRule) {
  const UserNamespaceClues clues{.uid = 1000,
                                 .clone_allowed = 1,
                                 .apparmor_restricts = 1,
                                 .apparmor_label = "unconfined",
                                 .program = "/usr/bin/coop"};
  const Feature expected{
      .reason =
          "kernel.apparmor_restrict_unprivileged_userns is 1 and AppArmor has no profile for coop",
      .fix =
          "add an AppArmor profile for /usr/bin/coop with \"flags=(unconfined) { userns, }\", or: "
          "sudo "
          "sysctl kernel.apparmor_restrict_unprivileged_userns=0"};
  EXPECT_EQ(judge_user_namespaces(clues, EPERM), expected);
  EXPECT_EQ(judge_user_namespaces(clues, EACCES), expected);
}

TEST(ExplainTest, ALimitOfZeroAndALimitThatIsReached) {
  EXPECT_EQ(judge_user_namespaces({.limit = 0}, ENOSPC),
            (Feature{.reason = "user.max_user_namespaces is 0",
                     .fix = "sudo sysctl user.max_user_namespaces=15000"}));
  EXPECT_EQ(judge_user_namespaces({.limit = 100}, ENOSPC).reason,
            "the limit user.max_user_namespaces is reached, or they are nested too deeply");
}

TEST(ExplainTest, AnOuterFilterIsNamedAfterItsOwner) {
  const auto reason = [](std::string outer, int error) {
    return judge_user_namespaces(
               {.uid = 1000, .seccomp_filter = true, .nested_in = std::move(outer)}, error)
        .reason;
  };
  EXPECT_EQ(reason("docker", EPERM), "docker's default seccomp profile blocks them");
  EXPECT_EQ(reason("docker", ENOSYS), "docker's default seccomp profile blocks them");
  EXPECT_EQ(reason("podman", EPERM), "podman's seccomp profile blocks them");
  EXPECT_EQ(reason("kubernetes", EPERM), "the pod's seccomp profile blocks them");
  EXPECT_EQ(reason("coop", ENOSYS), "the outer coop sandbox allows no namespaces inside it");
  EXPECT_EQ(reason("", kNotReported), "an outer seccomp filter blocks them");
}

TEST(ExplainTest, ChrootMissingMapOldKernelAndTheUnknown) {
  EXPECT_EQ(judge_user_namespaces({.changed_root = true}, EPERM).reason,
            "this is a chroot, and the kernel allows none there");
  EXPECT_EQ(judge_user_namespaces({.uid_mapped = false}, EPERM).reason,
            "our uid has no mapping in the user namespace we are in");
  EXPECT_EQ(judge_user_namespaces({}, ENOSYS),
            (Feature{.reason = "the kernel has no clone3", .fix = "use Linux 5.13 or later"}));
  EXPECT_EQ(judge_user_namespaces({.supported = false}, EINVAL),
            (Feature{.reason = "the kernel was built without them",
                     .fix = "use a kernel with CONFIG_USER_NS"}));
  EXPECT_EQ(judge_user_namespaces({.nested_in = "lxc"}, EPERM),
            (Feature{.reason = "refused: EPERM (Operation not permitted), inside lxc",
                     .fix = "allow user namespaces in the outer lxc"}));
}

TEST(ExplainTest, AConfiningProfileIsNamed) {
  EXPECT_EQ(judge_user_namespaces({.apparmor_restricts = 1,
                                   .apparmor_label = "docker-default (enforce)",
                                   .nested_in = "docker"},
                                  EPERM),
            (Feature{.reason = "the AppArmor profile docker-default (enforce) refuses them",
                     .fix = "docker run --security-opt apparmor=unconfined"}));
}

// --- Why a call in the new namespaces is refused ---------------------------------------------

TEST(ExplainTest, AMountRefusedByAFilterNeedsBothFlagsOfTheContainer) {
  const UserNamespaceClues podman{.seccomp_filter = true, .nested_in = "podman"};
  EXPECT_EQ(judge_refused_call(podman, Needed::mounts, "open_tree", EPERM),
            (Feature{.reason = "podman's seccomp profile blocks open_tree",
                     .fix = "podman run --security-opt seccomp=unconfined --security-opt "
                            "unmask=ALL"}));
  const UserNamespaceClues docker{
      .apparmor_label = "docker-default (enforce)", .seccomp_filter = true, .nested_in = "docker"};
  EXPECT_EQ(judge_refused_call(docker, Needed::mounts, "fsopen", ENOSYS),
            (Feature{.reason = "docker's default seccomp profile blocks fsopen",
                     .fix = "docker run --security-opt seccomp=unconfined --security-opt "
                            "systempaths=unconfined --security-opt apparmor=unconfined, or a "
                            "profile that allows clone3, unshare and mount"}));
  EXPECT_EQ(
      judge_refused_call({.seccomp_filter = true}, Needed::mounts, "fsopen", kNotReported).reason,
      "an outer seccomp filter blocks fsopen");
}

TEST(ExplainTest, ARefusedHostNameNeedsTheFilterGoneAndNothingElse) {
  const auto judge = [](std::string outer) {
    return judge_refused_call({.seccomp_filter = true, .nested_in = std::move(outer)},
                              Needed::hostname, "sethostname", EPERM);
  };
  EXPECT_EQ(judge("podman"), (Feature{.reason = "podman's seccomp profile blocks sethostname",
                                      .fix = "podman run --security-opt seccomp=unconfined"}));
  EXPECT_EQ(judge("docker"),
            (Feature{.reason = "docker's default seccomp profile blocks sethostname",
                     .fix = "docker run --security-opt seccomp=unconfined"}));
  EXPECT_EQ(judge("kubernetes").fix,
            "set securityContext.seccompProfile.type to Unconfined, or to a profile that allows "
            "sethostname");
}

TEST(ExplainTest, WithoutAFilterTheProfileOrTheKernelRefusesACall) {
  EXPECT_EQ(
      judge_refused_call({.apparmor_label = "docker-default (enforce)", .nested_in = "docker"},
                         Needed::mounts, "fsopen", EACCES),
      (Feature{.reason = "the AppArmor profile docker-default (enforce) refuses fsopen",
               .fix = "docker run --security-opt apparmor=unconfined"}));
  EXPECT_EQ(
      judge_refused_call({}, Needed::mounts, "mount_setattr", ENOSYS),
      (Feature{.reason = "the kernel has no mount_setattr", .fix = "use Linux 5.13 or later"}));
  EXPECT_EQ(judge_refused_call({.nested_in = "lxc"}, Needed::mounts, "pivot_root", EINVAL).reason,
            "pivot_root is refused: EINVAL (Invalid argument), inside lxc");
}

TEST(ExplainTest, AFreshProcIsRefusedWhereTheOldOneIsCovered) {
  EXPECT_EQ(judge_refused_proc("podman"),
            (Feature{.reason = "the kernel refuses a fresh /proc where parts of /proc are covered, "
                               "as podman does",
                     .fix = "podman run --security-opt unmask=ALL"}));
  EXPECT_EQ(judge_refused_proc("docker").fix, "docker run --security-opt systempaths=unconfined");
  EXPECT_EQ(judge_refused_proc("").reason,
            "the kernel refuses a fresh /proc where parts of /proc are covered");
}

TEST(ExplainTest, AMountThatTheKernelDoesNotMindCoversNothing) {
  EXPECT_FALSE(covers_proc({{.target = "/"}, {.target = "/proc"}, {.target = "/processes"}}));
  EXPECT_FALSE(covers_proc({{.target = "/proc/sys/fs/binfmt_misc"}, {.target = "/proc/fs/nfsd"}}));
  EXPECT_TRUE(covers_proc({{.target = "/proc"}, {.target = "/proc/kcore"}}));
}

}  // namespace
}  // namespace coop::host
