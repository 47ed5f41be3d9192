#include "sys/own_descriptors.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace coop {

Result<void> leave_program(std::vector<int> keep) {
  if (::unshare(CLONE_FILES) < 0) return system_error("unshare", "descriptors");
  std::ranges::sort(keep);
  unsigned next = 0;
  for (const int fd : keep) {
    const auto number = static_cast<unsigned>(fd);
    if (fd < 0 || number < next) continue;
    if (number > next && ::close_range(next, number - 1, 0) < 0) return system_error("close_range");
    next = number + 1;
  }
  if (::close_range(next, UINT_MAX, 0) < 0) return system_error("close_range");
  // Keep 0, 1 and 2 open on /dev/null: an error message must not be written to a connection with
  // such a number.
  for (int fd = 0; fd >= 0 && fd <= STDERR_FILENO;) {
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd > STDERR_FILENO) ::close(fd);
  }
  return {};
}

}  // namespace coop
