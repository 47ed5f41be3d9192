// Compares with a file of tests/golden. COOP_UPDATE_GOLDEN=1 rewrites the files.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace coop::test {

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(COOP_GOLDEN_DIRECTORY) + "/" + name;
  if (const char* update = std::getenv("COOP_UPDATE_GOLDEN");
      update != nullptr && std::string_view(update) == "1") {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(actual, contents_of(path))
      << "if the change is meant: COOP_UPDATE_GOLDEN=1, and look at the diff of " << name;
}

}  // namespace coop::test
