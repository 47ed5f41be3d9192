// Walks a directory of a view by descriptors: no symlink is followed, nothing hidden is shown.
#pragma once

#include <sys/stat.h>

#include <functional>

#include "tools/files/view.h"

namespace coop::tools {

enum class Next : std::uint8_t { enter, pass, stop };

struct WalkEntry {
  const UniqueFd& fd;  // O_PATH
  const struct stat& status;
  std::string_view name;
  const Path& shown;
};

struct Walked {
  std::size_t hidden = 0;   // skipped because a rule hides them
  bool incomplete = false;  // too deep, too many in one directory, or not readable
};

// Ordered by name, a directory before its contents. `Next::enter` descends into a directory, at
// most `depth` levels in all.
Walked walk(const FileView& view, const OpenedFile& top, int depth,
            const std::function<Next(const WalkEntry&)>& visit);

}  // namespace coop::tools
