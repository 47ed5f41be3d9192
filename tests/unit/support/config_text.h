// A coop.toml in a test: its text becomes a configuration and what was found wrong with it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "policy/people/config.h"

namespace coop::policy {

struct ReadConfig {
  Config config{};
  Findings findings{};

  // "3:9 error trust: … [fix]" each, for comparing whole lists.
  std::vector<std::string> found() const {
    std::vector<std::string> lines;
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.file, "coop.toml");
      std::string line = std::to_string(finding.at.line) + ":" + std::to_string(finding.at.column) +
                         " " + std::string(to_text(finding.severity)) + " " + finding.check + ": " +
                         finding.message;
      if (!finding.fix.empty()) line += " [" + finding.fix + "]";
      lines.push_back(std::move(line));
    }
    return lines;
  }
};

inline Surroundings config_surroundings() {
  return {
      .home = "/home/ann", .environment = {{"PROJECTS", "/data/projects"}}, .base = "/srv/agent"};
}

inline ReadConfig read_text(std::string_view text) {
  ReadConfig read;
  read.config = read_config(text, "coop.toml", config_surroundings(), read.findings);
  return read;
}

// A configuration without a mistake.
inline Config good_config(std::string_view text) {
  ReadConfig read = read_text(text);
  for (const std::string& line : read.found()) ADD_FAILURE() << line;
  return std::move(read.config);
}

}  // namespace coop::policy
