#include "guards/findings.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace coop::guards {

GuardedPath make_fact(const Path& path, const std::string& guard, const struct stat& status,
                      std::int64_t born) {
  return GuardedPath{
      .path = path,
      .guard = guard,
      .device = status.st_dev,
      .inode = status.st_ino,
      .born = born,
      .changed = std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec,
      .links = status.st_nlink,
      .directory = S_ISDIR(status.st_mode)};
}

void Findings::keep(GuardedPath found) {
  count_path(found.path);
  guarded_.push_back(std::move(found));
}

void Findings::count_path(const Path& path) {
  path_bytes_ += path.size();
  if (paths_overflow() && beyond_ == Beyond::end) give_up(WalkStop::too_large);
}

std::vector<GuardedPath> Findings::take() {
  // Paths guarded by their own name come before targets of symlinks.
  std::ranges::sort(guarded_, [](const GuardedPath& left, const GuardedPath& right) {
    return std::tie(left.path, left.through) < std::tie(right.path, right.through);
  });
  const auto rest = std::ranges::unique(guarded_, {}, &GuardedPath::path);
  guarded_.erase(rest.begin(), rest.end());
  return std::move(guarded_);
}

}  // namespace coop::guards
