#include "guards/place.h"

#include <algorithm>

#include "sys/tree/directory_stack.h"

namespace coop::guards {

bool holds_packages(std::string_view folded) {
  return folded == "node_modules" || folded == "vendor" || folded == "site-packages";
}

bool lies_in_packages(std::string_view relative) {
  Standing standing{Place::top};
  while (!relative.empty()) {
    const std::string name = folded(take_component(relative));
    const Place below = place_below(standing, name, Reach::everything).value_or(Place::ordinary);
    standing = {below, below == Place::dot_git};
  }
  return standing.place == Place::packages;
}

bool has(const Sight& sight, std::string_view folded) {
  return std::ranges::any_of(sight, [&](const Seen& seen) { return seen.folded == folded; });
}

Standing standing_of(Place place, const Sight& sight) {
  const bool head = has(sight, "head");
  const bool bare = head && has(sight, "objects") && has(sight, "refs");
  const bool shared = head && has(sight, "commondir");
  if (place == Place::linked) return {place, false};
  return {place, place == Place::dot_git || place == Place::worktree || bare || shared ||
                     (place == Place::module && head)};
}

std::optional<Place> place_below(const Standing& standing, std::string_view folded, Reach reach) {
  if (standing.place == Place::linked)
    return folded == ".git" || holds_packages(folded) ? std::nullopt : std::optional(Place::linked);
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
