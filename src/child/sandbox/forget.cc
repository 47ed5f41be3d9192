// init's memory is a copy of the supervisor's: heap, thread stacks, environment. It is not needed
// any more, and it costs more as the supervisor's own pages change (copy-on-write).
#include <sys/mman.h>

#include "child/state.h"

namespace coop::child {

namespace {

// Parses a line of /proc/self/maps byte by byte: "7f00c0000000-7f00c0021000 rw-p 00000000 00:00 0
// [heap]".
class Line {
 public:
  // True when `byte` ended it.
  bool take(char byte) noexcept {
    if (byte == '\n') return true;
    if (byte == ' ' && previous_ != ' ') ++field_;
    else if (field_ == 0 && byte == '-') at_end_ = true;
    else if (field_ == 0) (at_end_ ? end_ : start_) = (at_end_ ? end_ : start_) * 16 + digit(byte);
    else if (field_ == 1) permissions_ = permissions_ << 8 | static_cast<unsigned char>(byte);
    else if (field_ >= 5 && byte == '/' && previous_ == ' ') file_ = true;
    previous_ = byte;
    return false;
  }

  // Private, writable, anonymous, and not our stack.
  bool is_copy(std::uintptr_t here) const noexcept {
    const bool writable = (permissions_ >> 16 & 0xff) == 'w';
    const bool is_private = (permissions_ & 0xff) == 'p';
    return writable && is_private && !file_ && (here < start_ || here >= end_);
  }
  std::uintptr_t start() const noexcept { return start_; }
  std::uintptr_t size() const noexcept { return end_ - start_; }

 private:
  static std::uintptr_t digit(char byte) noexcept {
    return static_cast<std::uintptr_t>(byte <= '9' ? byte - '0' : byte - 'a' + 10);
  }

  std::uintptr_t start_ = 0;
  std::uintptr_t end_ = 0;
  std::uint32_t permissions_ = 0;  // the four letters
  int field_ = 0;
  bool at_end_ = false;
  bool file_ = false;
  char previous_ = 0;
};

}  // namespace

void forget_supervisor() noexcept {
  const ScopedFd maps(raw::call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0));
  if (maps.failed()) return;  // a sandbox without /proc: only costs memory
  char buffer[4096] = {};
  const auto here = reinterpret_cast<std::uintptr_t>(buffer);
  Line line;
  for (;;) {
    const long count = raw::call(SYS_read, maps.get(), buffer, sizeof buffer);
    if (count <= 0) return;
    for (long index = 0; index < count; ++index) {
      if (!line.take(buffer[index])) continue;
      if (line.is_copy(here)) raw::call(SYS_madvise, line.start(), line.size(), MADV_DONTNEED);
      line = Line{};
    }
  }
}

}  // namespace coop::child
