#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/path.h"
#include "host/probe.h"
#include "host/text.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::host {

// "0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x.sock". Names are as passed to
// bind(); only absolute ones can be located.
std::vector<Path> parse_unix_sockets(std::string_view text) {
  std::set<Path> names;
  while (const auto line = take_line(text)) {
    const std::size_t slash = line->find(" /");
    if (slash != std::string_view::npos) names.emplace(line->substr(slash + 1));
  }
  return {names.begin(), names.end()};
}

void inspect_sockets(HostFacts& facts, std::span<const Path> shown) {
  const Result<std::string> text = read_file("/proc/net/unix");
  if (!text) return;  // no such file: no Unix sockets in this kernel
  for (const Path& name : parse_unix_sockets(*text)) {
    const Result<Path> path = real_path(name);
    if (!path) continue;
    const auto shows = [&](const Path& tree) { return is_within(*path, tree); };
    struct stat status{};
    if (std::ranges::any_of(shown, shows) && ::lstat(path->c_str(), &status) == 0 &&
        S_ISSOCK(status.st_mode))
      facts.sockets.push_back(*path);
  }
}

}  // namespace coop::host
