#include "plan/view/worktrees.h"

#include <algorithm>
#include <optional>

#include "base/path.h"

namespace coop::plan {

namespace {

constexpr std::size_t kMostWorktrees = 256;
constexpr std::size_t kLongestCheckout = 4000;  // PATH_MAX less the longest prefix of a view

// How the checkout's .git file is replaced. The paths come from files that an earlier sandbox could write: they replace
// nothing else, and what they add never stands where a mount needs a directory.
std::optional<Entry::Kind> kind_at(const std::vector<Entry>& entries, const Path& place, View view,
                                   const HostFacts& host) {
  for (const char* of_coop : {"/dev", "/etc", "/proc", "/run", "/sys"})
    if (is_within(place, of_coop)) return std::nullopt;
  const bool in_the_way = std::ranges::any_of(entries, [&](const Entry& entry) {
    const bool file = entry.kind == Entry::Kind::file || entry.kind == Entry::Kind::cover ||
                      entry.kind == Entry::Kind::symlink;
    return is_within(entry.target, place) || (file && is_within(place, entry.target));
  });
  if (in_the_way) return std::nullopt;
  const Entry* around = deciding_entry(entries, place);
  const bool own = around == nullptr ? view == View::minimal
                                     : around->kind == Entry::Kind::directory ||
                                           (around->kind == Entry::Kind::tmpfs &&
                                            around->life == TmpfsLife::sandbox);
  if (own) return Entry::Kind::file;
  // Visible and read-only: `git worktree remove` could not delete the checkout, and would go on with what belongs to it.
  const PathFact& fact = host.fact(place);
  const bool shown = around == nullptr && fact.kind == PathKind::file && fact.canonical == place;
  return shown ? std::optional(Entry::Kind::cover) : std::nullopt;
}

}  // namespace

void add_worktrees(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                   const std::vector<GitDirectory>& served) {
  const Origin origin = Origin::of_coop(Part::guard, ".git");
  std::size_t added = 0;
  for (const LinkedWorktree& worktree : host.worktrees) {
    if (added >= kMostWorktrees) return;
    if (std::ranges::find(served, worktree.git, &GitDirectory::path) != served.end()) continue;
    // A relative one leads elsewhere for each place that the repository has.
    std::vector<Path> places{worktree.checkout};
    if (!worktree.checkout.starts_with('/')) {
      places = places_of(worktree.git, entries, policy.view);
      for (Path& place : places) place = join(place, worktree.checkout);
    }
    for (const Path& named : places) {
      const Path place = normalize(named);
      if (name_of(place) != ".git" || place.size() >= kLongestCheckout) continue;
      const std::optional<Entry::Kind> kind = kind_at(entries, place, policy.view, host);
      if (!kind) continue;
      ++added;
      entries.push_back(
          Entry{.kind = *kind,
                .target = place,
                .rank = Rank::guard,
                .origin = origin,
                .why = "git would delete what belongs to a worktree that is not writable here"});
    }
  }
}

}  // namespace coop::plan
