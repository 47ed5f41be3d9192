// The names in a home directory and in the directories of it that hold settings, each read at once: most of the paths asked
// about there are missing, and one listing answers for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coop/path.h"
#include "policy/builtin.h"

namespace coop::host {

// Two thousand paths are asked about, and a few of them exist: one bit of a table answers for most.
class HomeNames {
 public:
  void add(std::string_view name) {
    maybe_.set(bit_of(name));
    names_.emplace_back(name);
  }
  bool contains(std::string_view name) const {
    return maybe_.test(bit_of(name)) && std::ranges::find(names_, name) != names_.end();
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  static constexpr std::size_t kBits = 4096;
  static std::size_t bit_of(std::string_view name) {
    const auto letter = [&](std::size_t at) {
      return at < name.size() ? static_cast<unsigned char>(name[at]) : 0U;
    };
    return (name.size() * 929 + letter(1) * 131 + letter(2) * 31 + letter(4)) % kBits;
  }
  std::bitset<kBits> maybe_{};
  std::vector<std::string> names_{};
};

class HomeListing {
 public:
  explicit HomeListing(Path home) : home_(std::move(home)) {}

  // Whether nothing is at `path`; false when it is not known, or outside.
  bool misses(const Path& path);
  // The same for a path below the home.
  bool misses_below(std::string_view below);
  // Those in a directory of policy::kSettingsDirectories, by its number. Null when they cannot be read, or for a directory with
  // too many entries, where looking at each path takes less time.
  const HomeNames* names_in(std::size_t directory);

 private:
  static constexpr auto kDirectories = policy::kSettingsDirectories;

  struct Listed {
    bool read = false;
    std::optional<HomeNames> names{};
  };

  Path home_;
  std::array<Listed, kDirectories.size()> listed_{};
};

}  // namespace coop::host
