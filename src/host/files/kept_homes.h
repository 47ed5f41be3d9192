// Homes that coop keeps between runs. STATE/homes/NAME has `home`, which the sandbox sees as HOME; `lock`, which every
// sandbox that uses it holds; and `about`, the workspace it was made for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "coop/path.h"
#include "sys/fd.h"

namespace coop::host {

struct KeptHome {
  std::string name{};
  Path path{};  // the directory itself
  Path workspace{};
  std::int64_t used = 0;  // last, in seconds since 1970
  bool in_use = false;
  bool operator==(const KeptHome&) const = default;
};

// The directory itself.
Path kept_home(const Path& state_directory, std::string_view name);

// Puts a file there, in place of one that it may have, for its owner only. Follows no symlink: the sandbox could have led
// one to a file of the host.
Result<void> put_in_home(const Path& state_directory, const std::string& name,
                         const std::string& file, std::string_view contents);

// Makes what is missing. As long as the result is open, remove_home() refuses.
Result<UniqueFd> hold_home(const Path& state_directory, const std::string& name,
                           const Path& workspace);

// By name.
Result<std::vector<KeptHome>> kept_homes(const Path& state_directory);

// With all it has. An error while a sandbox uses it. Follows no symlink: the sandbox has written what is in it.
Result<void> remove_home(const Path& state_directory, const std::string& name);

}  // namespace coop::host
