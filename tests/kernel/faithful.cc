// What programs expect of a machine and find inside too.
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

KERNEL_TEST(KernelFaithful, RunAndVarTmpCanBeWritten) {
  const Workspace workspace;
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(
        shell("echo a > /run/x.pid && echo b > /var/tmp/x && cat /run/x.pid /var/tmp/x"),
        in_view(view));
    EXPECT_EQ(ran.out, "a\nb\n") << view << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists("/run/x.pid"));
  EXPECT_FALSE(std::filesystem::exists("/var/tmp/x"));
}

KERNEL_TEST(KernelFaithful, PortsBelow1024CanBeBound) {
  const Workspace workspace;
  const std::string bind =
      "import socket; s = socket.socket(); s.bind(('127.0.0.1', 80)); s.listen(); print('bound')";
  for (const std::string& view : kViews)
    EXPECT_EQ(workspace.run({"python3", "-c", bind}, in_view(view)).out, "bound\n") << view;
}

KERNEL_TEST(KernelFaithful, FilesInTmpFollowItsSize) {
  const Workspace workspace;
  const std::string files = "stat -f -c %c /tmp";
  EXPECT_EQ(workspace.run(shell(files)).out, "65536\n");
  EXPECT_EQ(workspace.run(shell(files), {"--tmp-size", "2g"}).out, "262144\n");
}

// One group is mapped, so gid=5 (tty) would be refused by the kernel: a terminal belongs to the caller's own group.
KERNEL_TEST(KernelFaithful, TerminalsBelongToTheCallersGroup) {
  const Workspace workspace;
  const std::string look =
      "import os; m, s = os.openpty(); t = os.fstat(s); print(oct(t.st_mode)[-3:], t.st_gid == "
      "os.getgid())";
  EXPECT_EQ(workspace.run({"python3", "-c", look}).out, "620 True\n");
}

KERNEL_TEST(KernelFaithful, ProcessorsAndMemoryNodesAreShownReadOnly) {
  const Workspace workspace;
  if (::access("/sys/devices/system/cpu/possible", R_OK) != 0) GTEST_SKIP() << "no such host";
  for (const std::string& view : kViews) {
    const Ran ran =
        workspace.run(shell("lscpu | grep '^CPU(s):'; cat /sys/devices/system/cpu/online; ls /sys "
                            "/sys/devices /sys/devices/system"),
                      in_view(view));
    EXPECT_THAT(ran.out, HasSubstr("CPU(s):")) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(read_file("/sys/devices/system/cpu/online")));
    EXPECT_THAT(ran.out, HasSubstr("/sys:\ndevices\n\n/sys/devices:\nsystem\n"));
  }
}

KERNEL_TEST(KernelFaithful, NamesFailAtOnceWithoutANetwork) {
  const Workspace workspace;
  for (const std::string& view : kViews) {
    const Ran servers = workspace.run(shell("grep -c ^nameserver /etc/resolv.conf"), in_view(view));
    EXPECT_THAT(servers.out, testing::AnyOf("0\n", "")) << view;
    // By the name in /etc/hosts, as a program asks for its own address.
    const Ran own = workspace.run(shell("getent ahosts $(uname -n) | head -1"), in_view(view));
    EXPECT_THAT(own.out, testing::AnyOf(HasSubstr("127.0.1.1"), HasSubstr("::1"))) << view;
  }
}

KERNEL_TEST(KernelFaithful, MessageQueuesWork) {
  if (::access("/proc/sys/fs/mqueue", F_OK) != 0)
    GTEST_SKIP() << "no message queues in this kernel";
  const Workspace workspace;
  write_file(workspace / "q.py", R"(
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
class Attr(ctypes.Structure):
  _fields_ = [(n, ctypes.c_long) for n in ('flags', 'most', 'size', 'now')] + [('pad', ctypes.c_long * 4)]
q = libc.mq_open(b'/coop', os.O_CREAT | os.O_RDWR, 0o600, ctypes.byref(Attr(0, 4, 64, 0)))
print('open', q >= 0, os.strerror(ctypes.get_errno()) if q < 0 else '')
libc.mq_send(q, b'hello', 5, 0)
buffer = ctypes.create_string_buffer(64)
print('got', libc.mq_receive(q, buffer, 64, None), buffer.value.decode())
print('listed', os.listdir('/dev/mqueue'), libc.mq_unlink(b'/coop'), os.listdir('/dev/mqueue'))
)");
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run({"python3", "q.py"}, in_view(view));
    EXPECT_EQ(ran.out, "open True \ngot 5 hello\nlisted ['coop'] 0 []\n") << view << ran.err;
  }
}

KERNEL_TEST(KernelFaithful, AForeignOwnerIsRefusedAsOutside) {
  const Workspace workspace;
  const std::string script =
      "import os\n"
      "open('f', 'w').close()\n"
      "for call in (lambda: os.chown('f', 4242, -1), lambda: os.lchown('f', -1, 4242),\n"
      "             lambda: os.fchown(os.open('f', 0), 4242, 4242), lambda: os.setuid(4242)):\n"
      "  try: call(); print('done')\n"
      "  except OSError as error: print(error.errno)\n"
      "os.chown('f', os.getuid(), os.getgid()); os.chown('f', -1, -1); print('own')\n";
  for (const Arguments& flags : {Arguments{}, Arguments{"--as-root"}})
    EXPECT_EQ(workspace.run({"python3", "-c", script}, flags).out, "1\n1\n1\n1\nown\n");
}

KERNEL_TEST(KernelFaithful, TheCoreLimitIsZeroAndCanBeRaised) {
  const Workspace workspace;
  struct rlimit outside{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &outside), 0);
  const std::string most =
      outside.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(outside.rlim_max / 512);
  EXPECT_EQ(
      workspace.run(shell("set -e; ulimit -S -c; ulimit -H -c; ulimit -c " + most + "; ulimit -c"))
          .out,
      "0\n" + most + "\n" + most + "\n");
}

}  // namespace
}  // namespace coop::tests
