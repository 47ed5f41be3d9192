#include "guards/served/drafts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

namespace coop::guards {

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;

std::optional<std::string> contents_of(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) > kLargest)
    return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  if (size != static_cast<ssize_t>(text.size())) return std::nullopt;
  return text;
}

}  // namespace

fuse::Answer<void> Drafts::make(const Directory& directory, int fd, std::string_view name,
                                std::uint32_t mode) {
  const std::pair key(directory, std::string(name));
  struct stat status{};
  if (drafts_.contains(key) || ::fstatat(fd, key.second.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    return std::unexpected(EEXIST);
  // O_EXCL: it can never get a name.
  UniqueFd file(::openat(fd, ".", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, mode));
  if (!file.valid()) return std::unexpected(errno);
  drafts_[key] = std::move(file);
  return {};
}

UniqueFd Drafts::find(const Directory& directory, std::string_view name) const {
  const auto found = drafts_.find(std::pair(directory, std::string(name)));
  if (found == drafts_.end()) return {};
  return UniqueFd(::fcntl(found->second.get(), F_DUPFD_CLOEXEC, 0));
}

bool Drafts::remove(const Directory& directory, std::string_view name) {
  return drafts_.erase(std::pair(directory, std::string(name))) > 0;
}

bool Drafts::is_same(const Directory& directory, int fd, std::string_view name,
                     std::string_view settings) const {
  const UniqueFd draft = find(directory, name);
  const UniqueFd present(
      ::openat(fd, std::string(settings).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!draft.valid() || !present.valid()) return false;
  const std::optional<std::string> text = contents_of(present.get());
  return text && contents_of(draft.get()) == text;
}

}  // namespace coop::guards
