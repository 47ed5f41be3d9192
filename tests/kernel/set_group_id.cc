// The set-group-id bit: directories get it, as outside, and files never do (docs/adr/0026).
#include <sys/stat.h>
#include <unistd.h>

#include "coop/sandbox.h"
#include "kernel/support.h"

namespace coop::tests {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

KERNEL_TEST(KernelSetGroupId, ADirectoryGetsIt) {
  for (const Arguments& flags : {Arguments{}, Arguments{"--view", "host"}, Arguments{"--as-root"},
                                 Arguments{"--no-debug"}, Arguments{"--memory", "512m"}}) {
    const Workspace workspace;
    const Ran ran = workspace.run(shell("mkdir -m 2750 d; mkdir d/e; touch d/e/f; chmod 2711 d/e; "
                                        "chmod g+s d/e/f; echo $?; chmod u+s d; echo $?"),
                                  flags);
    EXPECT_EQ(ran.out, "1\n1\n") << ran.err;
    EXPECT_EQ(mode_of(workspace / "d"), 02750u) << ran.err;
    EXPECT_EQ(mode_of(workspace / "d/e"), 02711u);
    EXPECT_EQ(mode_of(workspace / "d/e/f") & 06000u, 0u);
  }
}

// Each call and each way to name a directory. On a kernel without fchmodat2 (before 6.6) its line is the same.
KERNEL_TEST(KernelSetGroupId, EveryCallResolvesPathsAsOutside) {
  const std::string script = R"(
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
  result = libc.syscall(*words)
  return 'done' if result == 0 else os.strerror(ctypes.get_errno())
has_flags = call(452, -1, b'', 0, 0) != os.strerror(38)
def tell(name, result, path='d'):
  print(name, result, oct(os.stat(path).st_mode & 0o7777)[2:])
  os.chmod(path, 0o700)
here = os.getcwd()
os.makedirs('a/b/d'); os.mkdir('d'); open('f', 'w').close()
os.symlink('d', 'link'); os.symlink(here + '/a/b', 'absolute'); os.symlink('../../f', 'a/b/file')
d = os.open('d', os.O_RDONLY); b = os.open('a/b', os.O_PATH)
tell('fchmod', call(91, d, 0o2751))
print('no descriptor', call(91, -100, 0o2751), call(91, -1, 0o2751), oct(os.stat('.').st_mode & 0o7000))
tell('own', call(90, b'/proc/self/fd/%d' % d, 0o2752))
tell('relative', call(90, b'd', 0o2753))
tell('absolute', call(90, here.encode() + b'/d', 0o2754))
tell('link', call(90, b'link', 0o2755))
tell('linked', call(90, b'absolute/d', 0o2756), 'a/b/d')
tell('at', call(268, b, b'd', 0o2757), 'a/b/d')
tell('up', call(268, b, b'../../d', 0o2750))
if has_flags:
  tell('flags', call(452, b, b'', 0o2741, 0x1000), 'a/b')
  tell('nofollow', call(452, -100, b'd', 0o2742, 0x100))
  print('on a link', call(452, -100, b'link', 0o2742, 0x100))
else:
  print('flags done 2741\nnofollow done 2742\non a link Operation not supported')
os.chdir('a'); tell('chdir', call(90, b'../d', 0o2743), '../d')
tell('beyond', call(90, b'../../../../../../../../..' + here.encode() + b'/d', 0o2744), '../d')
os.chdir(here)
for path in (b'f', b'a/b/file', b'none', b'', b'f/x', b'x' * 300, b'x' * 5000):
  print(path[:8].decode(), call(90, path, 0o2755))
print('pointer', call(90, ctypes.c_void_p(1), 0o2755))
print('descriptor', call(91, 999, 0o2755))
print('system', call(90, b'/usr', 0o2755))
)";
  const std::string expected =
      "fchmod done 2751\nno descriptor Bad file descriptor Bad file descriptor 0o0\nown done "
      "2752\nrelative done 2753\nabsolute done 2754\nlink done 2755\n"
      "linked done 2756\nat done 2757\nup done 2750\nflags done 2741\nnofollow done 2742\n"
      "on a link Operation not supported\nchdir done 2743\nbeyond done 2744\n"
      "f Operation not permitted\na/b/file Operation not permitted\n"
      "none No such file or directory\n No such file or directory\nf/x Not a directory\n"
      "xxxxxxxx File name too long\nxxxxxxxx File name too long\npointer Bad address\n"
      "descriptor Bad file descriptor\nsystem Read-only file system\n";
  if (sizeof(void*) != 8 || run_bare({"uname", "-m"}).out != "x86_64\n")
    GTEST_SKIP() << "the numbers are those of x86-64";
  for (const std::string& view : kViews) {
    const Workspace workspace;
    const Ran ran = workspace.run({"python3", "-c", script}, in_view(view));
    EXPECT_EQ(ran.out, expected) << view << ran.err;
  }
}

// A program that no other process may look into: coop owns the user namespace.
KERNEL_TEST(KernelSetGroupId, AProgramThatIsNotDumpableIsServedToo) {
  const Workspace workspace;
  const std::string script =
      "import ctypes, os; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); os.mkdir('d'); os.mkdir('e'); "
      "os.chmod('d', 0o2755); os.fchmod(os.open('e', os.O_RDONLY), 0o2755)";
  const Ran ran = workspace.run({"python3", "-c", script});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(mode_of(workspace / "d"), 02755u);
  EXPECT_EQ(mode_of(workspace / "e"), 02755u);
}

KERNEL_TEST(KernelSetGroupId, OtherThreadsAndSignalsDoNotDisturb) {
  const Workspace workspace;
  const std::string script = R"(
import os, signal, threading
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def work(number):
  os.mkdir(str(number))
  for mode in range(20): os.chmod(str(number), 0o2700 + mode)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(*(oct(os.stat(str(n)).st_mode & 0o7777)[2:] for n in range(4)))
)";
  const Ran ran = workspace.run({"python3", "-c", script});
  EXPECT_EQ(ran.out, "2723 2723 2723 2723\n") << ran.err;
}

KERNEL_TEST(KernelSetGroupId, CopiesKeepIt) {
  const Workspace workspace;
  workspace.run(shell("mkdir -m 2775 d && touch d/f"));
  ASSERT_EQ(mode_of(workspace / "d"), 02775u);
  const Ran ran = workspace.run(
      shell("set -e; cp -a d copied; tar cpf t.tar d; mkdir out; tar xpf t.tar -C out; "
            "python3 -c \"import shutil; shutil.copytree('d', 'tree')\"; install -d -m 2770 i"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* name : {"copied", "out/d", "tree"})
    EXPECT_EQ(mode_of(workspace / name), 02775u) << name;
  EXPECT_EQ(mode_of(workspace / "i"), 02770u);
}

KERNEL_TEST(KernelSetGroupId, ASharedRepositoryCanBeMadeAndUsed) {
  const Workspace workspace;
  const std::string identity = "git config user.name a; git config user.email a@b; ";
  const Ran made = workspace.run(
      shell("set -e; git init -q --shared=group r; cd r; " + identity +
            "echo 1 > file; git add file; git commit -q -m one; git log --oneline | wc -l"));
  EXPECT_EQ(made.out, "1\n") << made.err;
  EXPECT_EQ(made.err.find("quarantined"), std::string::npos) << made.err;
  EXPECT_EQ(mode_of(workspace / "r/.git/objects"), 02775u);
  // A repository of the user's own, whose .git the supervisor serves where there is FUSE.
  const std::string own = "set -e; git init -q --shared=group own; cd own; " + identity +
                          "echo 1 > file; git add file; git commit -q -m one";
  ASSERT_EQ(run_bare(shell("cd " + workspace.path() + " && " + own), workspace.options()).exit_code,
            0);
  const Ran used = workspace.run(
      shell("set -e; cd own; echo 2 > file; git commit -q -a -m two; git branch topic; git gc -q; "
            "mkdir .git/mine; chmod 2775 .git/mine; git log --oneline | wc -l"));
  EXPECT_EQ(used.out, "2\n") << used.err;
  EXPECT_EQ(mode_of(workspace / "own/.git/mine"), 02775u);
  EXPECT_EQ(mode_of(workspace / "own/.git"), 02775u);
}

// Some container runtimes have a listener of their own, and a process tree can have one only.
KERNEL_TEST(KernelSetGroupId, UnderAnotherListenerItIsRefusedAndNothingHangs) {
  const std::string script = R"(
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
allow = struct.pack('HBBI', 6, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(allow, 8)
class Program(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('code', ctypes.c_void_p)]
libc.prctl(38, 1, 0, 0, 0)
listener = libc.syscall(317, 1, 8, ctypes.byref(Program(1, ctypes.addressof(code))))
print('listener', listener >= 0, flush=True)
os.set_inheritable(listener, True)
os.execv(sys.argv[1], sys.argv[1:])
)";
  if (run_bare({"uname", "-m"}).out != "x86_64\n")
    GTEST_SKIP() << "the numbers are those of x86-64";
  const Workspace workspace;
  const Ran ran =
      run_bare({"python3", "-c", script, coop_binary(), "run", "--quiet", "-w", workspace.path(),
                "--", "sh", "-c", "mkdir d; chmod 2755 d 2>&1; chmod 700 d && echo fine"},
               workspace.options());
  EXPECT_EQ(ran.out,
            "listener True\nchmod: changing permissions of 'd': Function not implemented\nfine\n")
      << ran.err;
  EXPECT_EQ(mode_of(workspace / "d"), 0700u);
}

// No caller waits: a thread answers.
KERNEL_TEST(KernelSetGroupId, ASpawnedCommandDoesNotWaitForItsCaller) {
  const Workspace workspace;
  const Policy policy{.workspace = workspace.path()};
  const Command command{.arguments = {"sh", "-c", "mkdir -m 2755 d; exec sleep 60"}};
  const auto has_bit = [&](const char* name) {
    return eventually([&] { return mode_of(workspace / name) == 02755u; });
  };
  Result<Sandbox> box = spawn(policy, command, {});
  ASSERT_TRUE(box.has_value());
  EXPECT_TRUE(has_bit("d"));
  EXPECT_TRUE(box->kill().has_value());
  EXPECT_EQ(box->wait()->outcome, Outcome::signalled);

  Result<Pool> pool = Pool::create(policy, 1);
  ASSERT_TRUE(pool.has_value());
  const Command other{.arguments = {"sh", "-c", "mkdir -m 2755 e; exec sleep 60"}};
  Result<Sandbox> pooled = pool->spawn(other, {});
  ASSERT_TRUE(pooled.has_value());
  EXPECT_TRUE(has_bit("e"));
  EXPECT_TRUE(pooled->kill().has_value());
  EXPECT_EQ(pooled->wait()->outcome, Outcome::signalled);
  const Command third{.arguments = {"mkdir", "-m", "2755", "f"}};
  EXPECT_EQ(pool->exec(third)->exit_code, 0);
  EXPECT_EQ(mode_of(workspace / "f"), 02755u);
}

}  // namespace
}  // namespace coop::tests
