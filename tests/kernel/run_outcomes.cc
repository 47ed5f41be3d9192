// Exit codes, output and usage: the result of a run.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kernel/support.h"

namespace coop::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

KERNEL_TEST(KernelOutcome, TheCommandsOwnExitCodeComesThrough) {
  const Workspace workspace;
  for (const int code : {0, 1, 3, 77, 255})
    EXPECT_EQ(workspace.run(shell("exit " + std::to_string(code))).exit_code, code);
}

KERNEL_TEST(KernelOutcome, ASignalIs128PlusItsNumber) {
  const Workspace workspace;
  for (const int number : {SIGTERM, SIGKILL, SIGSEGV, SIGABRT})
    EXPECT_EQ(workspace.run(shell("kill -" + std::to_string(number) + " $$")).exit_code,
              128 + number);
}

KERNEL_TEST(KernelOutcome, ATimeoutIs124) {
  const Workspace workspace;
  const auto started = std::chrono::steady_clock::now();
  const Ran ran = workspace.run({"sleep", "60"}, {"--timeout", "300ms"});
  EXPECT_EQ(ran.exit_code, 124);
  EXPECT_THAT(ran.err, HasSubstr("timeout"));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(50));
  EXPECT_EQ(workspace.run({"sleep", "0.1"}, {"--timeout", "20s"}).exit_code, 0);  // control
}

KERNEL_TEST(KernelOutcome, CoopsOwnFailuresAre125WithASentence) {
  const Workspace workspace;
  const auto refused = [&](const Arguments& arguments) {
    const Ran ran = run_coop(arguments, {.directory = workspace.path()});
    EXPECT_EQ(ran.exit_code, 125) << ran.out;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, testing::StartsWith("coop: "));
    return ran.err;
  };
  EXPECT_THAT(refused({"run"}), HasSubstr("there is no command"));
  EXPECT_THAT(refused({"run", "--no-such-flag", "--", "true"}), HasSubstr("--no-such-flag"));
  EXPECT_THAT(refused({"run", "--ro", "/no/such", "--", "true"}),
              HasSubstr("\"/no/such\" does not exist"));
  EXPECT_THAT(refused({"run", "-w", "/no/such", "--", "true"}), HasSubstr("workspace"));
  EXPECT_THAT(refused({"run", "-w", "/", "--", "true"}), HasSubstr("whole machine"));
  EXPECT_THAT(refused({"run", "--network", "host", "--", "true"}),
              HasSubstr("--unsafe host_network"));
  EXPECT_THAT(refused({"frobnicate"}), HasSubstr("unknown command"));
}

KERNEL_TEST(KernelOutcome, WhatCannotBeRunIs126AndWhatIsNotThere127) {
  const Workspace workspace;
  write_file(workspace / "text", "just text\n");
  for (const std::string& view : kViews) {
    EXPECT_EQ(workspace.run({"no-such-program"}, in_view(view)).exit_code, 127);
    EXPECT_EQ(workspace.run({"./no-such-program"}, in_view(view)).exit_code, 127);
    EXPECT_EQ(workspace.run({"./text"}, in_view(view)).exit_code, 126);
    EXPECT_EQ(workspace.run({"/"}, in_view(view)).exit_code, 126);
  }
  write_file(workspace / "script", "#!/no/such/interpreter\n");
  std::filesystem::permissions(workspace / "script", std::filesystem::perms::owner_all);
  EXPECT_EQ(workspace.run({"./script"}).exit_code, 127);
}

// One line, which says where it is and what would show it.
KERNEL_TEST(KernelOutcome, AProgramThatIsOnlyOutsideIsNamedWithTheFlagThatShowsIt) {
  const Workspace workspace{visible_place()};
  const std::string tools = workspace.around() / "tools/bin";
  make_directories(tools);
  write_file(tools + "/only-outside", "#!/bin/sh\necho ran\n");
  std::filesystem::permissions(tools + "/only-outside", std::filesystem::perms::owner_all);
  RunOptions options = workspace.options();
  options.environment["PATH"] = tools + ":/usr/local/bin:/usr/bin:/bin";
  const auto line = [&](const Arguments& command, const Arguments& flags = {}) {
    const Ran ran = workspace.run(command, flags, options);
    EXPECT_EQ(ran.exit_code, 127) << ran.out;
    return ran.err;
  };
  EXPECT_EQ(line({"no-such-program"}),
            "coop: \"no-such-program\" was not found inside the sandbox, and is not on the PATH "
            "outside\n");
  const std::string found = line({"only-outside"});
  EXPECT_THAT(found, HasSubstr("outside it is " + tools + "/only-outside; to show it: --ro " +
                               workspace.around() / "tools" + " -- " + tools + "/only-outside"));
  EXPECT_EQ(std::ranges::count(found, '\n'), 1) << found;
  // What the line says works.
  EXPECT_EQ(workspace.run({tools + "/only-outside"}, {"--ro", workspace.around() / "tools"}).out,
            "ran\n");
  // A link of a virtual environment, and a first line.
  make_symlink(tools + "/only-outside", workspace / "linked");
  write_file(workspace / "script", "#!" + tools + "/only-outside\n");
  std::filesystem::permissions(workspace / "script", std::filesystem::perms::owner_all);
  EXPECT_THAT(line({"./linked"}), HasSubstr("is a symlink to " + tools +
                                            "/only-outside, which is "
                                            "not in the sandbox; to show it: --ro "));
  EXPECT_THAT(line({"./script"}), HasSubstr("needs " + tools + "/only-outside (its first line)"));
  const nlohmann::json json = json_of(workspace.run({"./script"}, {"--json"}, options));
  EXPECT_THAT(json["notes"].dump(), HasSubstr("its first line"));
}

KERNEL_TEST(KernelOutcome, ValuesWithWhichNothingRunsAreRefusedWithTheSmallest) {
  const Workspace workspace;
  struct Case {
    std::string flag, value, least, key;
  };
  for (const auto& [flag, value, least, key] :
       {Case{"--memory", "2", "4m", "memory"}, Case{"--pids", "0", "2", "pids_limit"},
        Case{"--pids", "1", "2", "pids_limit"}, Case{"--cpus", "0", "0.01", "cpus"},
        Case{"--cpus", "0.001", "0.01", "cpus"}, Case{"--tmp-size", "1", "4k", "tmp_size"},
        Case{"--open-files", "1", "8", "open_files"}, Case{"--file-size", "0", "1", "file_size"},
        Case{"--timeout", "0", "1ms", "timeout"}}) {
    const Ran ran = workspace.run({"true"}, {flag, value});
    EXPECT_EQ(ran.exit_code, 125) << flag;
    EXPECT_THAT(ran.err, HasSubstr(flag + ": must be at least " + least));
    // The smallest itself can be used.
    if (flag != "--timeout" && flag != "--open-files")
      EXPECT_EQ(workspace.run({"true"}, {flag, least}).exit_code, 0) << flag;
    const TempDir home;
    make_directories(home / ".config/coop");
    write_file(home / ".config/coop/policy.toml", "[sandbox]\n" + key + " = " + value + "\n");
    RunOptions options = workspace.options();
    options.environment["HOME"] = home.path();
    options.environment["XDG_CONFIG_HOME"] = home / ".config";
    const Ran by_file = workspace.run({"true"}, {}, options);
    EXPECT_EQ(by_file.exit_code, 125) << key;
    EXPECT_THAT(by_file.err, HasSubstr("policy.toml:2:"));
    EXPECT_THAT(by_file.err, HasSubstr(key + ": must be at least " + least));
  }
}

KERNEL_TEST(KernelOutcome, JsonHasEveryField) {
  const Workspace workspace;
  const Ran ran = workspace.run(shell("echo out; echo err >&2; exit 7"), {"--json"});
  EXPECT_EQ(ran.exit_code, 7);
  nlohmann::json json = json_of(ran);
  EXPECT_TRUE(json["session"].is_string() && json["session"].get<std::string>().size() == 8)
      << ran.out;
  const nlohmann::json usage = json["usage"];
  json.erase("session");
  json.erase("usage");
  json.erase("notes");
  const nlohmann::json expected{
      {"exit_code", 7},
      {"outcome", "exited"},
      {"signal", 0},
      {"stdout", {{"text", "out\n"}, {"total_bytes", 4}, {"truncated", false}, {"lossy", false}}},
      {"stderr", {{"text", "err\n"}, {"total_bytes", 4}, {"truncated", false}, {"lossy", false}}},
      {"denials", nlohmann::json::array()},
      {"quarantined", nlohmann::json::array()},
      {"quarantined_total", 0},
      {"network", nlohmann::json::array()},
      {"unreached", nlohmann::json::array()}};
  EXPECT_EQ(json, expected);
  for (const char* field : {"wall_us", "user_us", "system_us", "peak_memory"})
    EXPECT_TRUE(usage[field].is_number_unsigned() || usage[field].is_number_integer()) << field;
}

KERNEL_TEST(KernelOutcome, JsonNamesTheOutcome) {
  const Workspace workspace;
  const auto outcome = [&](const Arguments& command, Arguments flags = {}) {
    flags.push_back("--json");
    return json_of(workspace.run(command, flags))["outcome"].get<std::string>();
  };
  EXPECT_EQ(outcome({"true"}), "exited");
  EXPECT_EQ(outcome(shell("kill -9 $$")), "signalled");
  EXPECT_EQ(outcome({"sleep", "60"}, {"--timeout", "200ms"}), "timed_out");
  EXPECT_EQ(outcome({"no-such-program"}), "not_found");
  EXPECT_EQ(outcome({"/"}), "not_executable");
}

KERNEL_TEST(KernelOutcome, AFileThatCannotBeExecutedIsExplained) {
  const Workspace workspace;
  write_file(workspace / "plain", "echo x\n");
  EXPECT_THAT(workspace.run({"./plain"}).err, testing::HasSubstr("needs chmod +x"));
  ::chmod((workspace / "plain").c_str(), 0755);
  EXPECT_THAT(workspace.run({"./plain"}).err, testing::HasSubstr("no #! line"));
  const Ran ran = run_coop({"run", "-w", workspace / "plain", "--", "true"});
  EXPECT_THAT(ran.err, testing::HasSubstr(workspace.path() + " is the one it is in"));
}

KERNEL_TEST(KernelOutcome, JsonIsValidWhateverBytesTheCommandPrints) {
  const Workspace workspace;
  const Ran ran = workspace.run(
      shell("head -c 100000 /dev/urandom; printf '\\377\\300\\033[31m\"\\\\'"), {"--json"});
  EXPECT_EQ(json_of(ran)["stdout"]["total_bytes"], 100000 + 9);
  EXPECT_EQ(json_of(ran)["stdout"]["lossy"], true);
}

KERNEL_TEST(KernelOutcome, CapturedOutputKeepsItsHeadAndTail) {
  const Workspace workspace;
  const Ran ran =
      workspace.run(shell("echo HEAD; head -c 5000000 /dev/zero | tr '\\0' x; echo TAIL"),
                    {"--json", "--output-limit", "1k"});
  const nlohmann::json captured = json_of(ran)["stdout"];
  const std::string text = captured["text"];
  EXPECT_EQ(captured["total_bytes"], 5000010);
  EXPECT_EQ(captured["truncated"], true);
  EXPECT_TRUE(text.starts_with("HEAD\n")) << text.substr(0, 50);
  EXPECT_TRUE(text.ends_with("TAIL\n"));
  EXPECT_THAT(text, HasSubstr("bytes cut"));
  EXPECT_LT(text.size(), 1200u);
}

KERNEL_TEST(KernelOutcome, UsageIsPlausible) {
  const Workspace workspace;
  const auto usage = [&](const std::string& script) {
    return json_of(workspace.run(shell(script), {"--json"}))["usage"];
  };
  const nlohmann::json idle = usage("sleep 0.4");
  EXPECT_GE(idle["wall_us"], 400000);
  EXPECT_LT(idle["wall_us"], 20000000);
  EXPECT_LT(idle["user_us"].get<long>() + idle["system_us"].get<long>(), 300000);
  const nlohmann::json busy = usage("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
  EXPECT_GT(busy["user_us"], 20000);
  EXPECT_LE(busy["user_us"].get<long>() + busy["system_us"].get<long>(),
            busy["wall_us"].get<long>() * 2);
  const nlohmann::json large = usage("head -c 50000000 /dev/zero | tail -c 50000000 >/dev/null");
  EXPECT_GT(large["peak_memory"], 40000000);
  EXPECT_LT(idle["peak_memory"], 40000000);
}

KERNEL_TEST(KernelStreams, ALotPassesThroughUnchanged) {
  // 64 MiB in and out, compared by checksum: nothing is relayed, copied or changed.
  const Workspace workspace;
  const Ran ran = run_bare(
      {"bash", "-c",
       "head -c 67108864 /dev/urandom > in; sha256sum < in; " + coop_binary() +
           " run -- cat < in | sha256sum; cat in | " + coop_binary() + " run -- cat | sha256sum"},
      workspace.options());
  std::istringstream lines(ran.out);
  std::string direct, from_file, from_pipe;
  std::getline(lines, direct);
  std::getline(lines, from_file);
  std::getline(lines, from_pipe);
  EXPECT_EQ(direct.size(), 67u) << ran.err;
  EXPECT_EQ(from_file, direct);
  EXPECT_EQ(from_pipe, direct);
}

KERNEL_TEST(KernelStreams, StandardInputReachesTheCommand) {
  const Workspace workspace;
  EXPECT_EQ(workspace.run({"cat"}, {}, {.input = "typed\n"}).out, "typed\n");
  EXPECT_EQ(json_of(workspace.run({"cat"}, {"--json"}, {.input = "typed\n"}))["stdout"]["text"],
            "typed\n");
}

KERNEL_TEST(KernelStreams, OutputAndErrorsStayApart) {
  const Workspace workspace;
  const Ran ran = workspace.run(shell("echo out; echo err >&2"));
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
}

KERNEL_TEST(KernelStreams, AReaderThatGoesAwayEndsTheWriter) {
  const Workspace workspace;
  const Ran ran =
      run_bare({"bash", "-c", coop_binary() + " run -- yes | head -1; echo ${PIPESTATUS[0]}"},
               workspace.options());
  EXPECT_EQ(ran.out, "y\n141\n") << ran.err;
}

KERNEL_TEST(KernelStreams, ClosedStandardStreamsAreNotFilledWithFilesOfOurs) {
  const Workspace workspace;
  const Ran ran = run_bare(
      {"bash", "-c",
       coop_binary() +
           " run -- sh -c 'echo lost; echo lost >&2; cat; ls -l /proc/self/fd > fds' <&- >&- 2>&-"},
      workspace.options());
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(read_file(workspace / "fds"), HasSubstr("/dev/null"));
  EXPECT_THAT(read_file(workspace / "fds"), Not(HasSubstr("socket:")));
}

}  // namespace
}  // namespace coop::tests
