// What the record of a run says, as data, and what follows from it for another run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guards/git/touched_files.h"
#include "host/facts.h"

namespace coop::guards {

// Which object is at a path, without following a symlink there; zeros when nothing is.
BornFile object_at(const Path& path);

// A tree that the sandbox could write.
struct ToldRoot {
  Path path{};
  BornFile identity{};
  bool operator==(const ToldRoot&) const = default;
};

// A guarded path that was there before the sandbox could write, and not made by another one.
struct ToldPath {
  Path path{};
  std::string guard{};
  BornFile identity{};
  std::string link{};
  bool operator==(const ToldPath&) const = default;
};

struct Told {
  std::vector<ToldRoot> roots{};
  std::int64_t started = 0;  // when its first look began, in nanoseconds of the file systems' clock
  bool complete = true;      // whether that look saw everything
  std::vector<std::string> guards{};  // the names in force, sorted
  std::vector<ToldPath> known{};      // sorted by path
  bool operator==(const Told&) const = default;
};

std::string to_bytes(const Told& told);
// Nothing for a record that is damaged or of another version.
std::optional<Told> parse_told(std::string_view bytes);
// The roots stand at the same place in the records of all versions.
std::optional<std::vector<ToldRoot>> parse_roots(std::string_view bytes);

// Objects at paths of this run, looked up once.
class Identities {
 public:
  const BornFile& of(const Path& path);
  // The file system and the path in it: equal for two names of one file under bind mounts.
  struct Place {
    std::string device{};
    Path path{};
  };
  Place place_of(const Path& path);

 private:
  std::map<Path, BornFile, std::less<>> known_{};
  std::optional<std::vector<MountFact>> mounts_{};
};

// What a record means for this run.
class OtherRun {
 public:
  OtherRun(Told told, Identities& identities);

  // The path as that run knew it, if its sandbox could write there. Trees are found by what they are: the host may
  // have moved them since, or show them at another place by a bind mount.
  std::optional<Path> as_told(const Path& path) const;
  // Whether the path leads to a tree of that run itself; whether one of its trees lies below the path.
  bool is_root(const Path& path) const;
  bool is_below(const Path& path) const;

  // For `found`, which that run knew as `path`: whether its sandbox may have made it, or changed what is there.
  bool may_have_made(const GuardedPath& found, const Path& path) const;
  // The same for something of which only the time of its last change is known.
  bool may_have_made(std::int64_t changed, const Path& path) const;
  // Whether it has made it, as far as the record tells, so that the run judges it at its end. Not for a name that it does not
  // guard: that may have been there before. `look`: where the look began that found it.
  bool has_made(const GuardedPath& found, const Path& path, const Path& look) const;

 private:
  const ToldPath* find(std::string_view path) const;
  bool is_known(const GuardedPath& found, std::string_view path) const;
  bool is_known_object(const GuardedPath& found) const;

  Told told_;
  std::multimap<BornFile, const ToldPath*> objects_{};
  Identities& identities_;
};

}  // namespace coop::guards
