#include "tools/search/file_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/values.h"

namespace coop::tools {

namespace {

constexpr std::size_t kFirst = 65536;

}  // namespace

// False on an error.
bool FileReader::fill(int fd, std::size_t up_to) {
  if (room_ < up_to) {
    auto larger = std::make_unique_for_overwrite<char[]>(up_to);
    if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    room_ = up_to;
  }
  while (size_ < up_to && !ended_) {
    const ssize_t count = ::read(fd, memory_.get() + size_, up_to - size_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    ended_ = count == 0;
    size_ += static_cast<std::size_t>(count);
  }
  return true;
}

Readable FileReader::read(int fd) {
  size_ = 0;
  ended_ = false;
  if (!fill(fd, kFirst) || looks_binary(text())) return Readable::passed;
  if (ended_) return Readable::text;
  struct stat status{};
  if (::fstat(fd, &status) < 0 || static_cast<std::size_t>(status.st_size) > kMost)
    return Readable::passed;
  // One byte more than it has shows its end. One that grows meanwhile, or that has no size, is read in steps.
  std::size_t wanted = std::max(static_cast<std::size_t>(status.st_size) + 1, 2 * kFirst);
  while (!ended_ && size_ <= kMost) {
    wanted = std::min(wanted, kMost + 1);
    if (!fill(fd, wanted)) return Readable::passed;
    wanted = 2 * wanted;
    if (size_ > kMost) return Readable::passed;
  }
  return Readable::text;
}

}  // namespace coop::tools
