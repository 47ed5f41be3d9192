// Where quarantined files are kept.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "coop/path.h"

namespace coop::run {

class QuarantineStore {
 public:
  // Nothing is made before something is taken.
  explicit QuarantineStore(Path directory) : directory_(std::move(directory)) {}

  const Path& directory() const { return directory_; }

  // Moves base/relative into the store and says where it is now. Each base has a shelf of its own,
  // new in each store object, with the relative paths kept.
  Result<Path> take(const Path& base, std::string_view relative);

  // When it cannot be moved away: gives it a name that no program obeys, beside its place.
  static Result<Path> set_aside(const Path& base, std::string_view relative);

  // False also when that cannot be found out.
  static bool is_gone(const Path& base, std::string_view relative);

  // Puts a symlink where nothing is.
  static Result<void> make_link(const Path& base, std::string_view relative,
                                const std::string& text);

 private:
  Result<Path> shelf_of(const Path& base);

  Path directory_;
  std::map<Path, Path> shelves_{};  // base → shelf
};

}  // namespace coop::run
