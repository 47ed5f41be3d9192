#include "guards/trail.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>

#include "base/path.h"

namespace coop::guards {

namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit

std::optional<Observed> look_at(int directory, const std::string& name) {
  Observed observed;
  if (::fstatat(directory, name.c_str(), &observed.status, AT_SYMLINK_NOFOLLOW) < 0)
    return std::nullopt;
  observed.born = born_at(directory, name.c_str());
  if (!S_ISLNK(observed.status.st_mode)) return observed;
  observed.link = read_link(directory, name);
  if (observed.link.empty()) return std::nullopt;
  return observed;
}

std::optional<Observed> look_at(const Path& path, std::span<const Path> writable) {
  std::optional<Observed> observed = look_at(AT_FDCWD, path);
  if (observed || (errno != EACCES && errno != ENAMETOOLONG)) return observed;
  const Path* const tree = tree_of(path, writable);
  if (tree == nullptr || *tree == path) return std::nullopt;
  Result<DirectoryStack> directory = DirectoryStack::open(*tree);
  if (!directory || !directory->enter_all(relative_to(parent_of(path), *tree))) return std::nullopt;
  return look_at(directory->fd(), std::string(name_of(path)));
}

std::optional<Observed> look_once(const Path& path, std::span<const Path> writable,
                                  TrailMemo* memo) {
  if (memo == nullptr) return look_at(path, writable);
  const auto [found, added] = memo->try_emplace(path);
  if (added) found->second = look_at(path, writable);
  return found->second;
}

void put_in_front(std::deque<std::string>& names, std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::string part = take_component(path);
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  names.insert(names.begin(), parts.begin(), parts.end());
}

}  // namespace

std::int64_t born_at(int directory, const char* name) {
  struct statx status{};
  if (::statx(directory, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) < 0 ||
      (status.stx_mask & STATX_BTIME) == 0)
    return 0;
  return std::int64_t{status.stx_btime.tv_sec} * 1'000'000'000 + status.stx_btime.tv_nsec;
}

unsigned char type_of(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

std::string read_link(int directory, const std::string& name) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t length = ::readlinkat(directory, name.c_str(), buffer.data(), buffer.size());
  return length < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::vector<Path> all_trees(const Path& root, const std::vector<Path>& outside,
                            std::span<const Path> writable) {
  std::vector<Path> trees = outside;
  trees.push_back(root);
  for (const Path& tree : writable)
    if (std::ranges::find(trees, tree) == trees.end()) trees.push_back(tree);
  return trees;
}

const Path* tree_of(const Path& path, std::span<const Path> trees) {
  const auto found =
      std::ranges::find_if(trees, [&](const Path& tree) { return is_within(path, tree); });
  return found == trees.end() ? nullptr : &*found;
}

Result<DirectoryStack> open_within(const Path& directory, std::span<const Path> trees) {
  Result<DirectoryStack> opened = DirectoryStack::open(directory);
  const Path* const tree = tree_of(directory, trees);
  if (opened || opened.error().errno_value != EACCES || tree == nullptr) return opened;
  DirectoryStack below = TRY(DirectoryStack::open(*tree));
  TRY(below.enter_all(relative_to(directory, *tree)));
  return below;
}

bool may_hide_something(int parent, const std::string& name) {
  return ::faccessat(parent, name.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

bool holds_a_tree(const Path& path, std::span<const Path> trees) {
  return std::ranges::any_of(trees, [&](const Path& tree) { return is_within(tree, path); });
}

Trail follow_trail(const Path& path, std::span<const Path> writable, TrailMemo* memo) {
  Trail trail;
  Path at = "/";
  std::deque<std::string> names;
  put_in_front(names, path);
  std::size_t missing = 0;  // components at the end of `at`
  while (!names.empty()) {
    const std::string name = names.front();
    names.pop_front();
    if (name == "..") {
      at = parent_of(at);
      if (missing > 0) --missing;
      continue;
    }
    Path below = join(at, name);
    const std::optional<Observed> observed =
        missing > 0 ? std::nullopt : look_once(below, writable, memo);
    if (!observed) ++missing;
    if (!observed || observed->link.empty()) {
      at = std::move(below);
      if (observed && names.empty()) trail.status = observed->status, trail.born = observed->born;
      continue;
    }
    if (trail.links.size() >= kMostLinks) return trail;
    put_in_front(names, observed->link);
    if (observed->link.starts_with('/')) at = "/";
    trail.links.push_back(
        TrailLink{std::move(below), observed->link, observed->status, observed->born});
  }
  // ".." or a symlink to "/" came last.
  if (missing == 0 && !trail.status)
    if (const std::optional<Observed> last = look_once(at, writable, memo))
      trail.status = last->status, trail.born = last->born;
  trail.place = std::move(at);
  return trail;
}

}  // namespace coop::guards
