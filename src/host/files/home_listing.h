// The names in a home directory and in the directories of it that hold settings, each read at once: most of the paths asked
// about there are missing, and one listing answers for all of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "coop/path.h"

namespace coop::host {

class HomeListing {
 public:
  explicit HomeListing(Path home) : home_(std::move(home)) {}

  // Whether nothing is at `path`; false when it is not known, or outside.
  bool misses(const Path& path);
  // The same for a path below the home.
  bool misses_below(std::string_view below);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Names = std::unordered_set<std::string, Hash, std::equal_to<>>;

  // Null for a directory with too many entries, where looking at each path takes less time.
  const Names* names_in(std::string_view directory);

  Path home_;
  std::unordered_map<std::string_view, std::optional<Names>> listed_{};
};

}  // namespace coop::host
