// Tools that people and agents use inside: compilers, interpreters, debuggers, and coop itself.
#include <cerrno>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;

#define NEEDS(program) \
  if (!installed(program)) GTEST_SKIP() << "no " << program

KERNEL_TEST(KernelTools, CompileAndRun) {
  NEEDS("gcc");
  const Workspace workspace;
  write_file(workspace / "hello.c",
             "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 5; }\n");
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(shell("gcc -O1 -o hello hello.c && ./hello"), in_view(view));
    EXPECT_EQ(ran.exit_code, 5) << ran.err;
    EXPECT_EQ(ran.out, "compiled\n");
  }
}

KERNEL_TEST(KernelTools, WhatIsMadeInTheWorkspaceRuns) {
  NEEDS("python3");
  const Workspace workspace;
  make_directories(workspace / "tools");
  write_file(workspace / "tools/mine", "#!/bin/sh\necho mine\n");
  const std::string script =
      "chmod +x tools/mine && ./tools/mine && PATH=$PWD/tools:$PATH mine && "
      "python3 -m venv --without-pip env && env/bin/python -c 'print(\"in env\")' && rm -r env";
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run(shell(script), in_view(view));
    EXPECT_EQ(ran.out, "mine\nmine\nin env\n") << view << ran.err;
  }
}

KERNEL_TEST(KernelTools, InstallingForTheWholeSystemFailsWithAReason) {
  const Workspace workspace;
  for (const std::string& view : kViews)
    EXPECT_THAT(workspace.run(shell("LC_ALL=C touch /usr/bin/coop-test"), in_view(view)).err,
                HasSubstr("Read-only file system"));
  if (!installed("apt-get")) return;
  const Ran ran = workspace.run({"apt-get", "install", "-y", "hello"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_NE(ran.exit_code, 125) << ran.err;  // apt-get itself says it
  EXPECT_THAT(ran.err, HasSubstr("E: "));
}

KERNEL_TEST(KernelTools, PythonWithThreadsAndProcesses) {
  NEEDS("python3");
  const Workspace workspace;
  const std::string program =
      "import threading, subprocess, multiprocessing, tempfile, ssl, json\n"
      "done = []\n"
      "threads = [threading.Thread(target=done.append, args=(n,)) for n in range(20)]\n"
      "[t.start() for t in threads]; [t.join() for t in threads]\n"
      "print(len(done), subprocess.check_output(['echo', 'child']).decode().strip())\n"
      "with multiprocessing.get_context('fork').Pool(3) as pool: print(sum(pool.map(abs, "
      "range(-10, 0))))\n"
      "print(tempfile.TemporaryFile().write(b'xyz'))\n";
  for (const std::string& view : kViews) {
    const Ran ran = workspace.run({"python3", "-c", program}, in_view(view));
    EXPECT_EQ(ran.out, "20 child\n55\n3\n") << ran.err;
  }
}

KERNEL_TEST(KernelTools, BashJobsPipesAndSubstitutions) {
  const Workspace workspace;
  const std::string script =
      "set -e; diff <(seq 3) <(seq 3); x=$(seq 100 | sort -rn | head -1); (sleep 0.1; echo late > "
      "late) & wait; cat late; echo $x; "
      "cat <<< here; mkfifo pipe; echo fifo > pipe & cat pipe; ln -s late link; cat link; ln late "
      "hard; stat -c %h late";
  for (const std::string& view : kViews) {
    const Ran ran =
        workspace.run({"bash", "-c", "rm -f pipe link hard late; " + script}, in_view(view));
    EXPECT_EQ(ran.out, "late\n100\nhere\nfifo\nlate\n2\n") << ran.err;
  }
}

KERNEL_TEST(KernelTools, StraceWorksUnlessDebuggingIsDenied) {
  NEEDS("strace");
  const Workspace workspace;
  const Arguments traced{"strace", "-f", "-e", "trace=execve", "-o",
                         "trace",  "sh", "-c", "echo traced"};
  for (const std::string& view : kViews) {
    const Ran allowed = workspace.run(traced, in_view(view));
    EXPECT_EQ(allowed.out, "traced\n") << allowed.err;
    EXPECT_THAT(read_file(workspace / "trace"), HasSubstr("execve("));
    const Ran denied = workspace.run(traced, in_view(view, {"--no-debug"}));
    EXPECT_NE(denied.exit_code, 0);
    EXPECT_THAT(denied.err, HasSubstr("Operation not permitted"));
  }
}

KERNEL_TEST(KernelTools, GdbWorksUnlessDebuggingIsDenied) {
  NEEDS("gdb");
  const Workspace workspace;
  const Arguments debugged{"gdb",
                           "-nx",
                           "-batch",
                           "-ex",
                           "set debuginfod enabled off",
                           "-ex",
                           "break _exit",
                           "-ex",
                           "run",
                           "-ex",
                           "info registers",
                           "/bin/true"};
  const Ran allowed = workspace.run(debugged, {"--debug"});
  EXPECT_THAT(allowed.out,
              testing::AnyOf(HasSubstr("rip "), HasSubstr("pc "), HasSubstr("exited normally")))
      << allowed.err;
  const Ran denied = workspace.run(debugged, {"--no-debug"});
  EXPECT_THAT(denied.out + denied.err, testing::Not(HasSubstr("exited normally")));
  EXPECT_THAT(denied.out + denied.err, HasSubstr("Operation not permitted"));
}

// What is no descendant of the tracer: Yama decides as it does outside.
KERNEL_TEST(KernelTools, ARunningProcessInsideCanBeTraced) {
  const Workspace workspace;
  const std::string yama = "/proc/sys/kernel/yama/ptrace_scope";
  const bool unrestricted = !exists(yama) || read_file(yama).starts_with("0");
  const Arguments attach = shell("sleep 60 & ./payload seize $!; status=$?; kill $!; exit $status");
  const Ran allowed = workspace.run(attach);
  EXPECT_TRUE(unrestricted ? escaped(allowed) : blocked(allowed, EPERM));
  EXPECT_TRUE(blocked(workspace.run(attach, {"--no-debug"}), EPERM));
}

KERNEL_TEST(KernelTools, CoopInCoopIsRefusedWithAReason) {
  const Workspace workspace;
  copy_program(coop_binary(), workspace / "coop");
  for (const std::string& view : kViews) {
    const Ran run = workspace.run({"./coop", "run", "-w", ".", "--", "true"}, in_view(view));
    EXPECT_EQ(run.exit_code, 125) << run.out;
    EXPECT_THAT(run.err, HasSubstr("coop: "));
    EXPECT_THAT(run.err, HasSubstr("sandbox"));
    const Ran status = workspace.run({"./coop", "status"}, in_view(view));
    EXPECT_EQ(status.exit_code, 1) << status.err;
    EXPECT_THAT(status.out, HasSubstr("cannot run here"));
    EXPECT_EQ(workspace.run({"./coop", "plan"}, in_view(view)).exit_code % 125,
              0);  // a plan or a reason, no crash
  }
}

KERNEL_TEST(KernelTools, SetuidProgramsGainNothing) {
  const Workspace workspace;
  const Ran ran =
      workspace.run(shell("grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status"));
  EXPECT_THAT(ran.out, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(ran.out, HasSubstr("CapEff:\t0000000000000000"));
  NEEDS("python3");
  // PR_GET_SECUREBITS: no rights for root, no changes with ids, no ambient set; each locked.
  EXPECT_EQ(
      workspace.run({"python3", "-c", "import ctypes; print(ctypes.CDLL(None).prctl(27))"}).out,
      "239\n");
}

}  // namespace
}  // namespace coop::tests
