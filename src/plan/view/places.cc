// Where a path of the host is, on the host and inside, and which entry decides there.
#include "base/path.h"
#include "plan/view/layout.h"

namespace coop::plan {

namespace {

enum class Itself : std::uint8_t { excluded, included };

const Entry* deepest(const std::vector<Entry>& entries, const Path& target, Itself itself) {
  const Entry* found = nullptr;
  for (const Entry& entry : entries) {
    if (!is_within(target, entry.target)) continue;
    if (itself == Itself::excluded && entry.target.size() == target.size()) continue;
    if (entry.kind == Entry::Kind::symlink || entry.kind == Entry::Kind::file ||
        entry.kind == Entry::Kind::remount)
      continue;
    if (found == nullptr || depth_of(entry.target) > depth_of(found->target) ||
        (entry.target == found->target && entry.strength() >= found->strength()))
      found = &entry;
  }
  return found;
}

}  // namespace

const Entry* enclosing_entry(const std::vector<Entry>& entries, const Path& target) {
  return deepest(entries, target, Itself::excluded);
}

const Entry* deciding_entry(const std::vector<Entry>& entries, const Path& target) {
  return deepest(entries, target, Itself::included);
}

bool is_writable_bind(const Entry& entry) {
  return entry.kind == Entry::Kind::bind && entry.flags.access == Access::read_write;
}

void pin_parents(std::vector<Entry>& entries, const Path& place, const Path& top,
                 const Origin& origin, const char* why) {
  for (const Path& ancestor : ancestors_below(place, top))
    entries.push_back(Entry{.kind = Entry::Kind::remount,
                            .target = ancestor,
                            .flags = {.access = Access::read_write},
                            .rank = Rank::pin,
                            .origin = origin,
                            .why = why});
}

void make_read_only(std::vector<Entry>& entries, const Path& place, Rank rank, const Origin& origin,
                    std::string why) {
  entries.push_back(Entry{.kind = Entry::Kind::remount,
                          .target = place,
                          .flags = {.access = Access::read_only},
                          .rank = rank,
                          .origin = origin,
                          .why = std::move(why)});
}

std::vector<Path> places_of(const Path& host_path, const std::vector<Entry>& entries, View view) {
  std::vector<Path> places;
  if (view == View::host) places.push_back(host_path);
  for (const Entry& entry : entries) {
    if (entry.kind != Entry::Kind::bind && entry.kind != Entry::Kind::overlay) continue;
    if (!is_within(host_path, entry.source)) continue;
    places.push_back(join(entry.target, relative_to(host_path, entry.source)));
  }
  return places;
}

namespace {

// The mount that shows `path`: the deepest one above it, and of several there, the last.
const MountFact* mount_of(const Path& path, const std::vector<MountFact>& mounts) {
  const MountFact* shown_by = nullptr;
  for (const MountFact& mount : mounts)
    if (is_within(path, mount.target) &&
        (shown_by == nullptr || depth_of(mount.target) >= depth_of(shown_by->target)))
      shown_by = &mount;
  return shown_by;
}

// Its path in the file system of that mount.
Path inner_path(const Path& path, const MountFact& mount) {
  return join(mount.root, relative_to(path, mount.target));
}

}  // namespace

std::vector<Path> mount_aliases(const Path& path, const std::vector<MountFact>& mounts) {
  const MountFact* shown_by = mount_of(path, mounts);
  if (shown_by == nullptr) return {};
  const Path inner = inner_path(path, *shown_by);
  std::vector<Path> aliases;
  for (const MountFact& mount : mounts) {
    if (mount.device != shown_by->device || !is_within(inner, mount.root)) continue;
    const Path alias = join(mount.target, relative_to(inner, mount.root));
    if (alias != path) aliases.push_back(alias);
  }
  return aliases;
}

std::vector<Path> mounted_parts(const Path& path, const std::vector<MountFact>& mounts) {
  const MountFact* shown_by = mount_of(path, mounts);
  if (shown_by == nullptr) return {};
  const Path inner = inner_path(path, *shown_by);
  std::vector<Path> parts;
  for (const MountFact& mount : mounts)
    if (mount.device == shown_by->device && mount.root != inner && is_within(mount.root, inner) &&
        mount.target != "/" && !is_within(mount.target, path))
      parts.push_back(mount.target);
  return parts;
}

std::vector<Path> parts_of(const PathFact& fact, const HostFacts& host) {
  std::vector<Path> parts = mounted_parts(fact.canonical, host.mounts);
  std::erase_if(parts, [&](const Path& part) { return !host.has(part); });
  return parts;
}

std::set<Path> names_of(const PathFact& fact, const HostFacts& host) {
  std::set<Path> names{fact.canonical};
  for (const Path& alias : mount_aliases(fact.canonical, host.mounts))
    // Skip an alias over which something else is mounted.
    if (host.fact(alias).kind == fact.target_kind) names.insert(alias);
  return names;
}

bool lies_in(const Path& path, const Path& tree, const HostFacts& host) {
  if (is_within(path, tree)) return true;
  for (const Path& alias : mount_aliases(path, host.mounts))
    if (is_within(alias, tree)) return true;
  return false;
}

}  // namespace coop::plan
