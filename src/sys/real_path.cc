#include "sys/real_path.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

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

Result<Path> read_link(const Path& path) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (size < 0) return system_error("readlink", path);
  return Path(buffer.data(), static_cast<std::size_t>(size));
}

}  // namespace coop
