#include "guards/place.h"

#include <algorithm>

namespace coop::guards {

namespace {

// Package managers unpack foreign trees here, with editor settings of their authors in them, and verify checksums. Host
// programs are not started in these directories.
bool holds_packages(std::string_view folded) {
  return folded == "node_modules" || folded == "vendor" || folded == "site-packages";
}

}  // namespace

bool has(const Sight& sight, std::string_view folded) {
  return std::ranges::any_of(sight, [&](const Seen& seen) { return seen.folded == folded; });
}

Standing standing_of(Place place, const Sight& sight) {
  const bool head = has(sight, "head");
  const bool bare = head && has(sight, "objects") && has(sight, "refs");
  const bool shared = head && has(sight, "commondir");
  return {place, place == Place::dot_git || place == Place::worktree || bare || shared ||
                     (place == Place::module && head)};
}

std::optional<Place> place_below(const Standing& standing, std::string_view folded, Reach reach) {
  if (standing.place == Place::worktrees) return Place::worktree;
  if (standing.place == Place::modules) return Place::module;
  if (standing.git && folded == "modules") return Place::modules;
  if (standing.git && folded == "worktrees") return Place::worktrees;
  if (standing.place == Place::module && !standing.git) return Place::module;
  if (reach == Reach::git_structure) return std::nullopt;
  if (folded == ".git") return Place::dot_git;
  const bool packages = standing.place == Place::packages || holds_packages(folded);
  return packages ? Place::packages : Place::ordinary;
}

}  // namespace coop::guards
