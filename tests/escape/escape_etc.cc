// What of the host's /etc reaches the minimal view.
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "kernel/support.h"
#include "policy/builtin.h"
#include "policy/credentials.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream input(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}

// Every other account of the host, and of each file in /etc whether it is the host's own.
KERNEL_TEST(EscapeEtc, AccountsOfTheHost) {
  const Workspace workspace;
  const std::set<std::string> known{"root", "nobody", "nogroup"};
  int others = 0;
  for (const char* const file : {"/etc/passwd", "/etc/group"}) {
    const Ran ran = workspace.run({"cat", file});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const std::string self = std::to_string(::geteuid());
    EXPECT_LE(lines_of(ran.out).size(), 3U) << ran.out;
    for (const std::string& line : lines_of(read_file(file))) {
      const std::string name = line.substr(0, line.find(':'));
      const std::string id = line.substr(line.find(':', name.size() + 1) + 1);
      if (known.contains(name) || id.starts_with(self + ":")) continue;
      ++others;
      EXPECT_NE(("\n" + ran.out).find("\n" + name + ":") == std::string::npos, false) << name;
    }
  }
  EXPECT_GT(others, 10);  // control: the host has accounts to be seen
  EXPECT_THAT(workspace.run(shell("id -un; id -gn")).out,
              testing::Not(HasSubstr("I have no name")));
}

KERNEL_TEST(EscapeEtc, FilesThatOnlyTheirOwnerMayRead) {
  const Workspace workspace;
  const Ran ran = workspace.run(shell("find /etc -xtype f; find /etc -xtype d"));
  ASSERT_THAT(ran.out, HasSubstr("/etc/passwd\n"));
  for (const std::string& path : lines_of(ran.out)) {
    struct stat status{};
    if (::stat(path.c_str(), &status) < 0) continue;  // coop's own
    EXPECT_NE(status.st_mode & S_IROTH, 0U) << path << " is private on the host";
  }
}

KERNEL_TEST(EscapeEtc, SecretsOfTheList) {
  const Workspace workspace;
  for (const PathRule& secret : policy::secret_rules("/nonexistent")) {
    const std::string& path = secret.path;
    if (!path.starts_with("/etc/")) continue;
    if (::access(path.c_str(), F_OK) != 0) continue;
    EXPECT_TRUE(blocked(workspace.inside({"read", path}), {ENOENT, EACCES})) << path;
  }
  if (is_root()) EXPECT_TRUE(escaped(workspace.outside({"read", "/etc/shadow"})));  // control
  EXPECT_TRUE(sandboxed(workspace));
}

// Root makes files where packages and administrators would, in a copy of /etc that only this command sees: tests that run at
// the same time would find them, and not find them any more when their sandboxes start.
KERNEL_TEST(EscapeEtc, PasswordsBesideShownSettings) {
  if (!is_root()) GTEST_SKIP() << "only root can write /etc";
  const Workspace workspace;
  const TempDir place;
  const std::string script =
      "cp -a /etc " + (place / "etc") + "; mount --bind " + (place / "etc") +
      " /etc; cd /etc; mkdir -p java-0-cooptest/management; cd java-0-cooptest; "
      "echo monitorRole s3cret > management/jmxremote.password; echo plain > net.properties; "
      "exec " +
      coop_binary() + " run -w " + workspace.path() +
      " -- sh -c 'cat /etc/java-0-cooptest/net.properties /etc/java-0-cooptest/management/*'";
  const Ran ran = run_bare({"unshare", "--mount", "sh", "-ec", script}, workspace.options());
  EXPECT_THAT(ran.out, HasSubstr("plain")) << ran.err;  // control: the directory is shown
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("s3cret")));
  EXPECT_FALSE(exists("/etc/java-0-cooptest"));
}

}  // namespace
}  // namespace coop::tests
