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
constexpr std::size_t kMostLinks = 2000;

const PackageLink* find(std::span<const PackageLink> links, std::string_view path) {
  const auto found = std::ranges::lower_bound(links, path, {}, &PackageLink::path);
  return found != links.end() && found->path == path ? &*found : nullptr;
}

// Where it leads may have changed: what a link of the user's leads to is judged, and the link stays.
bool is_as_before(const PackageLink& link, std::span<const PackageLink> known) {
  const PackageLink* const old = find(known, link.path);
  return old != nullptr && old->text == link.text;
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
    found_.too_many_links();
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
                                           const Path& path) {
  const Result<UniqueFd> target = open_for_everyone(directory, name, O_PATH | O_DIRECTORY);
  if (target) {
    Path place = read_link(AT_FDCWD, "/proc/self/fd/" + std::to_string(target->get()));
    // Too long to be told, and so for every call that would open it by its path.
    if (place.empty()) return {.added = Added::unfollowable};
    return {std::move(place), true};
  }
  const int error = target.error().errno_value;
  if (error == ELOOP) return {.added = Added::unfollowable};
  if (error == ENOTDIR) return {};
  if (path.size() >= PATH_MAX) return {.added = Added::unfollowable};
  Trail trail = follow_trail(path, trees_, &trails_);
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
  const Path above = parent_of(path);
  for (std::string_view rest = relative_to(above, link.place); !rest.empty();)
    if (!place_below(standing, folded(take_component(rest)), Reach::everything)) return false;
  return true;
}

NewWays::NewWays(std::span<const PackageLink> now, std::span<const PackageLink> known)
    : now_(now),
      is_source_(now.size()),
      is_reached_(now.size()),
      told_(now.size()),
      done_(now.size()) {
  std::vector<bool> is_known(now.size());
  std::vector<std::size_t> known_outer;
  for (std::size_t link = 0; link < now.size(); ++link) {
    is_known[link] = is_as_before(now[link], known);
    if (is_known[link] && !is_inner(link)) known_outer.push_back(link);
  }
  std::vector<bool> was_reached(now.size());
  spread(std::move(known_outer), was_reached, is_known);
  std::vector<std::size_t> sources;
  for (std::size_t link = 0; link < now.size(); ++link) {
    is_source_[link] = !is_known[link] && (!is_inner(link) || was_reached[link]);
    if (is_source_[link]) sources.push_back(link);
  }
  spread(std::move(sources), is_reached_, std::vector<bool>(now.size(), true));
}

// Marks the inner links that lie where these lead, and goes on from those that pass.
void NewWays::spread(std::vector<std::size_t> from, std::vector<bool>& reached,
                     const std::vector<bool>& passes) const {
  while (!from.empty()) {
    const std::size_t outer = from.back();
    from.pop_back();
    for (std::size_t link = 0; link < now_.size(); ++link) {
      if (reached[link] || !is_inner(link) || !covers(now_[outer], now_[link].path)) continue;
      reached[link] = true;
      if (passes[link]) from.push_back(link);
    }
  }
}

NewWays::Answer NewWays::to(std::string_view path) {
  Answer answer;
  std::vector<std::string_view> places{path};
  while (!places.empty()) {
    const std::string_view place = places.back();
    places.pop_back();
    for (std::size_t link = 0; link < now_.size(); ++link) {
      if ((!is_source_[link] && !is_reached_[link]) || !covers(now_[link], place)) continue;
      answer.any = true;
      if (is_source_[link] && !told_[link]) {
        told_[link] = true;
        answer.links.push_back(now_[link]);
      }
      if (is_reached_[link] && !done_[link]) {
        done_[link] = true;
        places.push_back(now_[link].path);
      }
    }
  }
  std::ranges::sort(answer.links, {}, &PackageLink::path);
  return answer;
}

}  // namespace coop::guards
