#include "run/lost_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <variant>
#include <vector>

#include "base/path.h"
#include "base/text.h"
#include "policy/builtin.h"
#include "sys/fd.h"
#include "sys/tree/entries.h"

namespace coop::run {

namespace {

constexpr std::size_t kMostDirectories = 64;
constexpr std::size_t kMostInDirectory = 10'000;
constexpr std::size_t kMostNamed = 3;

struct OwnHome {
  Path target{};
  Path kept_at{};  // empty: it is in memory
};

// Homes of the sandbox's own: in memory, from the list of homes, and kept ones.
std::vector<OwnHome> own_homes(const Plan& plan) {
  std::vector<OwnHome> homes;
  for (const Step& step : plan.steps) {
    const auto* tmpfs = std::get_if<TmpfsMount>(&step.action);
    const auto* bind = std::get_if<BindMount>(&step.action);
    if (tmpfs != nullptr && step.origin.part == Part::home) homes.push_back({tmpfs->target, {}});
    if (bind != nullptr && bind->through == Through::kept_home && plan.view == View::host)
      homes.push_back({bind->target, bind->source});
  }
  return homes;
}

const Path* target_of(const Action& action) {
  return std::visit(
      [](const auto& one) -> const Path* {
        if constexpr (requires { one.target; }) return &one.target;
        else return nullptr;
      },
      action);
}

// What the plan puts into the home, and the directories that lead there.
std::set<Path> planned_below(const Path& home, const Plan& plan) {
  std::set<Path> planned;
  for (const Step& step : plan.steps) {
    const Path* const target = target_of(step.action);
    if (target == nullptr || !is_within(*target, home)) continue;
    for (Path path = *target; path.size() > home.size(); path = parent_of(path))
      planned.insert(path);
  }
  return planned;
}

// Caches and settings of programs, which rewrite them.
bool is_of_programs(const Path& path, const Path& home) {
  if (("/" + std::string(relative_to(path, home))).contains("/.")) return true;
  return std::ranges::any_of(policy::caches(), [&](const policy::CacheEntry& cache) {
    const Path place = policy::expand_home(cache.path, home);
    return is_within(path, place) || is_within(place, path);
  });
}

}  // namespace

bool has_own_home(const Plan& plan) { return !own_homes(plan).empty(); }

std::optional<std::string> lost_files(int root, const Plan& plan, std::int64_t since) {
  std::vector<std::string> lost;
  std::size_t looked_at = 0;
  Path kept_at;
  for (const OwnHome& own : own_homes(plan)) {
    const Path& home = own.target;
    const std::set<Path> planned = planned_below(home, plan);
    std::vector<Path> directories{home};
    std::ranges::copy_if(planned, std::back_inserter(directories),
                         [&](const Path& path) { return !is_of_programs(path, home); });
    std::uint64_t of_home = 0;
    const auto buffer = make_entry_buffer();
    for (const Path& directory : directories) {
      const Result<UniqueFd> fd =
          open_in_root(root, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
      struct statx status{};
      if (!fd || ::statx(fd->get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0) continue;
      if (directory == home) of_home = status.stx_mnt_id;
      // Anything else is another mount: of the host's.
      if (status.stx_mnt_id != of_home || ++looked_at > kMostDirectories) continue;
      std::size_t entries = 0;
      [[maybe_unused]] const Result<void> unreadable_is_empty =
          for_each_entry(fd->get(), *buffer, [&](std::string_view name, unsigned char) {
            Path path = join(directory, name);
            if (planned.contains(path) || is_of_programs(path, home)) return Next::go_on;
            if (!own.kept_at.empty()) {
              // What earlier runs left there was told then.
              struct stat of_entry{};
              if (::fstatat(fd->get(), std::string(name).c_str(), &of_entry, AT_SYMLINK_NOFOLLOW) <
                      0 ||
                  of_entry.st_ctim.tv_sec < since)
                return Next::go_on;
              kept_at = own.kept_at;
            }
            lost.push_back(std::move(path));
            return ++entries < kMostInDirectory && lost.size() <= kMostNamed ? Next::go_on
                                                                             : Next::stop;
          });
    }
  }
  if (lost.empty()) return std::nullopt;
  const bool more = lost.size() > kMostNamed;
  if (more) lost.resize(kMostNamed);
  for (Path& path : lost) path = printable(path);
  const std::string were = joined(lost, ", ") + (more              ? " and more were"
                                                 : lost.size() > 1 ? " were"
                                                                   : " was");
  if (!kept_at.empty())
    return were + " written to the sandbox's own home, which coop keeps at " + printable(kept_at) +
           ": what you need outside belongs into the workspace";
  return were +
         " written to the sandbox's own home, which is in memory, and is lost: use the workspace, "
         "or --rw "
         "for an existing directory";
}

}  // namespace coop::run
