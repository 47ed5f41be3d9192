// The base of every kernel and escape test: a workspace with the attacking program in it, the same
// attack outside and inside, and assertions that distinguish "refused" from "never tried".
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/files.h"
#include "support/process.h"

namespace coop::tests {

// Why no sandbox can be made on this machine; "" when one can.
const std::string& why_no_sandbox();
bool must_run();
bool is_root();

// A workspace directory that contains the attacking program as ./payload.
class Workspace {
 public:
  explicit Workspace(std::string_view parent = "/tmp");

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // The parent directory of the workspace: on the host, not visible inside.
  const TempDir& around() const { return around_; }

  // For a test that starts coop itself: with a temporary state directory.
  RunOptions options() const;

  // ./payload ATTACK without a sandbox: the control.
  Ran outside(const Arguments& attack, RunOptions options = {}) const;
  // The same as root of new user, mount and network namespaces, for calls that need a capability:
  // the control then works for an ordinary user too.
  Ran outside_with_capabilities(const Arguments& attack, RunOptions options = {}) const;
  // coop run -w WORKSPACE FLAGS -- ./payload ATTACK
  Ran inside(const Arguments& attack, const Arguments& flags = {}, RunOptions options = {}) const;
  // coop run -w WORKSPACE FLAGS -- COMMAND
  Ran run(const Arguments& command, const Arguments& flags = {}, RunOptions options = {}) const;

 private:
  TempDir around_;
  std::string path_;
};

// "ESCAPED": the attack succeeded.
testing::AssertionResult escaped(const Ran& ran);
// "BLOCKED n": the attack was really tried, and failed with one of these errors.
testing::AssertionResult blocked(const Ran& ran, std::initializer_list<int> errors);
testing::AssertionResult blocked(const Ran& ran, int error);
// Killed by the system call filter.
testing::AssertionResult killed_by_filter(const Ran& ran);

// Commands of this workspace run with the filter. For attacks that an ordinary user may not do
// outside either: there the refusal alone would also be seen without a sandbox.
testing::AssertionResult sandboxed(const Workspace& workspace);

// The JSON object `coop run --json` printed; null (and a failure) when it is not one.
nlohmann::json json_of(const Ran& ran);

// A process of the host as a target: same user, traceable, only sleeps.
class Victim {
 public:
  Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim();

  std::string pid() const { return std::to_string(pid_); }
  // Stops it, as a terminal's Ctrl-Z would.
  void stop() const;
  bool stopped() const;

 private:
  pid_t pid_;
};

// Repeats `swap` in a thread of the host until it is destroyed: the other half of a race.
class Racer {
 public:
  explicit Racer(std::function<void()> swap);

 private:
  std::jthread thread_;
};

}  // namespace coop::tests

// A test that needs a sandbox: skipped if none can be made, but fails in CI.
#define KERNEL_TEST(Suite, Name)                                          \
  static void kernel_test_##Suite##_##Name();                             \
  TEST(Suite, Name) {                                                     \
    const std::string& missing = ::coop::tests::why_no_sandbox();         \
    if (!missing.empty() && ::coop::tests::must_run()) FAIL() << missing; \
    if (!missing.empty()) GTEST_SKIP() << missing;                        \
    kernel_test_##Suite##_##Name();                                       \
  }                                                                       \
  static void kernel_test_##Suite##_##Name()
