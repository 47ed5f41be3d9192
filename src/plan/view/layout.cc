#include "plan/view/layout.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/path.h"

namespace coop::plan {

namespace {

using Kind = Entry::Kind;

// Parents before children, so that the more specific of two rules is mounted later and wins.
std::vector<const Entry*> ordered(const std::vector<Entry>& entries) {
  struct Placed {
    std::size_t depth;
    const Entry* entry;
  };
  std::vector<Placed> all;
  all.reserve(entries.size());
  for (const Entry& entry : entries) all.push_back({depth_of(entry.target), &entry});
  std::ranges::stable_sort(all, [](const Placed& one, const Placed& other) {
    if (one.depth != other.depth) return one.depth < other.depth;
    return one.entry->target < other.entry->target;
  });
  std::vector<const Entry*> kept;
  kept.reserve(all.size());
  for (const auto& [depth, entry] : all)
    if (kept.empty() || kept.back()->target != entry->target) kept.push_back(entry);
    else if (entry->strength() >= kept.back()->strength()) kept.back() = entry;
  return kept;
}

bool is_empty_filesystem(const Entry& entry) {
  return entry.kind == Kind::tmpfs || entry.kind == Kind::directory;
}

class Layout {
 public:
  Layout(View view, const HostFacts& host, const std::vector<const Entry*>& entries)
      : view_(view), host_(host), entries_(entries) {
    steps_.reserve(2 * entries.size());
    by_target_.reserve(entries.size());
    for (const Entry* entry : entries) by_target_.emplace(entry->target, entry);
  }

  Result<std::vector<Step>> run() {
    add_root();
    for (const Entry* entry : entries_) TRY(place(*entry));
    for (const Path& target : sealed_)
      add(Seal{target}, Origin::of_coop(Part::view, to_text(view_)), "nothing more is made in it");
    return std::move(steps_);
  }

 private:
  void add(Action action, const Origin& origin, const std::string& why) {
    steps_.push_back(Step{std::move(action), origin, why});
  }

  void add_root() {
    const Origin origin = Origin::of_coop(Part::view, to_text(view_));
    if (view_ == View::host) {
      add(RootHost{}, origin, "the host's tree in its usual places");
    } else {
      add(RootTmpfs{}, origin, "nothing of the host is visible unless it is listed");
      sealed_.push_back("/");
      made_.insert("/");
    }
  }

  // The entry placed before that contains `target`; null for the root itself.
  const Entry* enclosing(const Path& target) const {
    std::string_view above = target;
    while (above.size() > 1) {
      const std::size_t slash = above.rfind('/');
      above = above.substr(0, slash == 0 ? 1 : slash);
      const auto found = by_target_.find(above);
      if (found == by_target_.end()) continue;
      const Entry& entry = *found->second;
      if (entry.kind == Kind::symlink || entry.kind == Kind::file || entry.kind == Kind::cover)
        continue;
      if (entry.kind == Kind::hide && needless_.contains(entry.target)) continue;
      return &entry;
    }
    return nullptr;
  }

  bool has_entries_below(const Entry& outer) const {
    return std::ranges::any_of(entries_, [&](const Entry* entry) {
      return entry->target.size() > outer.target.size() && entry->kind != Kind::hide &&
             is_within(entry->target, outer.target);
    });
  }

  // Mount points and entries are created only in empty file systems of our own.
  bool can_make_in(const Entry* outer) const {
    if (outer == nullptr) return view_ == View::minimal;
    return is_empty_filesystem(*outer) || outer->kept ||
           (outer->kind == Kind::hide && has_entries_below(*outer));
  }

  static Existing existing_in(const Entry* outer) {
    return outer != nullptr && outer->kept ? Existing::keep : Existing::fail;
  }

  Existing existing_around(const Entry& entry) const {
    return existing_in(enclosing(entry.target));
  }

  void make_parents(const Path& target, const Entry* outer) {
    const Path top = outer == nullptr ? Path("/") : outer->target;
    for (const Path& directory : ancestors_below(target, top))
      if (made_.insert(directory).second)
        add(MakeDirectory{.target = directory, .existing = existing_in(outer)},
            Origin::of_coop(Part::mount_point), "leads to " + printable(target));
  }

  Result<void> make_mount_point(const Entry& entry) {
    const Entry* outer = enclosing(entry.target);
    if (can_make_in(outer)) {
      if (outer != nullptr && outer->kept) TRY(check_room(entry, *outer));
      make_parents(entry.target, outer);
      if (!made_.insert(entry.target).second) return {};
      const bool directory = entry.shape == PathKind::directory;
      const Existing existing = existing_in(outer);
      add(directory ? Action(MakeDirectory{.target = entry.target, .existing = existing})
                    : MakeFile{.target = entry.target, .existing = existing},
          Origin::of_coop(Part::mount_point), "for the next mount");
      return {};
    }
    if (outer != nullptr && outer->kind == Kind::hide)
      return invalid(entry.origin, in_quotes(entry.target) + " lies in a hidden directory");
    // Elsewhere the path must exist already: nothing is created on the host.
    if (outer == nullptr || outer->kind == Kind::bind || outer->kind == Kind::overlay) {
      const Path there = outer == nullptr
                             ? entry.target
                             : join(outer->source, relative_to(entry.target, outer->target));
      if (there != entry.source && !host_.has(there) && entry.kind != Kind::hide &&
          entry.kind != Kind::remount)
        return invalid(entry.origin, "there is no " + in_quotes(there) + " to mount on",
                       "make it on the host first: coop leaves no files behind");
    }
    return {};
  }

  // A sandbox before may have left something else where a mount has to be. What it puts there from now on fails the start:
  // the child follows no symlink.
  Result<void> check_room(const Entry& entry, const Entry& home) const {
    const std::optional<Path> obstacle = obstacle_in(home, entry.target, entry.shape, host_);
    if (!obstacle) return {};
    return invalid(entry.origin,
                   in_quotes(entry.target) +
                       " cannot be shown: the kept home has something else at " +
                       in_quotes(*obstacle),
                   "remove it there, or take another home with --home NAME");
  }

  Result<void> place(const Entry& entry) {
    switch (entry.kind) {
      case Kind::symlink:
        return place_small(entry, MakeSymlink{entry.target, entry.text, existing_around(entry)});
      case Kind::file: {
        const Existing existing = existing_around(entry);
        const bool writable = entry.flags.access == Access::read_write;
        return place_small(entry, MakeFile{.target = entry.target,
                                           .contents = entry.text,
                                           .mode = writable ? 0644U : 0444U,
                                           .existing = existing});
      }
      case Kind::directory:
        return place_small(entry, MakeDirectory{entry.target, entry.mode, existing_around(entry)});
      case Kind::hide: return place_hide(entry);
      case Kind::cover: return place_over(entry, CoverFile{entry.target, entry.text});
      case Kind::remount: return place_over(entry, Remount{entry.target, entry.flags});
      case Kind::bind:
        return mount(entry, BindMount{entry.source, entry.target, entry.flags, entry.shape,
                                      entry.kept ? Through::kept_home : entry.through});
      case Kind::overlay: return mount(entry, OverlayMount{entry.source, entry.target, entry.size});
      case Kind::proc: return mount(entry, ProcFilesystem{host_.proc, entry.flags.access});
      case Kind::devpts: return mount(entry, DevptsMount{});
      case Kind::mqueue: return mount(entry, MqueueMount{});
      case Kind::tmpfs: break;
    }
    TRY(mount(entry, TmpfsMount{entry.target, entry.size, entry.inodes, entry.mode, entry.flags,
                                life_of(entry)}));
    if (entry.sealed) sealed_.push_back(entry.target);
    return {};
  }

  // What is mounted below it needs mount points of its own, which a sandbox before may have left, or put something else at.
  TmpfsLife life_of(const Entry& entry) const {
    return has_entries_below(entry) ? TmpfsLife::sandbox : entry.life;
  }

  // On something that is there already.
  Result<void> place_over(const Entry& entry, Action action) {
    add(std::move(action), entry.origin, entry.why);
    return {};
  }

  Result<void> mount(const Entry& entry, Action action) {
    TRY(make_mount_point(entry));
    return place_over(entry, std::move(action));
  }

  Result<void> place_small(const Entry& entry, Action action) {
    const Entry* outer = enclosing(entry.target);
    if (!can_make_in(outer)) return {};  // the host's own exists
    make_parents(entry.target, outer);
    if (made_.insert(entry.target).second) add(std::move(action), entry.origin, entry.why);
    return {};
  }

  Result<void> place_hide(const Entry& entry) {
    const Entry* outer = enclosing(entry.target);
    // In an empty file system of ours, or below a hidden path, there is nothing to hide.
    const bool needless = (outer != nullptr && outer->kind == Kind::hide) ||
                          (can_make_in(outer) && entry.target != "/proc");
    if (needless) {
      needless_.insert(entry.target);
      return {};
    }
    const PathKind shape =
        entry.shape == PathKind::directory ? PathKind::directory : PathKind::file;
    if (shape == PathKind::file || !has_entries_below(entry))
      return mount(entry, HideMount{entry.target, shape, entry.if_missing});
    // Something below is granted: an empty file system with a mount point in it, then sealed.
    sealed_.push_back(entry.target);
    return mount(entry, TmpfsMount{.target = entry.target,
                                   .size = 1 << 20,
                                   .inodes = 1024,
                                   .mode = 0755,
                                   .flags = {.access = Access::read_write, .exec = false}});
  }

  View view_;
  const HostFacts& host_;
  const std::vector<const Entry*>& entries_;
  std::unordered_map<std::string_view, const Entry*> by_target_{};
  std::vector<Step> steps_{};
  std::set<Path> made_{};
  std::set<Path> needless_{};  // hidden by what is above
  std::vector<Path> sealed_{};
};

}  // namespace

std::optional<Path> obstacle_in(const Entry& home, const Path& target, PathKind shape,
                                const HostFacts& host) {
  for (const Path& part : ancestors_below(target, home.target)) {
    Path there = join(home.source, relative_to(part, home.target));
    const PathKind kind = host.fact(there).kind;
    if (kind != PathKind::missing && kind != PathKind::directory) return there;
  }
  Path there = join(home.source, relative_to(target, home.target));
  const PathKind kind = host.fact(there).kind;
  const bool same = shape == PathKind::directory || shape == PathKind::symlink;
  const PathKind wanted = same ? shape : PathKind::file;
  if (kind == PathKind::missing || kind == wanted) return std::nullopt;
  return there;
}

Result<std::vector<Step>> lay_out(const std::vector<Entry>& entries, View view,
                                  const HostFacts& host) {
  const std::vector<const Entry*> sorted = ordered(entries);
  return Layout(view, host, sorted).run();
}

}  // namespace coop::plan
