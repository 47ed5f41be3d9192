// The environment of a command: directory, variables, names, ids, clocks, network, processes.
#include <unistd.h>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

KERNEL_TEST(KernelSurroundings, TheWorkspaceIsTheDirectoryAndTheHomeIsBesideIt) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run(shell("pwd; echo $PWD $HOME $COOP_WORKSPACE")).out,
            "/work\n/work /home/user /work\n");
  const std::string& path = workspace.path();
  EXPECT_EQ(workspace.run(shell("pwd; echo $PWD $COOP_WORKSPACE"), {"--view", "host"}).out,
            path + "\n" + path + " " + path + "\n");
}

KERNEL_TEST(KernelSurroundings, AnotherDirectoryCanBeChosen) {
  const Workspace workspace;
  make_directories(workspace / "src");
  EXPECT_EQ(workspace.run({"pwd"}, {"--chdir", "/work/src"}).out, "/work/src\n");
  EXPECT_EQ(workspace.run({"pwd"}, {"-C", "/tmp"}).out, "/tmp\n");
  const Ran missing = workspace.run({"pwd"}, {"--chdir", "/work/none"});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_EQ(missing.out, "");
}

KERNEL_TEST(KernelSurroundings, OnlyAllowedAndNamedVariablesPass) {
  const Workspace workspace;
  const RunOptions options{.environment = {{"API_TOKEN", "s3cret"},
                                           {"WANTED", "yes"},
                                           {"LANG", "C.UTF-8"},
                                           {"LD_PRELOAD_X", "s3cret"}}};
  EXPECT_THAT(run_bare({"env"}, options).out, HasSubstr("s3cret"));  // control
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(
        {"env"}, in_view(view, {"--pass-env", "WANTED", "--env", "SET=a=b", "--env", "EMPTY="}),
        options);
    EXPECT_THAT(ran.out, Not(HasSubstr("s3cret")));
    for (const char* line :
         {"WANTED=yes\n", "SET=a=b\n", "EMPTY=\n", "LANG=C.UTF-8\n", "COOP_SESSION="})
      EXPECT_THAT(ran.out, HasSubstr(line));
  }
}

KERNEL_TEST(KernelSurroundings, TheHostnameIsTheSandboxesOwn) {
  const Workspace workspace;
  std::string before(256, '\0');
  ::gethostname(before.data(), before.size());
  EXPECT_EQ(workspace.run(shell("[ \"$(hostname)\" = coop-$COOP_SESSION ] && echo same")).out,
            "same\n");
  EXPECT_EQ(workspace.run({"uname", "-n"}, {"--hostname", "my-box.example"}).out,
            "my-box.example\n");
  std::string after(256, '\0');
  ::gethostname(after.data(), after.size());
  EXPECT_EQ(after, before);
}

KERNEL_TEST(KernelSurroundings, IdsAreTheCallersOrRoot) {
  const Workspace workspace;
  const std::string self = std::to_string(::geteuid()) + ":" + std::to_string(::getegid()) + "\n";
  const std::string ids = "echo $(id -u):$(id -g); touch made-by";
  EXPECT_EQ(workspace.run(shell(ids)).out, self);
  EXPECT_EQ(workspace.run(shell(ids), {"--as-self"}).out, self);
  EXPECT_EQ(workspace.run(shell(ids), {"--as-root"}).out, "0:0\n");
  // Whatever the id inside, on the host the file belongs to the caller.
  struct stat status{};
  ASSERT_EQ(::stat((workspace / "made-by").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, ::geteuid());
  EXPECT_EQ(workspace.run(shell("echo $USER"), {"--as-root"}).out, "root\n");
}

long uptime(const std::string& text) { return text.empty() ? 0 : std::stol(text); }

KERNEL_TEST(KernelSurroundings, ClocksCanBeShifted) {
  const Workspace workspace;
  const long here = uptime(read_file("/proc/uptime"));
  const long same = uptime(workspace.run({"cat", "/proc/uptime"}).out);
  EXPECT_LE(std::abs(same - here), 30);  // control
  const Ran shifted = workspace.run({"cat", "/proc/uptime"}, {"--time-offset", "86400"});
  EXPECT_LE(std::abs(uptime(shifted.out) - here - 86400), 30) << shifted.err;
  const auto wall = [](const std::string& text) { return std::stol("0" + text); };
  const Ran date = workspace.run({"date", "+%s"}, {"--time-offset", "86400"});
  EXPECT_LE(std::abs(wall(date.out) - static_cast<long>(::time(nullptr))),
            30);  // the time of day is not a namespace's
}

KERNEL_TEST(KernelSurroundings, MonotonicClockIsShiftedToo) {
  if (!installed("python3")) GTEST_SKIP() << "no python3";
  const Workspace workspace;
  const Arguments clock{"python3", "-c", "import time; print(int(time.monotonic()))"};
  const long plain = uptime(workspace.run(clock).out);
  const long shifted = uptime(workspace.run(clock, {"--time-offset", "100000"}).out);
  EXPECT_LE(std::abs(shifted - plain - 100000), 30);
}

KERNEL_TEST(KernelSurroundings, LoopbackIsTheOnlyInterfaceAndItWorks) {
  const Workspace workspace;
  const std::string interfaces = "sed -n '3,$s/:.*//p' /proc/net/dev | tr -d ' '";
  for (const std::string& view : kViews)
    EXPECT_EQ(workspace.run(shell(interfaces), in_view(view)).out, "lo\n");
  if (!installed("python3")) GTEST_SKIP() << "no python3";
  const std::string talk =
      "import socket\n"
      "for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):\n"
      "  server = socket.socket(family); server.bind((address, 0)); server.listen()\n"
      "  client = socket.create_connection(server.getsockname()[:2]); peer, _ = server.accept()\n"
      "  client.sendall(b'hello'); print(peer.recv(5).decode())\n"
      "print(socket.gethostbyname('localhost'))\n";
  EXPECT_EQ(workspace.run({"python3", "-c", talk}).out, "hello\nhello\n127.0.0.1\n");
}

KERNEL_TEST(KernelSurroundings, OutsideAddressesAreUnreachable) {
  const Workspace workspace;
  const Ran ran = workspace.run({"bash", "-c", "exec 3<>/dev/tcp/192.0.2.1/80"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_THAT(ran.err, HasSubstr("unreachable"));
}

KERNEL_TEST(KernelSurroundings, ProcShowsOnlyTheSandbox) {
  const Workspace workspace;
  const std::string pids = "ls /proc | grep -c '^[0-9]'";
  const int outside = std::stoi(run_bare(shell(pids)).out);
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(shell(pids + "; tr -d '\\0' < /proc/1/cmdline; cat /proc/1/comm"),
                                  in_view(view));
    EXPECT_LE(std::stoi(ran.out), 6) << ran.out;
    EXPECT_GT(outside, 6);
    EXPECT_THAT(ran.out,
                testing::EndsWith("\ncoop-init\n"));  // and nothing of a command line before it
  }
}

KERNEL_TEST(KernelSurroundings, TheMinimalViewHoldsWhatProgramsExpect) {
  const Workspace workspace;
  EXPECT_EQ(workspace
                .run(shell("echo x > /tmp/a && cat /tmp/a; echo y > /dev/shm/b && cat /tmp/b; echo "
                           "z > /dev/null; head -c 3 /dev/zero | wc -c; "
                           "head -c 5 /dev/urandom | wc -c; echo w > /dev/full || echo full; [ -e "
                           "/dev/fd/0 ] && echo fd"))
                .out,
            "x\ny\n3\n5\nfull\nfd\n");
  EXPECT_EQ(workspace.run(shell("ls -A /home/user /etc/shadow /root /opt 2>/dev/null")).out,
            "/home/user:\n");
  EXPECT_EQ(workspace.run({"ls", "-A", "/home"}).out, "user\n");
  EXPECT_NE(
      workspace
          .run(shell(
              "touch /new || touch /usr/new || touch /etc/new || touch /dev/new || touch /sys/new"))
          .exit_code,
      0);
}

KERNEL_TEST(KernelSurroundings, TmpIsPrivateAndLimited) {
  const Workspace workspace;
  const std::string fill = "head -c 20000000 /dev/zero > /tmp/fill; stat -c %s /tmp/fill";
  EXPECT_EQ(workspace.run(shell(fill)).out, "20000000\n");  // control
  const Ran limited = workspace.run(shell(fill), {"--tmp-size", "4m"});
  EXPECT_LE(std::stol(limited.out), 4 << 20);
  EXPECT_THAT(limited.err, HasSubstr("No space left"));
  EXPECT_EQ(workspace.run(shell("ls -A /tmp")).out, "");
}

KERNEL_TEST(KernelSurroundings, LimitsHold) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run(shell("ulimit -n; ulimit -c"), {"--open-files", "64"}).out, "64\n0\n");
  EXPECT_NE(
      workspace.run(shell("head -c 100000 /dev/zero > big"), {"--file-size", "10k"}).exit_code, 0);
  EXPECT_EQ(std::filesystem::file_size(workspace / "big"), 10240u);
  const Arguments forks{"dash", "-c",
                        "i=0; while [ $i -lt 30 ]; do sleep 1 & i=$((i+1)); done; wait; echo all"};
  EXPECT_EQ(workspace.run(forks).out, "all\n");  // control
  EXPECT_THAT(workspace.run(forks, {"--pids", "10"}).err, HasSubstr("Cannot fork"));
}

}  // namespace
}  // namespace coop::tests
