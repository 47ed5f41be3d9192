// Small things the kernel tests share.
#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "support/harness.h"

namespace coop::tests {

inline Arguments shell(const std::string& script) { return {"sh", "-c", script}; }

inline bool installed(const std::string& program) {
  return run_bare({"sh", "-c", "command -v " + program + " >/dev/null"}).exit_code == 0;
}

// Waits up to five seconds.
inline bool eventually(const std::function<bool()>& condition) {
  for (int attempt = 0; attempt < 3000; ++attempt) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

// Every name below `directory` with its kind, mode and size: what a run must not change.
inline std::set<std::string> listing_of(const std::string& directory) {
  std::set<std::string> lines;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, ignored)) {
    const auto status = entry.symlink_status(ignored);
    std::string line = entry.path().string() + " " +
                       std::to_string(static_cast<int>(status.type())) + " " +
                       std::to_string(static_cast<int>(status.permissions()));
    if (entry.is_regular_file(ignored)) line += " " + std::to_string(entry.file_size(ignored));
    lines.insert(line);
  }
  return lines;
}

// The views a behaviour has to be the same in.
inline const Arguments kViews{"minimal", "host"};

inline Arguments in_view(const std::string& view, Arguments flags = {}) {
  flags.insert(flags.begin(), {"--view", view});
  return flags;
}

}  // namespace coop::tests
