#include <fcntl.h>
#include <unistd.h>

#include "sys/tree/move_tree.h"

namespace coop {

namespace {

constexpr int kTries = 1000;

std::pair<std::uint64_t, std::uint64_t> key_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

}  // namespace

// Names, not descriptors: there may be more files with several links than a process may have open.
void HardLinks::begin(int directory) {
  if (parent_.valid()) return;
  parent_.reset(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  for (int attempt = 0; !directory_.valid() && attempt < kTries; ++attempt) {
    name_ = ".coop-links-" + std::to_string(attempt);
    if (::mkdirat(parent_.get(), name_.c_str(), 0700) == 0)
      directory_.reset(
          ::openat(parent_.get(), name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
}

HardLinks::~HardLinks() {
  for (const auto& [key, copy] : copies_) ::unlinkat(directory_.get(), copy.name.c_str(), 0);
  if (directory_.valid()) ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
}

bool HardLinks::link(const struct stat& status, const EntryName& to) const {
  const auto known = copies_.find(key_of(status));
  // A file that has this inode number now, or these bytes no longer.
  if (known == copies_.end() || known->second.size != status.st_size ||
      known->second.written.tv_sec != status.st_mtim.tv_sec ||
      known->second.written.tv_nsec != status.st_mtim.tv_nsec)
    return false;
  return ::linkat(directory_.get(), known->second.name.c_str(), to.directory, to.name.c_str(), 0) ==
         0;
}

void HardLinks::remember(const struct stat& status, const EntryName& copy) {
  if (!directory_.valid() || status.st_nlink < 2) return;
  const std::string name = std::to_string(copies_.size());
  if (::linkat(copy.directory, copy.name.c_str(), directory_.get(), name.c_str(), 0) < 0) return;
  copies_[key_of(status)] = {.name = name, .size = status.st_size, .written = status.st_mtim};
}

}  // namespace coop
