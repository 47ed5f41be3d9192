// Where quarantined files are kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "guards/versions.h"
#include "sys/fd.h"
#include "sys/tree/move_tree.h"

namespace coop::guards {

// A directory of ours without access for others, made with those above it if it is missing.
Result<UniqueFd> open_private(const Path& path);

class QuarantineStore {
 public:
  // Nothing is created before the first take().
  explicit QuarantineStore(Path directory) : directory_(std::move(directory)) {}

  const Path& directory() const { return directory_; }

  // Moves base/relative into the store and returns its new path. Each base has its own
  // subdirectory, new for each store object, with the relative paths kept.
  Result<Path> take(const Path& base, std::string_view relative);

  // If it cannot be moved: renames it in place to a name that no program obeys.
  static Result<Path> set_aside(const Path& base, std::string_view relative);

  // Also false when that cannot be determined.
  static bool is_gone(const Path& base, std::string_view relative);

  // What is at base/relative now.
  static std::optional<Version> version(const Path& base, std::string_view relative,
                                        const Path& path);
  // Makes it again at base/relative, where nothing is, and keeps a copy for last_put_back() of other stores.
  Result<void> put_back(const Path& base, std::string_view relative, const Version& version) const;
  // What a store beside this one, or this, last put back at version.path, not before `since` (nanoseconds of the file
  // systems' clock).
  std::optional<Version> last_put_back(const Path& path, std::int64_t since) const;
  // Keeps a copy of a version that is not put back. Returns where.
  Result<Path> keep(const Version& version) const;

  // Creates a symlink where nothing exists.
  static Result<void> make_link(const Path& base, std::string_view relative,
                                const std::string& text);

 private:
  // The directory of the quarantine for what was in `base`, made if it is missing.
  Result<Path> shelf_of(const Path& base);

  Path directory_;
  std::map<Path, Path> shelves_{};  // base → its directory in the quarantine
  HardLinks links_{};               // among what was copied
};

// Directories in the trees themselves, one for each, into which entries are renamed under names that no program obeys.
class Heap {
 public:
  // Returns where the entry is now.
  Result<Path> add(const Path& base, const EntryName& entry);
  // The directories.
  std::vector<Path> take();

 private:
  struct Place {
    UniqueFd directory{};
    Path path{};
    std::uint64_t count = 0;
  };
  std::map<Path, Place> places_{};
};

}  // namespace coop::guards
