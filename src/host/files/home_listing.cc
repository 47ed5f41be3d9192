#include "host/files/home_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "base/path.h"
#include "sys/fd.h"

namespace coop::host {

namespace {

constexpr std::array<std::string_view, 4> kDirectories{".config", ".local/share", ".local/state",
                                                       ".cache"};

}  // namespace

const HomeListing::Names* HomeListing::names_in(std::string_view directory) {
  const auto [place, added] = listed_.try_emplace(directory);
  std::optional<Names>& names = place->second;
  if (!added) return names ? &*names : nullptr;
  const UniqueFd fd(::open(join(home_, directory).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return &names.emplace();
  alignas(8) std::array<char, 32768> buffer;
  const long size =
      fd.valid() ? ::syscall(SYS_getdents64, fd.get(), buffer.data(), buffer.size()) : -1;
  if (size < 0) return nullptr;
  Names found;
  for (long at = 0; at < size;) {
    const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
    found.emplace(entry->d_name);
    at += entry->d_reclen;
  }
  if (::syscall(SYS_getdents64, fd.get(), buffer.data(), buffer.size()) != 0) return nullptr;
  return &names.emplace(std::move(found));
}

bool HomeListing::misses_below(std::string_view below) {
  std::string_view directory;
  for (const std::string_view known : kDirectories)
    if (below.starts_with(known) && below.substr(known.size()).starts_with('/')) directory = known;
  const std::string_view rest = directory.empty() ? below : below.substr(directory.size() + 1);
  const Names* names = names_in(directory);
  return names != nullptr && !names->contains(rest.substr(0, rest.find('/')));
}

bool HomeListing::misses(const Path& path) {
  if (path.size() <= home_.size() || !is_within(path, home_)) return false;
  return misses_below(relative_to(path, home_));
}

}  // namespace coop::host
