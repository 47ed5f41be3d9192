// Descriptors that were open when coop was started: each bypasses the mount view.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include "support/harness.h"

namespace coop::tests {
namespace {

// A descriptor that child processes inherit, at a chosen number.
class Inherited {
 public:
  Inherited(const std::string& path, int flags, int number) : number_(number) {
    const int fd = ::open(path.c_str(), flags);
    if (fd < 0 || ::dup2(fd, number) != number) std::abort();
    if (fd != number) ::close(fd);
  }
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;
  ~Inherited() { ::close(number_); }
  std::string number() const { return std::to_string(number_); }

 private:
  int number_;
};

KERNEL_TEST(EscapeDescriptors, AnInheritedDirectory) {
  const Workspace workspace;
  write_file(workspace.around() / "secret", "SECRET");
  for (const int number : {77, 900}) {
    const Inherited directory(workspace.around().path(), O_RDONLY | O_DIRECTORY, number);
    EXPECT_TRUE(escaped(workspace.outside({"read-at", directory.number(), "secret"})));
    EXPECT_TRUE(blocked(workspace.inside({"read-at", directory.number(), "secret"}), EBADF));
  }
}

KERNEL_TEST(EscapeDescriptors, AnInheritedFile) {
  const Workspace workspace;
  write_file(workspace.around() / "secret", "SECRET");
  const Inherited file(workspace.around() / "secret", O_RDWR, 78);
  EXPECT_TRUE(escaped(workspace.outside({"read-fd", file.number()})));
  EXPECT_TRUE(blocked(workspace.inside({"read-fd", file.number()}), EBADF));
}

KERNEL_TEST(EscapeDescriptors, NothingButTheThree) {
  const Workspace workspace;
  const Inherited root("/", O_PATH, 3);
  const Inherited self("/proc/self/ns/mnt", O_RDONLY, 79);
  EXPECT_TRUE(escaped(workspace.outside({"inherited"})));
  EXPECT_TRUE(blocked(workspace.inside({"inherited"}), EBADF));
  EXPECT_TRUE(blocked(workspace.inside({"inherited"}, {"--view", "host"}), EBADF));
}

KERNEL_TEST(EscapeDescriptors, NothingButTheThreeWhenCaptured) {
  const Workspace workspace;
  const Inherited root("/", O_PATH, 80);
  const nlohmann::json output = json_of(workspace.inside({"inherited"}, {"--json"}));
  ASSERT_TRUE(output.contains("stdout"));
  EXPECT_TRUE(output["stdout"].value("text", "").starts_with("BLOCKED 9 ")) << output.dump();
}

KERNEL_TEST(EscapeDescriptors, StandardInputOpenedASecondTimeForWriting) {
  // Opened read-only. Its link in /proc leads to the file itself, on the host's own mount.
  const Workspace workspace;
  const std::string path = workspace.around() / "input";
  write_file(path, "before");
  const int input = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(input, 0);
  const Arguments attack{"write", "/proc/self/fd/0", "AFTER!"};
  EXPECT_TRUE(escaped(workspace.outside(attack, {.input_fd = input})));
  EXPECT_EQ(read_file(path), "AFTER!");

  write_file(path, "before");
  EXPECT_TRUE(blocked(workspace.inside(attack, {}, {.input_fd = input}), {EACCES, EROFS}));
  EXPECT_EQ(read_file(path), "before");
  ::close(input);
}

KERNEL_TEST(EscapeDescriptors, StandardInputThatIsADirectory) {
  const Workspace workspace;
  write_file(workspace.around() / "secret", "SECRET");
  const int directory =
      ::open(workspace.around().path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(directory, 0);
  EXPECT_TRUE(escaped(workspace.outside({"read-at", "0", "secret"}, {.input_fd = directory})));
  // Landlock does not cover it; or coop refuses such an input with 125.
  const Ran attack = workspace.inside({"read-at", "0", "secret"}, {}, {.input_fd = directory});
  EXPECT_TRUE(attack.exit_code == 125 || blocked(attack, {EACCES, EBADF, ENOTDIR})) << attack.out;
  ::close(directory);
}

}  // namespace
}  // namespace coop::tests
