// Descending and ascending in a directory tree that an attacker may have made.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace coop {

// The bits of st_mode that chmod(2) sets.
inline constexpr mode_t kPermissions = 07777;

// A directory open for reading, and the mode to restore.
struct OpenDirectory {
  UniqueFd fd{};
  struct stat status{};
  std::optional<mode_t> locked{};  // its original mode, while we have relaxed it
  bool jumped = false;             // several levels below the previous frame of the stack
};

// Opens `name` in `parent` without following a symlink. The mode of an unreadable directory of our
// own is relaxed first: the sandbox has our uid and could hide files behind mode 000.
Result<OpenDirectory> open_unlocked(int parent, const std::string& name);

// A position below a top directory, reached component by component: no path is built, so depth and
// PATH_MAX do not matter, no symlink is followed, and the number of open descriptors is fixed. The
// mode of every directory is restored when it is left.
class DirectoryStack {
 public:
  static Result<DirectoryStack> open(const Path& top);
  static Result<DirectoryStack> open(int parent, const std::string& name);
  DirectoryStack(DirectoryStack&&) noexcept = default;
  DirectoryStack& operator=(DirectoryStack&&) = delete;
  ~DirectoryStack();

  Result<void> enter(const std::string& name);
  // Enters a relative path of any length; "" stays. `make` is called with the name of each
  // directory before it is entered, unless it exists and is accessible already.
  template <typename Make>
  Result<void> enter_all(std::string_view relative, Make make);
  Result<void> enter_all(std::string_view relative);
  // An error means that the parent cannot be found again (the directory was moved): abort the walk.
  Result<void> leave();
  // Makes the current directory writable, if it is ours, so that its entries can be removed.
  void make_writable();

  int fd() const { return frames_.back().fd.get(); }
  std::size_t depth() const { return frames_.size() - 1; }  // 0 at the top
  const struct stat& status() const { return frames_.back().status; }
  const struct stat& status_at(std::size_t depth) const { return frames_[depth].status; }

 private:
  explicit DirectoryStack(OpenDirectory top);
  void push(OpenDirectory directory);
  // Enters a path that fits into one system call; false on failure.
  bool jump(const std::string& relative);

  std::vector<OpenDirectory> frames_{};
};

// Removes from `relative` as many leading components as fit into one system call, and returns them.
std::string take_chunk(std::string_view& relative);
// Removes and returns the first component.
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

}  // namespace coop
