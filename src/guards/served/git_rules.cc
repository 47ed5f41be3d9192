#include "guards/served/git_rules.h"

namespace coop::guards {

namespace {

constexpr std::string_view kGit = ".git";
constexpr std::string_view kLock = ".lock";

std::string_view without_lock(std::string_view name) {
  if (name.size() > kLock.size() && name.ends_with(kLock)) name.remove_suffix(kLock.size());
  return name;
}

// Directories in which git directories stand.
bool leads_to_git(Place place) {
  return place == Place::modules || place == Place::module || place == Place::worktrees ||
         place == Place::worktree;
}

bool is_git(const ServedPlace& place) {
  return place.strict || (place.standing && place.standing->git);
}

}  // namespace

GitRules::GitRules(GuardNames names) : names_(std::move(names)) {
  for (const Guard& guard : names_.in_git())
    if (guard.parts.size() == 1) plain_names_.emplace_back(guard.parts.front());
}

bool ServedPlace::is_fixed() const {
  if (made_inside) return false;
  return guarded() || !begun.empty() || (standing && leads_to_git(standing->place));
}

// Calls visit(guard, matched) for each guard of which `folded_name` is the next component.
template <typename Visit>
void GitRules::for_each_begun(const ServedPlace& parent, std::string_view folded_name,
                              Visit visit) const {
  if (is_git(parent))
    for (const Guard& guard : names_.in_git())
      if (guard.folded.front() == folded_name) visit(guard, std::size_t{1});
  for (const auto& [guard, matched] : parent.begun)
    if (guard->folded[matched] == folded_name) visit(*guard, matched + 1);
}

std::string_view GitRules::guard_of(const ServedPlace& parent, std::string_view name) const {
  if (parent.made_inside) return {};
  if (parent.guarded()) return parent.guard;
  const std::string whole = folded(name);
  const std::string_view base = without_lock(whole);
  const bool pointer = names_.git_file() && is_git(parent) && base == "commondir";
  std::string_view found = pointer || is_lock_of_worktree(parent, name) ? kGit : "";
  for_each_begun(parent, base, [&](const Guard& guard, std::size_t matched) {
    if (found.empty() && matched == guard.folded.size()) found = guard.name;
  });
  return found;
}

bool GitRules::is_draft(const ServedPlace& parent, std::string_view name) const {
  return (name == "config.lock" || name == "config.worktree.lock") && !parent.guarded() &&
         !guard_of(parent, name).empty();
}

bool GitRules::is_lock_of_worktree(const ServedPlace& parent, std::string_view name) const {
  return names_.git_file() && parent.standing && parent.standing->place == Place::worktree &&
         !parent.made_inside && name == "locked";
}

bool GitRules::begins_guard(const ServedPlace& parent, std::string_view name) const {
  bool found = false;
  if (!parent.made_inside)
    for_each_begun(parent, folded(name), [&](const Guard&, std::size_t) { found = true; });
  return found;
}

bool GitRules::may_be_made(const ServedPlace& parent) const {
  if (parent.made_inside) return true;
  return parent.standing && parent.standing->holds_git_directories() && !parent.standing->git;
}

ServedPlace GitRules::below(const ServedPlace& parent, std::string_view name, Known known) const {
  ServedPlace place{.guard = guard_of(parent, name), .made_inside = parent.made_inside};
  if (place.made_inside || place.guarded()) return place;
  const std::string whole = folded(name);
  if (parent.standing)
    if (const auto below = place_below(*parent.standing, whole, Reach::git_structure)) {
      const bool git = known == Known::git_directory || *below == Place::worktree;
      place.standing = Standing{*below, git};
      place.strict = *below == Place::module && !git;
    }
  for_each_begun(parent, whole, [&](const Guard& guard, std::size_t matched) {
    place.begun.emplace_back(&guard, matched);
  });
  return place;
}

}  // namespace coop::guards
