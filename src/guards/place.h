// The role of a directory for git, by its path and contents, and the guards that apply there. Makes
// no system call: the walk of a tree and the matcher of one path use the same rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guards/names.h"

namespace coop::guards {

enum class Reach : std::uint8_t { everything, git_structure };
enum class Place : std::uint8_t {
  top,
  ordinary,
  packages,  // below node_modules and the like
  linked,    // there as well, but a symlink outside leads to it or to a directory above
  dot_git,
  modules,
  module,
  worktrees,
  worktree
};

struct Seen {
  std::string name{};
  std::string folded{};
  unsigned char type = 0;  // DT_*
};
using Sight = std::vector<Seen>;  // the interesting entries of one directory

// `folded` is in lower case.
bool has(const Sight& sight, std::string_view folded);

struct Standing {
  Place place = Place::ordinary;
  bool git = false;  // a git directory

  // By its path: what makes it a git directory may be missing.
  bool is_git_place() const {
    return place == Place::dot_git || place == Place::module || place == Place::worktree;
  }
  bool holds_git_directories() const {
    return place == Place::modules || place == Place::module || place == Place::worktrees;
  }
};

Standing standing_of(Place place, const Sight& sight);

// Where a directory of that name stands; nothing when it is not entered.
std::optional<Place> place_below(const Standing& standing, std::string_view folded, Reach reach);

// Package managers unpack foreign trees here, with editor settings of their authors in them, and verify checksums. Host
// programs are not started in these directories. `folded` is a name in lower case.
bool holds_packages(std::string_view folded);
// By the path from the top of a tree alone.
bool lies_in_packages(std::string_view relative);

// The guards that are looked for in such a directory.
template <typename Visit>
void for_each_guard(const GuardNames& names, const Standing& standing, const Sight& sight,
                    Visit visit) {
  if (standing.place == Place::linked) {
    // The rest is looked for by the path through the packages.
    for (const Guard& guard : names.anywhere()) visit(guard);
    return;
  }
  if (standing.git)
    for (const Guard& guard : names.in_git()) visit(guard);
  if (standing.place == Place::top || has(sight, ".git"))
    for (const Guard& guard : names.beside()) visit(guard);
  if (standing.place == Place::top)
    for (const Guard& guard : names.at_top()) visit(guard);
  if (standing.place != Place::packages)
    for (const Guard& guard : names.anywhere()) visit(guard);
}

}  // namespace coop::guards
