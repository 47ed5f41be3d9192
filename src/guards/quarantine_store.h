// Where quarantined files are kept.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "coop/path.h"

namespace coop::guards {

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

  // Creates a symlink where nothing exists.
  static Result<void> make_link(const Path& base, std::string_view relative,
                                const std::string& text);

 private:
  // The directory of the quarantine for what was in `base`, made if it is missing.
  Result<Path> shelf_of(const Path& base);

  Path directory_;
  std::map<Path, Path> shelves_{};  // base → its directory in the quarantine
};

}  // namespace coop::guards
