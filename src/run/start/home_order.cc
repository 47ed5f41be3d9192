#include "run/start/home_order.h"

#include <algorithm>
#include <variant>

#include "base/path.h"
#include "base/text.h"

namespace coop::run {

namespace {

bool is_below(const Path& path, const Path& top) { return path != top && is_within(path, top); }

bool lies_below_any(const Path& path, const std::vector<Path>& tops) {
  return std::ranges::any_of(tops, [&](const Path& top) { return is_below(path, top); });
}

const BindMount* kept_home(const Step& step) {
  const auto* bind = std::get_if<BindMount>(&step.action);
  return bind != nullptr && bind->through == Through::kept_home ? bind : nullptr;
}

const Path* made_at(const Action& action) {
  if (const auto* directory = std::get_if<MakeDirectory>(&action)) return &directory->target;
  if (const auto* file = std::get_if<MakeFile>(&action)) return &file->target;
  if (const auto* link = std::get_if<MakeSymlink>(&action)) return &link->target;
  return nullptr;
}

// Homes that can be written inside: in memory, or kept.
std::vector<Path> writable_homes(const Plan& plan) {
  std::vector<Path> homes;
  for (const Step& step : plan.steps) {
    const auto* tmpfs = std::get_if<TmpfsMount>(&step.action);
    if (tmpfs != nullptr && step.origin.part == Part::home) homes.push_back(tmpfs->target);
    if (const BindMount* kept = kept_home(step)) homes.push_back(kept->target);
  }
  return homes;
}

// Inside: what must stay as it is, whatever the host does with its files.
std::vector<Path> watched_places(const Plan& plan) {
  std::vector<Path> places = plan.guards.places;
  std::erase(places, Path{});
  for (const Step& step : plan.steps) {
    const auto* bind = std::get_if<BindMount>(&step.action);
    if (bind != nullptr && bind->through == Through::supervisor) places.push_back(bind->target);
    if (const auto* hide = std::get_if<HideMount>(&step.action)) places.push_back(hide->target);
  }
  return places;
}

}  // namespace

const Path* mounted_at(const Action& action) {
  if (const auto* bind = std::get_if<BindMount>(&action)) return &bind->target;
  if (const auto* tmpfs = std::get_if<TmpfsMount>(&action)) return &tmpfs->target;
  if (const auto* overlay = std::get_if<OverlayMount>(&action)) return &overlay->target;
  if (const auto* hide = std::get_if<HideMount>(&action)) return &hide->target;
  return nullptr;
}

std::optional<HomeOrder> home_order(const Plan& plan) {
  HomeOrder order;
  const auto home =
      std::ranges::find_if(plan.steps, [](const Step& step) { return kept_home(step) != nullptr; });
  if (home == plan.steps.end()) return std::nullopt;
  const Path& top = kept_home(*home)->target;
  order.home = static_cast<std::size_t>(home - plan.steps.begin());
  std::vector<Path> mounted;
  for (std::size_t index = order.home + 1; index < plan.steps.size(); ++index) {
    const Action& action = plan.steps[index].action;
    const Path* const made = made_at(action);
    const Path* const mount = mounted_at(action);
    const Path* const path = made != nullptr ? made : mount;
    if (path == nullptr || !is_below(*path, top) || lies_below_any(*path, mounted)) continue;
    if (made != nullptr) {
      order.made.push_back(index);
    } else if (!contains(mounted, *mount)) {
      order.moved.push_back(index);
      mounted.push_back(*mount);
    }
  }
  if (order.moved.empty()) return std::nullopt;
  return order;
}

bool has_kept_home(const Plan& plan) {
  return std::ranges::any_of(plan.steps,
                             [](const Step& step) { return kept_home(step) != nullptr; });
}

std::vector<Path> trees_below_homes(const Plan& plan) {
  const std::vector<Path> homes = writable_homes(plan);
  const std::vector<Path> watched = watched_places(plan);
  std::vector<Path> trees;
  for (const Step& step : plan.steps) {
    const auto* bind = std::get_if<BindMount>(&step.action);
    const bool overlay = std::holds_alternative<OverlayMount>(step.action);
    const bool tree = overlay || (bind != nullptr && bind->kind == PathKind::directory &&
                                  bind->through == Through::mount);
    if (!tree) continue;
    const Path& target = *mounted_at(step.action);
    const bool writable = overlay || bind->flags.access == Access::read_write;
    const bool matters = writable || std::ranges::any_of(watched, [&](const Path& place) {
                           return is_below(place, target);
                         });
    // The first is the topmost: steps have parents before children.
    if (matters && lies_below_any(target, homes) && !lies_below_any(target, trees) &&
        !contains(trees, target))
      trees.push_back(target);
  }
  return trees;
}

}  // namespace coop::run
