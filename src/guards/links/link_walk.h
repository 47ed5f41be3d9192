// Follows symlinks under guarded names and in guarded directories: host programs obey what they lead to.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "guards/findings.h"
#include "guards/trail.h"
#include "host/facts.h"
#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"

namespace coop::guards {

class LinkWalk {
 public:
  // `writable`: the trees in which a target is guarded too.
  LinkWalk(Findings& found, std::vector<Path> writable)
      : found_(found), writable_(std::move(writable)) {}

  // What a guarded symlink leads to, and the symlinks on the way there. `rest`: the part of the guard's name that lies
  // behind it, "/settings.json".
  void behind(const GuardedPath& link, std::string_view rest);
  // What the symlinks in a guarded directory lead to, at any depth.
  void in_directory(const Path& directory, const GuardedPath& guarded);
  // A path named in git's configuration, if it exists. Absolute only.
  void named(const NamedPath& name);

 private:
  struct Level {
    std::vector<std::string> pending{};  // directories to enter
    std::size_t next = 0;
    std::size_t path_length = 0;  // of the directory above
  };

  Level look(DirectoryStack& at, const Path& path, const GuardedPath& guarded);
  bool enter(DirectoryStack& at, const std::string& name, const Path& path);
  void walk(DirectoryStack& at, Path path, const GuardedPath& guarded);
  void in_directory_outside(const GuardedPath& directory);

  Findings& found_;
  std::vector<Path> writable_;
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
  std::size_t followed_ = 0;
  std::set<Path> followed_in_{};  // directories
  TrailMemo trails_{};
};

}  // namespace coop::guards
