// A test in which git directories are not served.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "support/harness.h"

namespace coop::tests {

// Guards by mounts. Root gets a mount namespace without /dev/fuse; an ordinary user's test runs in one.
class WithoutFuse {
 public:
  WithoutFuse() {
    if (!is_root()) return;
    before_ = ::open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
    const bool left = ::unshare(CLONE_NEWNS) == 0 &&
                      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    EXPECT_TRUE(left && (!exists("/dev/fuse") ||
                         ::mount("/dev/null", "/dev/fuse", nullptr, MS_BIND, nullptr) == 0));
  }
  WithoutFuse(const WithoutFuse&) = delete;
  WithoutFuse& operator=(const WithoutFuse&) = delete;
  ~WithoutFuse() {
    if (before_ < 0) return;
    const std::filesystem::path directory = std::filesystem::current_path();
    EXPECT_EQ(::setns(before_, CLONE_NEWNS), 0);
    std::filesystem::current_path(directory);
    ::close(before_);
  }

 private:
  int before_ = -1;
};

}  // namespace coop::tests
