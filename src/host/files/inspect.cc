#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/path.h"
#include "host/files/home_listing.h"
#include "host/probe.h"
#include "sys/fd.h"
#include "sys/real_path.h"
#include "sys/tree/entries.h"

namespace coop::host {
namespace {

PathKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return PathKind::file;
  if (S_ISDIR(mode)) return PathKind::directory;
  if (S_ISLNK(mode)) return PathKind::symlink;
  if (S_ISSOCK(mode)) return PathKind::socket;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return PathKind::device;
  return PathKind::other;
}

// The link count of a directory counts subdirectories, not other names.
std::uint64_t links_of(const struct stat& status) {
  return S_ISDIR(status.st_mode) ? 1 : static_cast<std::uint64_t>(status.st_nlink);
}

// Reads the path of an open descriptor; realpath would look up every component. Empty if the file
// has no path from our root.
Path name_of_open(int fd, const Path& path) {
  std::array<char, 32> link;
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  const Path name = read_link(link.data()).value_or(Path{});
  if (name.starts_with('/')) return name;
  if (!name.empty()) return {};  // "(unreachable)/…"
  return real_path(path).value_or(Path{});
}

bool climbs(std::string_view link) {
  return link == ".." || link.starts_with("../") || link.ends_with("/..") ||
         link.find("/../") != std::string_view::npos;
}

// Inspects paths, and caches the canonical names of parent directories: one lookup each, however
// many paths are below.
class Looker {
 public:
  // `depth` counts the symlinks and parents that led to `path`.
  std::optional<PathFact> at(const Path& path, int depth = 0) {
    // The kernel would see "/etc/shadow" where the caller wrote "/etc/shadow\0.txt".
    if (path.find('\0') != Path::npos) return std::nullopt;
    struct stat status{};
    if (::lstat(path.c_str(), &status) < 0) return std::nullopt;
    PathFact fact{.kind = kind_of(status.st_mode)};
    // Not a symlink itself, so its parent's canonical name determines its own. The same for a
    // symlink's target.
    const Path& parent = directory(parent_of(path), depth + 1);
    if (fact.kind == PathKind::symlink) {
      follow(path, parent, depth, fact);
      return fact;
    }
    if (parent.empty()) return std::nullopt;
    fact.canonical = join(parent, name_of(path));
    fact.target_kind = fact.kind;
    fact.links = links_of(status);
    if (fact.kind == PathKind::directory) known_.try_emplace(path, fact.canonical);
    return fact;
  }

 private:
  static constexpr int kDeepest = 64;  // the author of the paths must not control our stack depth

  // Its canonical name; empty when there is no such directory.
  const Path& directory(const Path& path, int depth) {
    if (const auto found = known_.find(path); found != known_.end()) return found->second;
    PathFact fact;
    if (depth > kDeepest) follow_by_opening(path, fact);
    else fact = at(path, depth).value_or(PathFact{});
    const bool usable = fact.target_kind == PathKind::directory;
    return known_.try_emplace(path, usable ? fact.canonical : Path{}).first->second;
  }

  // `fact` is of a symlink: adds its target. A dangling one keeps a missing target.
  void follow(const Path& path, const Path& parent, int depth, PathFact& fact) {
    fact.link = read_link(path.c_str()).value_or(Path{});
    // Magic links in /proc are no names, and ".." after a symlink is not textual: let the kernel
    // resolve those.
    if (fact.link.empty() || parent.empty() || depth > kDeepest || climbs(fact.link) ||
        is_within(parent, "/proc"))
      return follow_by_opening(path, fact);
    const std::optional<PathFact> target = at(normalize(fact.link, parent), depth + 1);
    if (!target) return;
    fact.canonical = target->canonical;
    fact.target_kind = target->target_kind;
    fact.links = target->links;
  }

  static void follow_by_opening(const Path& path, PathFact& fact) {
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status{};
    if (!fd.valid() || ::fstat(fd.get(), &status) < 0) return;
    fact.canonical = name_of_open(fd.get(), path);
    if (fact.canonical.empty()) return;
    fact.target_kind = kind_of(status.st_mode);
    fact.links = links_of(status);
  }

  std::unordered_map<Path, Path> known_{{"/", "/"}};  // a directory → its canonical name
};

constexpr std::size_t kWorthListing = 20;

}  // namespace

std::vector<std::string> names_in(const Path& directory) {
  std::vector<std::string> names;
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return names;
  const auto buffer = make_entry_buffer();
  const Result<void> listed =
      for_each_entry(fd.get(), *buffer, [&](std::string_view name, unsigned char) {
        names.emplace_back(name);
        return Next::go_on;
      });
  if (!listed) names.clear();
  std::ranges::sort(names);
  return names;
}

void inspect(HostFacts& facts, std::span<const Path> paths) {
  Looker looker;
  std::optional<HomeListing> listing;
  if (paths.size() >= kWorthListing && facts.home.size() > 1) listing.emplace(facts.home);
  for (const Path& path : paths) {
    if (listing && listing->misses(path)) {
      facts.paths.erase(path);
      continue;
    }
    std::optional<PathFact> fact = looker.at(path);
    if (fact) facts.paths.insert_or_assign(path, std::move(*fact));
    else facts.paths.erase(path);
  }
}

}  // namespace coop::host
