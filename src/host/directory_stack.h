// Going down and up a directory tree that somebody hostile may have made.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::host {

// A directory open for reading, and the mode it must be given back.
struct OpenDirectory {
  UniqueFd fd{};
  struct stat status{};
  std::optional<mode_t> locked{};  // its own mode, while we have loosened it
  bool jumped = false;             // several levels below the one before it in a stack
};

// Opens `name` in `parent` without following a symlink. A directory of our own that may not be read
// or searched is loosened first: the sandbox has our uid and could hide things behind mode 000.
Result<OpenDirectory> open_unlocked(int parent, const std::string& name);

// A place below a top directory, reached name by name: no path is built, so depth and PATH_MAX do
// not matter, no symlink is followed, and only a fixed number of descriptors is held.
// Every directory gets its mode back when it is left.
class DirectoryStack {
 public:
  static Result<DirectoryStack> open(const Path& top);
  static Result<DirectoryStack> open(int parent, const std::string& name);
  DirectoryStack(DirectoryStack&&) noexcept = default;
  DirectoryStack& operator=(DirectoryStack&&) = delete;
  ~DirectoryStack();

  Result<void> enter(const std::string& name);
  // Enters a relative path of any length; "" stays. `make` is called with the name of each
  // directory before it is entered, unless it is there and open to us anyway.
  template <typename Make>
  Result<void> enter_all(std::string_view relative, Make make);
  Result<void> enter_all(std::string_view relative);
  // An error means the way up is lost (somebody moved the directory): give up the whole walk.
  Result<void> leave();
  // Makes sure that entries of the current directory can be removed, if it is ours.
  void make_writable();

  int fd() const { return frames_.back().fd.get(); }
  std::size_t depth() const { return frames_.size() - 1; }  // 0 at the top
  const struct stat& status() const { return frames_.back().status; }
  const struct stat& status_at(std::size_t depth) const { return frames_[depth].status; }

 private:
  explicit DirectoryStack(OpenDirectory top);
  void push(OpenDirectory directory);
  // Enters a path that is short enough for one system call; false when that does not work.
  bool jump(const std::string& relative);

  std::vector<OpenDirectory> frames_{};
};

// The first components of a relative path, as many as one system call takes; the rest stays.
std::string take_chunk(std::string_view& relative);
// The first component; the rest stays.
std::string take_component(std::string_view& relative);

template <typename Make>
Result<void> DirectoryStack::enter_all(std::string_view relative, Make make) {
  while (!relative.empty()) {
    const std::string chunk = take_chunk(relative);
    if (jump(chunk)) continue;
    for (std::string_view left = chunk; !left.empty();) {
      const std::string name = take_component(left);
      TRY(make(name));
      TRY(enter(name));
    }
  }
  return {};
}

}  // namespace coop::host
