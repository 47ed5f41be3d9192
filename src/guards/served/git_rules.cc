#include "guards/served/git_rules.h"

namespace coop::guards {

namespace {

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

bool ServedPlace::is_fixed() const {
  if (made_inside) return false;
  return guarded || !begun.empty() || (standing && leads_to_git(standing->place));
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

bool GitRules::is_guarded(const ServedPlace& parent, std::string_view name) const {
  if (parent.made_inside) return false;
  if (parent.guarded) return true;
  const std::string whole = folded(name);
  const std::string_view base = without_lock(whole);
  bool found = names_.git_file() && is_git(parent) && base == "commondir";
  for_each_begun(parent, base, [&](const Guard& guard, std::size_t matched) {
    found = found || matched == guard.folded.size();
  });
  return found;
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
  ServedPlace place{.guarded = is_guarded(parent, name), .made_inside = parent.made_inside};
  if (place.made_inside || place.guarded) return place;
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

std::vector<std::string> GitRules::plain_names() const {
  std::vector<std::string> names;
  for (const Guard& guard : names_.in_git())
    if (guard.parts.size() == 1) names.push_back(guard.parts.front());
  return names;
}

bool GitRules::must_not_be_link(const ServedPlace& parent, std::string_view name) const {
  if (!names_.git_file() || !parent.standing || parent.made_inside) return false;
  const std::string whole = folded(name);
  if (is_git(parent) && (whole == "modules" || whole == "worktrees")) return true;
  return parent.standing->holds_git_directories() && !parent.standing->git;
}

}  // namespace coop::guards
