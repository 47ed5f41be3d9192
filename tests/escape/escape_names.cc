// Unusual file names, and commands that look like options.
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include "support/harness.h"

namespace coop::tests {
namespace {

Ran coop_in(const Workspace& workspace, const Arguments& arguments) {
  return run_coop(arguments, workspace.options());
}

// A workspace of this name works, and a sibling with the same kind of name stays hidden.
void expect_handled(const std::string& name) {
  const Workspace place(visible_place());
  const std::string workspace = place.around() / name;
  const std::string hidden = place.around() / ("hidden " + name);
  make_directories(workspace);
  make_directories(hidden);
  write_file(hidden + "/secret", "SECRET");
  copy_program(payload_binary(), workspace + "/payload");
  const auto run = [&](Arguments flags, const Arguments& attack) {
    flags.insert(flags.begin(), {"run", "-w", workspace});
    flags.insert(flags.end(), {"--", "./payload"});
    flags.insert(flags.end(), attack.begin(), attack.end());
    return run_coop(flags, place.options());
  };
  EXPECT_TRUE(escaped(run({}, {"write", "file", "x"}))) << name;
  EXPECT_EQ(read_file(workspace + "/file"), "x") << name;
  const Arguments attack{"read", hidden + "/secret"};
  EXPECT_TRUE(escaped(run({"--view", "host", "--show-home"}, attack))) << name;  // control
  EXPECT_TRUE(
      blocked(run({"--view", "host", "--show-home", "--hide", hidden}, attack), {ENOENT, EACCES}))
      << name;
}

KERNEL_TEST(EscapeNames, Newline) { expect_handled("line one\nline two"); }
KERNEL_TEST(EscapeNames, NotUtf8) { expect_handled("latin \xe9\xff name"); }
KERNEL_TEST(EscapeNames, BackslashesAndSpaces) { expect_handled("a\\040b c\\012d\t\"'$(id)`;"); }
KERNEL_TEST(EscapeNames, VeryLong) { expect_handled(std::string(240, 'n')); }
KERNEL_TEST(EscapeNames, LooksLikeAnOption) { expect_handled("--rw=.."); }

KERNEL_TEST(EscapeNames, ReportOfAQuarantinedNameIsHarmless) {
  // The report goes to a terminal and to programs that read lines.
  const Workspace workspace;
  const std::string name = ".vscode/x\n\x1b]0;owned\x07\xff";
  const Ran text = workspace.run({"sh", "-c", "mkdir .vscode && echo evil > \"$0\"", name});
  EXPECT_EQ(text.err.find('\x1b'), std::string::npos) << text.err;
  EXPECT_FALSE(exists(workspace / name));
  const Ran json =
      workspace.run({"sh", "-c", "mkdir .vscode && echo evil > \"$0\"", name}, {"--json"});
  EXPECT_FALSE(json_of(json).value("quarantined", nlohmann::json::array()).empty()) << json.out;
}

KERNEL_TEST(EscapeNames, OutputThatIsNotUtf8IsStillJson) {
  const Workspace workspace;
  const Ran ran = workspace.run({"sh", "-c", "printf 'a\\377\\0\\033[0m'"}, {"--json"});
  EXPECT_EQ(json_of(ran).value("exit_code", -1), 0);
}

KERNEL_TEST(EscapeNames, CommandThatLooksLikeAnOption) {
  // After "--" everything is the command, even "--rw /".
  const Workspace workspace;
  EXPECT_EQ(workspace.run({"--rw", "/", "true"}).exit_code, 127);
  copy_program(payload_binary(), workspace / "-x");
  EXPECT_TRUE(escaped(workspace.run({"./-x", "arguments"})));  // control: such a program can be run
}

KERNEL_TEST(EscapeNames, OptionsOfTheCommandAreNotOurs) {
  const Workspace workspace(visible_place());
  const std::string outside = workspace.around() / "outside";
  make_directories(outside);
  const Arguments options{"--view", "host", "--rw", outside};
  // Control: in front of the command they are obeyed.
  EXPECT_TRUE(escaped(workspace.inside({"write", outside + "/file", "x"}, options)));
  Arguments attack{"write", outside + "/other", "x"};
  attack.insert(attack.end(), options.begin(), options.end());
  EXPECT_TRUE(blocked(workspace.inside(attack), {ENOENT, EROFS, EACCES}));
  EXPECT_FALSE(exists(outside + "/other"));
}

KERNEL_TEST(EscapeNames, CommandWithoutTheDoubleDash) {
  // Either refused, or the command begins at the first word: what follows is never a grant.
  const Workspace workspace(visible_place());
  const std::string outside = workspace.around() / "outside";
  make_directories(outside);
  const Ran ran = coop_in(workspace, {"run", "-w", workspace.path(), "./payload", "write",
                                      outside + "/file", "x", "--view", "host", "--rw", outside});
  EXPECT_TRUE(ran.exit_code == 125 || blocked(ran, {ENOENT, EROFS, EACCES})) << ran.out;
  EXPECT_FALSE(exists(outside + "/file"));
  EXPECT_TRUE(
      escaped(coop_in(workspace, {"run", "-w", workspace.path(), "--", "./payload", "arguments"})));
}

KERNEL_TEST(EscapeNames, CommandIsNotGivenToAShell) {
  const Workspace workspace;
  const Ran ran =
      workspace.inside({"arguments", "$(touch owned)", "; touch owned", "`touch owned`", ""});
  EXPECT_NE(ran.out.find("[$(touch owned)][; touch owned][`touch owned`][]"), std::string::npos)
      << ran.out;
  EXPECT_FALSE(exists(workspace / "owned"));
  EXPECT_EQ(workspace.run({"sh", "-c", "touch owned"}).exit_code, 0);  // control
  EXPECT_TRUE(exists(workspace / "owned"));
}

KERNEL_TEST(EscapeNames, EmptyCommand) {
  const Workspace workspace;
  EXPECT_EQ(coop_in(workspace, {"run", "-w", workspace.path(), "--"}).exit_code, 125);
  EXPECT_EQ(coop_in(workspace, {"run", "-w", workspace.path(), "--", ""}).exit_code, 127);
}

KERNEL_TEST(EscapeNames, CommandFromTheCurrentDirectoryIsNotFoundByName) {
  const Workspace workspace;
  write_file(workspace / "coop-test-program", "#!/bin/sh\necho found\n");
  ASSERT_EQ(::chmod((workspace / "coop-test-program").c_str(), 0755), 0);
  EXPECT_EQ(workspace.run({"./coop-test-program"}).exit_code, 0);  // control
  EXPECT_EQ(workspace.run({"coop-test-program"}).exit_code, 127);
}

}  // namespace
}  // namespace coop::tests
