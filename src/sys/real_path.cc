#include "sys/real_path.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace coop {

Result<Path> real_path(const Path& path) {
  std::array<char, PATH_MAX> buffer;
  if (::realpath(path.c_str(), buffer.data()) == nullptr) return system_error("realpath", path);
  return Path(buffer.data());
}

Path resolved_path(const Path& path) {
  const Result<Path> real = real_path(path);
  if (real || path == "/") return real.value_or("/");
  return join(resolved_path(parent_of(path)), name_of(path));
}

Result<std::vector<Path>> names_on_the_way(const Path& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::vector<Path> names;
  Path here = "/";
  std::string rest = path;
  for (int links = 0; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, end);
    rest.erase(0, end + 1);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      here = parent_of(here);
      continue;
    }
    const Path next = join(here, name);
    struct stat status{};
    if (::lstat(next.c_str(), &status) < 0) return system_error("lstat", next);
    names.push_back(next);
    if (!S_ISLNK(status.st_mode)) {
      here = next;
      continue;
    }
    if (++links > kMostLinks) {
      errno = ELOOP;
      return system_error("open", path);
    }
    const Path target = TRY(read_link(next));
    if (target.starts_with('/')) here = "/";
    rest = target + "/" + rest;
  }
  if (names.empty() || names.back() != here) names.push_back(here);
  return names;
}

Result<Path> read_link(const Path& path) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (size < 0) return system_error("readlink", path);
  return Path(buffer.data(), static_cast<std::size_t>(size));
}

}  // namespace coop
