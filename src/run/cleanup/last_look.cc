#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "guards/records/kept_files.h"
#include "host/probe.h"
#include "run/cleanup/cleanup.h"
#include "sys/fd.h"

namespace coop::run {

namespace {

struct Whereabouts {
  enum class State : std::uint8_t { in_place, moved, removed, unknown } state{};
  Path path{};  // of one that was moved
};

bool is_at(const struct stat& tree, const Path& path) {
  struct stat there{};
  return ::lstat(path.c_str(), &there) == 0 && there.st_dev == tree.st_dev &&
         there.st_ino == tree.st_ino;
}

// The host may have renamed a tree, and put another directory at its path.
Whereabouts find_tree(int tree, const Path& path) {
  using State = Whereabouts::State;
  struct stat status{};
  if (::fstat(tree, &status) < 0) return {State::unknown};
  if (is_at(status, path)) return {State::in_place};
  if (status.st_nlink == 0) return {State::removed};
  std::string text(PATH_MAX, '\0');
  const std::string link = "/proc/self/fd/" + std::to_string(tree);
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  if (size <= 0 || text.front() != '/') return {State::unknown};
  text.resize(static_cast<std::size_t>(size));
  if (!is_at(status, text)) return {State::unknown};
  return {State::moved, text};
}

// All paths of a cleanup that lie in a tree, after the tree was moved.
class Relocation {
 public:
  Relocation(Path from, Path to) : from_(std::move(from)), to_(std::move(to)) {}

  void apply(Cleanup& cleanup) const {
    move(cleanup.guards.roots);
    move(cleanup.guards.mounted);
    for (GitDirectory& git : cleanup.guards.served) move(git.path);
    for (WorkspaceFacts& look : cleanup.before) apply(look);
    for (guards::Version& version : cleanup.versions) move(version.path);
    std::ranges::sort(cleanup.versions, {}, &guards::Version::path);
    move(cleanup.doubtful);
    std::ranges::sort(cleanup.doubtful);
    move(cleanup.abandoned);
    std::ranges::sort(cleanup.abandoned);
    move(cleanup.gaps);
    for (MountBelow& below : cleanup.mounts) move(below.mount.target);
    std::ranges::sort(cleanup.mounts, {},
                      [](const MountBelow& below) { return below.mount.target; });
  }

 private:
  void apply(WorkspaceFacts& look) const {
    for (GuardedPath& guarded : look.guarded) {
      move(guarded.path);
      move(guarded.through);
    }
    std::ranges::sort(look.guarded, {}, &GuardedPath::path);
    move(look.outside_git);
    for (GitDirectory& git : look.git) move(git.path);
    std::ranges::sort(look.git);
    for (GitDirectory& git : look.made_inside) move(git.path);
    for (NamedPath& named : look.named) move(named.path);
    std::ranges::sort(look.named);
    for (PackageLink& link : look.package_links) {
      move(link.path);
      move(link.place);
      move(link.through);
    }
    std::ranges::sort(look.package_links, {}, &PackageLink::path);
  }
  void move(Path& path) const {
    if (path == from_) path = to_;
    else if (is_within(path, from_)) path = join(to_, relative_to(path, from_));
  }
  void move(std::vector<Path>& paths) const {
    for (Path& path : paths) move(path);
  }

  Path from_;
  Path to_;
};

// A tree that is gone has nothing left to look at.
void leave_out(Cleanup& cleanup, std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  cleanup.guards.roots.erase(cleanup.guards.roots.begin() + at);
  if (index < cleanup.before.size()) cleanup.before.erase(cleanup.before.begin() + at);
}

void lose(guards::QuarantineReport& report, const Path& root) {
  report.complete = false;
  report.notes.push_back(printable(root) +
                         " is another directory now, and the one that the sandbox could write was "
                         "not looked through: guarded files may remain in it");
}

// A mount that the host has made or removed below a tree shows other files there than the sandbox had.
void note_mounts(guards::QuarantineReport& report, const Cleanup& cleanup) {
  const Result<std::string> table = read_file("/proc/self/mountinfo");
  const std::vector<MountBelow> now =
      mounts_below(cleanup.guards.roots, host::parse_mountinfo(table ? *table : std::string()));
  if (now == cleanup.mounts) return;
  report.complete = false;
  report.notes.push_back(
      "a file system was mounted or unmounted below the workspace during the run, so that not all "
      "that the sandbox "
      "could write was looked through: guarded files may remain");
}

}  // namespace

std::vector<MountBelow> mounts_below(std::span<const Path> roots,
                                     const std::vector<MountFact>& mounts) {
  std::vector<MountBelow> below;
  for (const MountFact& mount : mounts) {
    const bool inside = std::ranges::any_of(roots, [&](const Path& root) {
      return mount.target != root && is_within(mount.target, root);
    });
    if (!inside) continue;
    // Another directory of the same name may be mounted in the same place.
    struct stat status{};
    if (::lstat(mount.target.c_str(), &status) < 0) status = {};
    below.push_back({mount, status.st_dev, status.st_ino});
  }
  std::ranges::stable_sort(below, {}, [](const MountBelow& one) { return one.mount.target; });
  return below;
}

guards::QuarantineReport last_look(Cleanup cleanup, const Remains& remains) {
  using State = Whereabouts::State;
  guards::QuarantineReport found;
  const std::vector<Path> roots = cleanup.guards.roots;
  std::vector<std::pair<int, Path>> looked;
  for (std::size_t index = std::min(roots.size(), remains.trees.size()); index-- > 0;) {
    const int tree = remains.trees[index];
    const Whereabouts place = find_tree(tree, roots[index]);
    switch (place.state) {
      case State::in_place: looked.emplace_back(tree, roots[index]); break;
      case State::moved:
        Relocation(roots[index], place.path).apply(cleanup);
        looked.emplace_back(tree, place.path);
        found.notes.push_back(printable(roots[index]) + " was moved to " + printable(place.path) +
                              " during the run, and was looked through there");
        break;
      case State::removed: leave_out(cleanup, index); break;
      case State::unknown:
        leave_out(cleanup, index);
        lose(found, roots[index]);
        break;
    }
  }
  GuardPlan& guards = cleanup.guards;
  if (guards.roots.empty()) return found;
  note_mounts(found, cleanup);
  // It was not served all the time.
  std::erase_if(guards.served,
                [&](const GitDirectory& git) { return contains(cleanup.gaps, git.path); });
  guards::QuarantineReport report = guards::quarantine(
      {guards.roots, guards.names, guards.mounted, guards.places, cleanup.versions, remains.view,
       guards.served, cleanup.doubtful, cleanup.gaps, cleanup.touched, cleanup.indexes,
       remains.watch, cleanup.git_user, cleanup.abandoned},
      cleanup.before, cleanup.quarantine);
  for (const auto& [tree, path] : looked)
    if (find_tree(tree, path).state == State::moved) lose(found, path);
  report.notes.insert(report.notes.end(), found.notes.begin(), found.notes.end());
  report.complete = report.complete && found.complete;
  if (report.moved.empty()) return report;
  if (const Result<void> listed = guards::write_kept_files(cleanup.quarantine, report.moved);
      !listed)
    report.notes.push_back("`coop quarantine restore` will not know what was where: " +
                           to_text(listed.error()));
  return report;
}

}  // namespace coop::run
