#include "host/files/home_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/path.h"
#include "sys/fd.h"

namespace coop::host {

const HomeNames* HomeListing::names_in(std::size_t directory) {
  auto& [read, names] = listed_[directory];
  if (std::exchange(read, true)) return names ? &*names : nullptr;
  const UniqueFd fd(
      ::open(join(home_, kDirectories[directory]).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return &names.emplace();
  alignas(8) std::array<char, 32768> buffer;
  const long size =
      fd.valid() ? ::syscall(SYS_getdents64, fd.get(), buffer.data(), buffer.size()) : -1;
  if (size < 0) return nullptr;
  HomeNames found;
  for (long at = 0; at < size;) {
    const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
    found.add(entry->d_name);
    at += entry->d_reclen;
  }
  if (::syscall(SYS_getdents64, fd.get(), buffer.data(), buffer.size()) != 0) return nullptr;
  return &names.emplace(std::move(found));
}

bool HomeListing::misses_below(std::string_view below) {
  std::size_t directory = 0;
  for (std::size_t known = 1; known < kDirectories.size(); ++known)
    if (below.starts_with(kDirectories[known]) &&
        below.substr(kDirectories[known].size()).starts_with('/'))
      directory = known;
  const std::string_view rest =
      directory == 0 ? below : below.substr(kDirectories[directory].size() + 1);
  const HomeNames* names = names_in(directory);
  return names != nullptr && !names->contains(rest.substr(0, rest.find('/')));
}

bool HomeListing::misses(const Path& path) {
  if (path.size() <= home_.size() || !is_within(path, home_)) return false;
  return misses_below(relative_to(path, home_));
}

}  // namespace coop::host
