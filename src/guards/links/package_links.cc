#include "guards/links/package_links.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/path.h"
#include "guards/place.h"
#include "guards/trail.h"
#include "sys/fd.h"

namespace coop::guards {

namespace {

// Of one walk. Ending in silence would leave the rest unguarded.
constexpr std::size_t kMostLinks = 50'000;

const PackageLink* find(std::span<const PackageLink> links, std::string_view path) {
  const auto found = std::ranges::lower_bound(links, path, {}, &PackageLink::path);
  return found != links.end() && found->path == path ? &*found : nullptr;
}

bool is_as_before(const PackageLink& link, std::span<const PackageLink> known) {
  const PackageLink* const old = find(known, link.path);
  return old != nullptr && old->text == link.text && old->place == link.place;
}

}  // namespace

// Proof: take the first symlink on the way (it may be the last component, or one in the text of another) that leads from where
// the names count to where they do not. A text without such names goes down into packages only through another symlink, and
// ".." leads out of them, except after a name, which may be a symlink into them.
bool may_lead_into_packages(std::string_view text) {
  bool after_name = false;
  while (!text.empty()) {
    const std::string name = take_component(text);
    if (name.empty() || name == ".") continue;
    if (name == ".." ? after_name : holds_packages(folded(name))) return true;
    after_name = after_name || name != "..";
  }
  return false;
}

bool PackageLinks::lies_in_packages(const Path& place) const {
  return std::ranges::any_of(trees_, [&](const Path& tree) {
    return is_within(place, tree) && guards::lies_in_packages(relative_to(place, tree));
  });
}

PackageLinks::Added PackageLinks::add(int directory, const std::string& name, const Path& path) {
  Place place = place_of(directory, name, path);
  if (place.path.empty() || !lies_in_packages(place.path)) return place.added;
  if (links_.size() >= kMostLinks) {
    found_.give_up(WalkStop::too_large);
    return place.added;
  }
  if (const auto pending = pending_.find(place.path); pending != pending_.end())
    pending->second = std::min(pending->second, path);
  else if (place.exists && known_.insert(place.path).second) pending_.emplace(place.path, path);
  links_.push_back({path, read_link(directory, name), std::move(place.path), through_});
  return place.added;
}

// The kernel is asked first: it goes on from directories whose path is too long for a call.
PackageLinks::Place PackageLinks::place_of(int directory, const std::string& name,
                                           const Path& path) const {
  const Result<UniqueFd> target = open_for_everyone(directory, name, O_PATH | O_DIRECTORY);
  if (target) return {read_link(AT_FDCWD, "/proc/self/fd/" + std::to_string(target->get())), true};
  const int error = target.error().errno_value;
  if (error == ELOOP) return {.added = Added::unfollowable};
  if (error == ENOTDIR || path.size() >= PATH_MAX) return {};
  Trail trail = follow_trail(path, trees_);
  if (trail.place.empty()) return {.added = Added::unfollowable};
  if (trail.status && !S_ISDIR(trail.status->st_mode)) return {};
  return {std::move(trail.place), trail.status.has_value()};
}

std::optional<PackageLinks::Target> PackageLinks::next() {
  while (!pending_.empty()) {
    auto next = pending_.extract(pending_.begin());
    through_ = std::move(next.mapped());
    Result<DirectoryStack> opened = open_within(next.key(), trees_);
    if (opened && is_first_visit(*opened)) return Target{next.key(), std::move(*opened)};
    const int error = opened ? 0 : opened.error().errno_value;
    if (error == ENOTDIR || error == ELOOP) found_.disturbed();
    else if (error == EACCES ? may_hide_something(AT_FDCWD, next.key())
                             : error != 0 && error != ENOENT)
      found_.incomplete();
  }
  return std::nullopt;
}

bool PackageLinks::is_first_visit(const DirectoryStack& directory) {
  const struct stat& status = directory.status();
  return visited_.emplace(status.st_dev, status.st_ino, born_at(directory.fd(), "")).second;
}

std::vector<PackageLink> PackageLinks::take() {
  std::ranges::sort(links_, {}, &PackageLink::path);
  return std::move(links_);
}

bool covers(const PackageLink& link, std::string_view path) {
  if (path == link.place || !is_within(path, link.place)) return false;
  Standing standing{Place::linked};
  for (std::string_view rest = relative_to(parent_of(path), link.place); !rest.empty();)
    if (!place_below(standing, folded(take_component(rest)), Reach::everything)) return false;
  return true;
}

std::vector<PackageLink> new_ways_to(std::string_view path, std::span<const PackageLink> now,
                                     std::span<const PackageLink> known) {
  std::vector<PackageLink> ways;
  for (const PackageLink& last : now) {
    if (!covers(last, path)) continue;
    const PackageLink* first = nullptr;
    const PackageLink* link = &last;
    for (std::size_t count = 0; link != nullptr && count <= now.size(); ++count) {
      if (!is_as_before(*link, known)) first = link;
      link = find(now, link->through);
    }
    if (first != nullptr && std::ranges::find(ways, *first) == ways.end()) ways.push_back(*first);
  }
  return ways;
}

}  // namespace coop::guards
