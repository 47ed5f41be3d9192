// Accounts and settings in the minimal view.
#include <unistd.h>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

KERNEL_TEST(KernelEtc, TheCallerHasAnAccount) {
  const Workspace workspace;
  const Ran ran = workspace.run(shell("id -un; getent passwd $(id -u); getent group $(id -g)"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(":/home/user:/bin/sh\n"));
  const Ran root = workspace.run(shell("id -un"), {"--as-root"});
  EXPECT_EQ(root.out, "root\n");
}

KERNEL_TEST(KernelEtc, ServicesAndTheDistributionAreKnown) {
  const Workspace workspace;
  if (::access("/etc/services", R_OK) == 0)
    EXPECT_THAT(workspace.run({"getent", "services", "https"}).out, HasSubstr("443/tcp"));
  if (::access("/etc/os-release", R_OK) == 0)
    EXPECT_THAT(workspace.run({"cat", "/etc/os-release"}).out, HasSubstr("ID="));
}

// Links from /usr into /etc: programs find their settings through them.
KERNEL_TEST(KernelEtc, LinksInUsrLeadSomewhere) {
  const Workspace workspace;
  const std::string find =
      "find /usr -xdev -type l -lname '*etc/*' | sort | while read -r link; do "
      "[ -e \"$link\" ] || echo \"$link\"; done";
  const Ran outside = run_bare(shell(find));
  const Ran inside = workspace.run(shell(find), {"--timeout", "60s"});
  ASSERT_EQ(inside.exit_code, 0) << inside.err;
  std::string extra;
  std::istringstream lines(inside.out);
  for (std::string link; std::getline(lines, link);) {
    if (("\n" + outside.out).contains("\n" + link + "\n")) continue;
    const std::string target = std::filesystem::read_symlink(link).string();
    // Left out on purpose, with reasons in policies/etc.txt.
    if (target.ends_with("etc/environment") || target.ends_with("etc/ssl/private")) continue;
    extra += link + " -> " + target + "\n";
  }
  EXPECT_EQ(extra, "");
}

}  // namespace
}  // namespace coop::tests
