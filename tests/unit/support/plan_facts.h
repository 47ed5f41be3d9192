// A made-up machine for tests of the planner, and ways to look at a plan as values.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plan/compile.h"
#include "plan/show/steps.h"
#include "report/plan.h"
#include "unit/support/origins.h"

namespace coop::plan {

using Actions = std::vector<Action>;

inline void add_path(HostFacts& host, const Path& path, PathKind kind = PathKind::directory) {
  host.paths[path] = PathFact{.kind = kind, .target_kind = kind, .canonical = path};
}

inline void add_link(HostFacts& host, const Path& path, const std::string& text,
                     const Path& canonical, PathKind kind = PathKind::directory) {
  host.paths[path] = PathFact{
      .kind = PathKind::symlink, .target_kind = kind, .canonical = canonical, .link = text};
}

inline constexpr const char* kProject = "/home/ann/project";

// Ann, an ordinary user. Only what every plan needs is on her disk; tests add the rest.
inline HostFacts anns_machine() {
  HostFacts host;
  host.inotify_instances = 128;
  host.inotify_watches = 65536;
  host.kernel = {6, 12};
  host.kernel_release = "6.12.0";
  host.architecture = "x86_64";
  host.uid = 1000;
  host.gid = 1000;
  host.user = "ann";
  host.home = "/home/ann";
  host.working_directory = kProject;
  host.state_directory = "/home/ann/.local/state/coop";
  host.environment = {{"HOME", "/home/ann"}, {"PATH", "/usr/bin:/bin"}, {"TERM", "xterm"}};
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts", "cgroup", "time"})
    host.namespaces[name] = Feature{.available = true};
  host.landlock_abi = 7;
  host.seccomp.available = true;
  for (const char* path :
       {"/usr", "/proc", "/dev", "/dev/pts", "/run", "/tmp", "/home/ann", kProject})
    add_path(host, path);
  add_link(host, "/bin", "usr/bin", "/usr/bin");
  add_path(host, "/dev/null", PathKind::device);
  return host;
}

inline Policy policy_for(View view) {
  return Policy{.id = "test", .view = view, .workspace = kProject};
}

inline PathRule rule(RuleKind kind, const Path& path) {
  const char* const origins[] = {"--ro", "--rw", "--hide", "--overlay", "--tmpfs", "--protect"};
  return {.kind = kind,
          .path = path,
          .origin = Origin::of_flag(origins[static_cast<int>(kind)]),
          .reason = "asked for"};
}

inline Plan must_compile(const Policy& policy, const HostFacts& host) {
  Result<Plan> plan = compile(policy, host);
  if (plan) return *plan;
  ADD_FAILURE() << to_text(plan.error());
  return {};
}

inline Error must_fail(const Policy& policy, const HostFacts& host) {
  Result<Plan> plan = compile(policy, host);
  if (!plan) return plan.error();
  ADD_FAILURE() << "compiled: " << report::plan_text(*plan, report::Detail::steps);
  return {};
}

inline Actions actions_of(const Plan& plan) {
  Actions actions;
  for (const Step& step : plan.steps) actions.push_back(step.action);
  return actions;
}

inline Path target_of(const Action& action) {
  return std::visit(
      [](const auto& step) -> Path {
        if constexpr (requires { step.target; }) return step.target;
        return {};
      },
      action);
}

// The steps that do something at `path` or below it, in order.
inline Actions about(const Plan& plan, const Path& path) {
  Actions actions = actions_of(plan);
  std::erase_if(actions, [&](const Action& action) {
    const Path target = target_of(action);
    return target.empty() || !is_within(target, path);
  });
  return actions;
}

inline std::string listing(const Actions& actions) {
  std::string text;
  for (const Action& action : actions) text += "  " + sentence(action) + "\n";
  return text;
}

inline testing::AssertionResult same(const Actions& actual, const Actions& expected) {
  if (actual == expected) return testing::AssertionSuccess();
  const auto [left, right] = std::ranges::mismatch(actual, expected);
  return testing::AssertionFailure()
         << "they differ from number " << left - actual.begin() + 1 << " on\nactual:\n"
         << listing(actual) << "expected:\n"
         << listing(expected);
}

template <typename T>
std::vector<T> all_of(const Plan& plan) {
  std::vector<T> found;
  for (const Step& step : plan.steps)
    if (const T* action = std::get_if<T>(&step.action)) found.push_back(*action);
  return found;
}

inline constexpr MountFlags kReadOnly{};
inline constexpr MountFlags kReadWrite{.access = Access::read_write};
inline constexpr std::uint64_t kTmpSize = std::uint64_t{512} << 20;

inline TmpfsMount tmpfs_at(const Path& target, std::uint32_t mode = 0755) {
  return {.target = target, .size = kTmpSize, .inodes = 65536, .mode = mode};
}

}  // namespace coop::plan
