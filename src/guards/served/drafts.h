// Lock files of git's settings, which exist only inside. git writes the new settings into "config.lock" and renames it. If
// it could not even make that, `git checkout -b NEW origin/OLD` would stop halfway: files of the one branch, HEAD of the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sys/fd.h"
#include "sys/fuse/file_system.h"

namespace coop::guards {

class Drafts {
 public:
  using Directory = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

  // A file without a name on the host, beside the settings. EEXIST if there is one already, or one of the host's.
  fuse::Answer<void> make(const Directory& directory, int fd, std::string_view name,
                          std::uint32_t mode);
  // A descriptor of it; invalid when there is none.
  UniqueFd find(const Directory& directory, std::string_view name) const;
  bool remove(const Directory& directory, std::string_view name);
  // Whether it says what `settings` in the directory `fd` say already: then the rename changes nothing, and may succeed.
  bool is_same(const Directory& directory, int fd, std::string_view name,
               std::string_view settings) const;

 private:
  std::map<std::pair<Directory, std::string>, UniqueFd> drafts_{};
};

}  // namespace coop::guards
