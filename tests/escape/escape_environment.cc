// What the environment contains inside, and what can be read from processes that had more.
#include "support/harness.h"

namespace coop::tests {
namespace {

void expect_left_outside(const std::string& name) {
  const Workspace workspace;
  const RunOptions options{.environment = {{name, "/evil"}}};
  EXPECT_TRUE(escaped(workspace.outside({"variable", name}, options))) << name;
  EXPECT_TRUE(blocked(workspace.inside({"variable", name}, {}, options), ENOENT)) << name;
  EXPECT_TRUE(blocked(workspace.inside({"variable", name}, {"--view", "host"}, options), ENOENT))
      << name;
  EXPECT_TRUE(
      escaped(workspace.inside({"variable", name}, {"--env", name + "=x", "--unsafe-env", name})))
      << name;
}

KERNEL_TEST(EscapeEnvironment, PreloadedLibrary) { expect_left_outside("LD_PRELOAD"); }
KERNEL_TEST(EscapeEnvironment, LibraryPath) { expect_left_outside("LD_LIBRARY_PATH"); }
KERNEL_TEST(EscapeEnvironment, AuditLibrary) { expect_left_outside("LD_AUDIT"); }
KERNEL_TEST(EscapeEnvironment, ConverterPath) { expect_left_outside("GCONV_PATH"); }
KERNEL_TEST(EscapeEnvironment, ShellStartupFiles) {
  expect_left_outside("BASH_ENV");
  expect_left_outside("ENV");
}
KERNEL_TEST(EscapeEnvironment, InterpreterStartupFiles) {
  for (const char* name : {"PYTHONSTARTUP", "PYTHONPATH", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT"})
    expect_left_outside(name);
}
KERNEL_TEST(EscapeEnvironment, ProgramsOfGit) {
  for (const char* name : {"GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_DIR", "GIT_CONFIG_GLOBAL"})
    expect_left_outside(name);
}
KERNEL_TEST(EscapeEnvironment, Credentials) {
  for (const char* name :
       {"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "DATABASE_URL"})
    expect_left_outside(name);
}
KERNEL_TEST(EscapeEnvironment, AddressesOfServers) {
  for (const char* name : {"SSH_AUTH_SOCK", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
                           "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"})
    expect_left_outside(name);
}

KERNEL_TEST(EscapeEnvironment, ExportedShellFunctions) {
  // bash imports such variables as functions: "ls" would be what the caller's shell defined.
  const Workspace workspace;
  const RunOptions options{.environment = {{"BASH_FUNC_greet%%", "() {  echo FUNCTION; }"}}};
  EXPECT_NE(run_bare({"bash", "-c", "greet"}, options).out.find("FUNCTION"), std::string::npos);
  EXPECT_EQ(workspace.run({"bash", "-c", "greet"}, {}, options).out.find("FUNCTION"),
            std::string::npos);
}

KERNEL_TEST(EscapeEnvironment, EnvironmentOfTheFirstProcess) {
  // PID 1 was not started by exec: its memory is a copy of the supervisor's, secrets included.
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  const RunOptions options{.environment = {{"API_TOKEN", "MARKER-4711"}}};
  EXPECT_TRUE(escaped(workspace.outside({"search-environment", "self", "MARKER-4711"}, options)));
  EXPECT_TRUE(blocked(
      workspace.inside({"search-environment", "1", "API_TOKEN=MARKER"}, {}, options), EACCES));
}

KERNEL_TEST(EscapeEnvironment, MemoryOfTheFirstProcess) {
  const Workspace workspace;
  EXPECT_TRUE(sandboxed(workspace));
  const RunOptions options{.environment = {{"API_TOKEN", "MARKER-4711"}}};
  EXPECT_TRUE(escaped(workspace.outside({"search-memory", "self", "MARKER-4711"}, options)));
  EXPECT_TRUE(
      blocked(workspace.inside({"search-memory", "1", "API_TOKEN=MARKER"}, {}, options), EACCES));
}

KERNEL_TEST(EscapeEnvironment, OwnMemoryHoldsNothingOfTheCallers) {
  // The needle is split, so that the program's own arguments do not match.
  const Workspace workspace;
  const RunOptions options{.environment = {{"API_TOKEN", "MARKER-4711"}}};
  const std::string script =
      "./payload search-environment $$ MARKER; ./payload search-environment self MARKER";
  EXPECT_NE(
      run_bare({"sh", "-c", "cd " + workspace.path() + "; " + script}, options).out.find("ESCAPED"),
      std::string::npos);
  EXPECT_EQ(workspace.run({"sh", "-c", script}, {}, options).out.find("ESCAPED"),
            std::string::npos);
}

}  // namespace
}  // namespace coop::tests
