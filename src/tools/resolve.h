// From a path of a view to a descriptor of exactly that file, and what it is called on the host.
#pragma once

#include <sys/stat.h>

#include "tools/view_check.h"

namespace coop::tools {

struct Resolved {
  Location location{};  // after every link that leads to another tree
  UniqueFd fd{};        // O_PATH; not valid when there is no such file
  Path host{};          // canonical, the kernel's name of it; empty when there is none
  struct stat status{};
};

// Refuses what the view does not show, both by its text (so that nobody learns whether it exists) and
// by what the kernel says was opened.
Result<Resolved> resolve(const FileView::State& view, const Request& request);

// The kernel's name of a descriptor; an error when the file has been removed.
Result<Path> name_of_descriptor(const UniqueFd& fd, const Request& request);

// Opens again what `fd` (O_PATH) refers to, for reading. Nothing is looked up by a path. Only plain
// files and directories: opening a device can set things off, and a FIFO waits.
Result<UniqueFd> reopen(const UniqueFd& fd, const struct stat& status, const Request& request);

}  // namespace coop::tools
