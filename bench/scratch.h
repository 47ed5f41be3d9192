// A temporary directory for the contenders, removed at the end.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "coop/path.h"

namespace coop::bench {

struct Repository {
  Path path{};
  std::size_t directories = 0;  // .git not counted
};

class Scratch {
 public:
  static Result<Scratch> make();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const Path& path() const { return path_; }
  // Creates missing parent directories.
  Result<Path> directory(std::string_view name) const;
  Result<Path> file(std::string_view name, std::string_view contents) const;

  // The shape of a small git repository: `files` files in a few directories, and a .git with hooks.
  Result<Path> repository(std::string_view name, std::size_t files) const;

  // A large one, in three levels of directories, two seconds old: what coop trusts the time stamps of. Empty with 0 files.
  Result<Repository> large_repository(std::string_view name, std::size_t files) const;

  // `text` without paths of this machine, for reports.
  std::string shown(std::string text) const;

 private:
  explicit Scratch(Path path) : path_(std::move(path)) {}

  Path path_{};
};

}  // namespace coop::bench
