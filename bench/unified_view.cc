#include "unified_view.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include <thread>

namespace coop::bench {

namespace {

constexpr const char* kGroups = "/sys/fs/cgroup";

Result<UniqueFd> make_here() {
  if (::unshare(CLONE_NEWNS) != 0) return system_error("unshare", "CLONE_NEWNS");
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return system_error("mount", "/");
  if (::umount2(kGroups, MNT_DETACH) != 0) return system_error("umount2", kGroups);
  if (::mount("none", kGroups, "cgroup2", 0, nullptr) != 0) return system_error("mount", kGroups);
  return open_file("/proc/thread-self/ns/mnt", O_RDONLY);
}

Result<void> enter(int fd) {
  // A thread may change its mount namespace only after unshare(CLONE_FS).
  if (::unshare(CLONE_FS) != 0) return system_error("unshare", "CLONE_FS");
  if (::setns(fd, CLONE_NEWNS) != 0) return system_error("setns", "CLONE_NEWNS");
  return {};
}

}  // namespace

Result<UnifiedView> UnifiedView::make() {
  Result<UniqueFd> made = invalid("unified view", "not made");
  std::thread([&] { made = make_here(); }).join();
  UniqueFd fd = TRY(std::move(made));
  return UnifiedView(std::move(fd));
}

Result<void> UnifiedView::within(const std::function<void()>& work) const {
  Result<void> entered{};
  std::thread([&] {
    entered = enter(namespace_.get());
    if (entered) work();
  }).join();
  return entered;
}

}  // namespace coop::bench
