// What the tests of guarded files share: attacks on a guard, and what the run reported as quarantined.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "support/harness.h"

namespace coop::tests {

inline nlohmann::json run_script(const Workspace& workspace, const std::string& script,
                                 const Arguments& flags = {}, const RunOptions& options = {}) {
  Arguments all{"--json"};
  all.insert(all.end(), flags.begin(), flags.end());
  return json_of(workspace.run({"sh", "-c", script}, all, options));
}

// The entry for `path` or for a directory above it.
inline nlohmann::json entry_for(const nlohmann::json& output, const std::string& path) {
  for (const nlohmann::json& entry : output.value("quarantined", nlohmann::json::array())) {
    const std::string taken = entry.value("path", "?");
    if (path == taken || path.starts_with(taken + "/")) return entry;
  }
  return {};
}

// The control is the same attack with this guard switched off.
inline void expect_guarded(const Workspace& workspace, const Arguments& attack,
                           const std::string& guard, std::initializer_list<int> errors) {
  EXPECT_TRUE(blocked(workspace.inside(attack), errors)) << attack[1];
  EXPECT_TRUE(blocked(workspace.inside(attack, {"--view", "host"}), errors)) << attack[1];
  EXPECT_TRUE(escaped(workspace.inside(attack, {"--allow-guarded", guard}))) << attack[1];
}

}  // namespace coop::tests
