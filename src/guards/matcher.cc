#include "guards/matcher.h"

#include <dirent.h>

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "guards/trail.h"
#include "guards/walk.h"
#include "sys/tree/directory_stack.h"

namespace coop::guards {

namespace {

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) names.push_back(take_component(path));
  return names;
}

bool begins_with(std::span<const std::string> names, std::span<const std::string_view> wanted) {
  return names.size() >= wanted.size() &&
         std::ranges::equal(names.first(wanted.size()), wanted, is_component);
}

// The rest of a guard's name after the component that `link` replaces: "/settings.json" for
// .claude/settings.json when .claude is the symlink. Nothing if the symlink is no part of it.
std::optional<std::string> rest_after(const Guard& guard, const std::vector<std::string>& link) {
  for (std::size_t count = guard.folded.size(); count > 0; --count) {
    if (link.size() < count) continue;
    if (!begins_with(std::span(link).last(count), guard.folded.first(count))) continue;
    std::string rest;
    for (const std::string_view part : guard.parts.subspan(count)) rest.append("/").append(part);
    return rest;
  }
  return std::nullopt;
}

Sight sight_of(DirectoryStack& directory, const GuardNames& names) {
  Sight sight;
  const std::unique_ptr<EntryBuffer> buffer = make_entry_buffer();
  [[maybe_unused]] const Result<void> unreadable_is_empty =
      for_each_entry(directory.fd(), *buffer, [&](std::string_view name, unsigned char type) {
        if (names.interesting(name)) sight.push_back({std::string(name), folded(name), type});
        return Next::go_on;
      });
  return sight;
}

// The guard that the first of `names` leads to in a directory.
std::optional<std::string> guard_here(const GuardNames& guards, const Standing& standing,
                                      const Sight& sight, std::span<const std::string> names) {
  std::optional<std::string> found;
  for_each_guard(guards, standing, sight, [&](const Guard& guard) {
    const bool deeper = names.size() > guard.folded.size();
    if (!found && begins_with(names, guard.folded) && !(guard.only_file && deeper))
      found = guard.name;
  });
  // A .git file and any entry called commondir redirect git to another directory for its settings.
  const bool git_file = names.size() == 1 && names.front() == ".git";
  const bool pointer = standing.git && names.front() == "commondir";
  if (!found && guards.git_file() && (git_file || pointer)) found = ".git";
  return found;
}

bool has_path(const std::vector<Path>& paths, const Path& path) {
  return std::ranges::find(paths, path) != paths.end();
}

}  // namespace

GuardMatcher::GuardMatcher(GuardedTree tree)
    : tree_(std::move(tree)),
      trees_(all_trees(tree_.root, tree_.before.outside_git, tree_.writable)),
      names_(tree_.names, tree_.before.named, tree_.root),
      outside_git_(has_path(tree_.before.outside_git, tree_.root)) {}

std::optional<std::string> GuardMatcher::guard_of(const Path& path, const Path& made) const {
  // A link may lead to another tree.
  if (path == tree_.root || !is_within(path, tree_.root)) return linked_guard(path);
  std::optional<std::string> guard = known_guard(path);
  if (!guard) guard = named_guard(path);
  if (!guard) guard = linked_guard(path);
  if (!guard) guard = guard_on_the_way(path, made);
  return guard;
}

std::optional<std::string> GuardMatcher::known_guard(const Path& path) const {
  for (const GuardedPath& known : tree_.before.guarded) {
    if (is_within(path, known.path)) return known.guard;
    if (known.link.empty() || known.guard == ".git") continue;
    if (std::optional<std::string> guard = guard_behind_link(known, path)) return guard;
  }
  return std::nullopt;
}

// A guarded symlink may lead to what does not exist yet.
std::optional<std::string> GuardMatcher::guard_behind_link(const GuardedPath& link,
                                                           const Path& path) const {
  const std::vector<std::string> names = folded_components(relative_to(link.path, "/"));
  for (const std::vector<Guard>* const guards :
       {&names_.in_git(), &names_.beside(), &names_.anywhere(), &names_.at_top()})
    for (const Guard& guard : *guards) {
      const std::optional<std::string> rest =
          guard.name == link.guard ? rest_after(guard, names) : std::nullopt;
      if (!rest) continue;
      const Path place = follow_trail(link.path + *rest, trees_).place;
      if (!place.empty() && is_within(path, place) && !is_within(link.path, place))
        return std::string(guard.name);
    }
  return std::nullopt;
}

// In packages, where a symlink leads.
std::optional<std::string> GuardMatcher::linked_guard(const Path& path) const {
  for (const PackageLink& link : tree_.before.package_links) {
    if (path == link.place || !is_within(path, link.place)) continue;
    const std::vector<std::string> names = folded_components(relative_to(path, link.place));
    std::optional<Place> place = Place::linked;
    for (std::size_t index = 0; index < names.size() && place; ++index) {
      for (const Guard& guard : names_.anywhere())
        if (begins_with(std::span(names).subspan(index), guard.folded) &&
            !(guard.only_file && names.size() - index > guard.folded.size()))
          return std::string(guard.name);
      place = place_below({*place}, names[index], Reach::everything);
    }
  }
  return std::nullopt;
}

std::optional<std::string> GuardMatcher::named_guard(const Path& path) const {
  for (const NamedPath& named : tree_.before.named) {
    if (!named.path.starts_with('/') || !is_guarded(tree_.names, named)) continue;
    const Path place = follow_trail(named.path, trees_).place;
    if (place.empty() || !is_within(path, place) || holds_a_tree(place, trees_)) continue;
    if (named.guard != ".git/config" || path == place) return named.guard;
  }
  return std::nullopt;
}

// Goes down to `path` as the walk would. Below the first name that does not exist, each directory has one entry.
std::optional<std::string> GuardMatcher::guard_on_the_way(const Path& path,
                                                          const Path& made) const {
  const std::vector<std::string> names = components(relative_to(path, tree_.root));
  const std::vector<std::string> folded_names = folded_components(relative_to(path, tree_.root));
  const Reach reach = outside_git_ ? Reach::git_structure : Reach::everything;
  std::optional<Place> place = outside_git_ ? Place::dot_git : Place::top;
  Result<DirectoryStack> directory = DirectoryStack::open(tree_.root);
  bool exists = directory.has_value();
  Path here = tree_.root;
  for (std::size_t index = 0; index < names.size() && place; ++index) {
    Sight sight = exists ? sight_of(*directory, names_) : Sight();
    const Path below = join(here, names[index]);
    const Entry entry = !made.empty() && is_within(below, made) ? Entry::made : Entry::missing;
    if (entry == Entry::made)
      std::erase_if(sight, [&](const Seen& seen) { return seen.name == names[index]; });
    const bool last = index + 1 == names.size();
    const Seen appearing{names[index], folded_names[index],
                         static_cast<unsigned char>(last ? DT_REG : DT_DIR)};
    const bool is_new = std::ranges::find(sight, names[index], &Seen::name) == sight.end();
    const bool was_git = standing_of(*place, sight).git;
    const bool was_top = *place == Place::top || has(sight, ".git");
    if (is_new) sight.push_back(appearing);
    const Standing standing = standing_of(*place, sight);
    std::optional<std::string> guard =
        guard_here(names_, standing, sight, std::span(folded_names).subspan(index));
    const bool more_guards = was_git != standing.git || (!was_top && has(sight, ".git"));
    if (!guard && exists && more_guards) guard = brought_about(here, *place, appearing, entry);
    if (guard) return guard;
    place = place_below(standing, folded_names[index], reach);
    exists = exists && directory->enter(names[index]).has_value();
    here = below;
  }
  return std::nullopt;
}

// What a walk lists in `directory` only because of the entry that appears there.
std::optional<std::string> GuardMatcher::brought_about(const Path& directory, Place place,
                                                       const Seen& appearing, Entry entry) const {
  const Reach reach = outside_git_ ? Reach::git_structure : Reach::everything;
  GuardWalk now(names_, WalkLimits{}, trees_);
  GuardWalk then(names_, WalkLimits{}, trees_);
  if (entry == Entry::made) now.pass_over(appearing.name);
  else then.reckon_with(appearing);
  const Result<void> looked = now.subtree(directory, place, reach);
  const Result<void> looked_ahead = then.subtree(directory, place, reach);
  // An incomplete walk proves nothing.
  if (!looked || !looked_ahead || !then.complete())
    return names_.in_git().empty() ? std::nullopt
                                   : std::optional(std::string(names_.in_git().front().name));
  const std::vector<GuardedPath> before = now.take_guarded();
  for (const GuardedPath& found : then.take_guarded())
    if (std::ranges::find(before, found.path, &GuardedPath::path) == before.end())
      return found.guard;
  return std::nullopt;
}

}  // namespace coop::guards
