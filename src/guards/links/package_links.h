// Symlinks outside of directories of packages that lead into them. "app -> node_modules/app": a host program that is started
// in "app", or an editor that opens it, obeys the .envrc in node_modules/app, where names that count in every directory are
// not looked for otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "guards/findings.h"
#include "guards/trail.h"
#include "host/facts.h"
#include "sys/tree/directory_stack.h"

namespace coop::guards {

// Whether a symlink with this text, outside of packages, may lead into them, now or after any other change of the tree. One of
// which this is not so needs no look: it gets there only through another symlink of which it is so, and covers nothing that
// the other does not.
bool may_lead_into_packages(std::string_view text);

// Collects the links of a walk, and what is to be looked through because of them.
class PackageLinks {
 public:
  // `trees`: those whose directories count.
  PackageLinks(Findings& found, std::vector<Path> trees)
      : found_(found), trees_(std::move(trees)) {}

  // A symlink in an open directory; `path` is its own. Unfollowable: it leads elsewhere for each program, or in a circle.
  enum class Added : std::uint8_t { done, unfollowable };
  Added add(int directory, const std::string& name, const Path& path);

  // The next directory that a link leads to, open; nothing when there is none left.
  struct Target {
    Path path{};
    DirectoryStack directory;
  };
  std::optional<Target> next();
  // Whether a directory is looked at for the first time: links in circles, and thousands that lead to one place, end here.
  bool is_first_visit(const DirectoryStack& directory);

  // Sorted.
  std::vector<PackageLink> take();

 private:
  struct Place {
    Path path{};  // empty for what is no directory, and for what cannot be followed
    bool exists = false;
    Added added = Added::done;
  };
  Place place_of(int directory, const std::string& name, const Path& path);
  bool lies_in_packages(const Path& place) const;

  Findings& found_;
  std::vector<Path> trees_;
  std::vector<PackageLink> links_{};
  std::map<Path, Path> pending_{};  // directories, and the first link that leads to each
  std::set<Path> known_{};          // directories that are or were pending
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::int64_t>> visited_{};
  TrailMemo trails_{};
  Path through_{};  // the link that leads to the directory that is looked through
};

// Whether names that count in every directory are looked for at this path because of the link.
bool covers(const PackageLink& link, std::string_view path);

// The links of a look that were not there before, by the paths that they make count. Takes time once for each pair of links.
class NewWays {
 public:
  // `now` and `known` are sorted; `now` outlives it.
  NewWays(std::span<const PackageLink> now, std::span<const PackageLink> known);

  struct Answer {
    bool any = false;                  // new links make the path count
    std::vector<PackageLink> links{};  // those of them that no earlier answer had
  };
  // Of each way the first new link: what is behind it may have been there before.
  Answer to(std::string_view path);

 private:
  bool is_inner(std::size_t link) const { return !now_[link].through.empty(); }
  void spread(std::vector<std::size_t> from, std::vector<bool>& reached,
              const std::vector<bool>& passes) const;

  std::span<const PackageLink> now_;
  std::vector<bool> is_source_{};   // new, and there whatever the other new ones do
  std::vector<bool> is_reached_{};  // by a source
  std::vector<bool> told_{};
  std::vector<bool> done_{};  // what leads to an inner link has been told
};

}  // namespace coop::guards
