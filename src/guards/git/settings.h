// Paths in git's configuration files that git obeys: hooks directories and included files.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/path.h"

namespace coop::guards {

struct GitSettings {
  // core.hooksPath and init.templateDir, as written; every value, not the last
  std::vector<std::string> hooks{};
  std::vector<std::string> worktrees{};  // core.worktree, as written
  std::vector<Path> files{};             // included, absolute, not normalised; they need not exist
  bool empty() const { return hooks.empty() && files.empty(); }
};

// Expands a path of a setting as git does: "~/x" in the home directory, "~bob/x" in bob's, the rest below `base`. Not
// normalised, because ".." after a symlink is not textual. Empty if it is outside our concern.
Path expand_setting(std::string_view value, const Path& base, const Path& home);

// "~bob/x" of an account that is not in /etc/passwd, or "~/x" without a home.
bool is_home_not_known(std::string_view value, const Path& home);

class GitSettingsReader {
 public:
  // `writable`: the trees in which a sandbox could have made a file unreadable.
  GitSettingsReader(Path home, std::vector<Path> writable);

  // Adds the settings of `name` in `directory` (a descriptor, or AT_FDCWD), and of its includes.
  // Conditions of includes count as true: they may become so. False when there is no file.
  bool read(int directory, const std::string& name, const Path& path, GitSettings& settings);

  const std::set<std::string>& notes() const { return notes_; }

  // Why what has been read is not all that git would read: what else is named is not known. The first cause.
  const std::optional<Error>& failure() const { return failure_; }
  // `path`, that a sandbox may have made unreadable with `error`: the first cause, or a note.
  void unreadable(const Path& path, int error);

 private:
  bool read(int directory, const std::string& name, const Path& path, GitSettings& settings,
            int depth);
  void note_unreadable(const Path& path);
  void note_home(std::string_view value, const Path& file);
  void fail(Error::Kind kind, int error, const Path& path, std::string hint);

  Path home_;
  std::vector<Path> writable_;
  std::set<Path> seen_{};  // by the file that is read now
  int included_ = 0;       // by that file
  int all_included_ = 0;
  std::optional<Error> failure_{};
  std::set<std::string> notes_{};
};

}  // namespace coop::guards
