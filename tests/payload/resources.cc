// Resource bombs. Each is bounded: a missing limit must fail a test, not a machine.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "payload/payload.h"

namespace payload {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// forks COUNT: at most 500 sleepers; all of them end with this process or after ten seconds
int forks(Arguments a) {
  std::vector<pid_t> children;
  int error = 0;
  for (long left = std::min(number(a[0]), 500L); left > 0; --left) {
    const pid_t child = ::fork();
    if (child < 0) {
      error = errno;
      break;
    }
    if (child == 0) {
      ::alarm(10);
      for (;;) ::pause();
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  while (::wait(nullptr) > 0) continue;
  return error != 0 ? blocked(error) : escaped();
}

// allocate MEBIBYTES [SECONDS]: at most a gibibyte, every page touched, and kept that long
int allocate(Arguments a) {
  const long wanted = std::min(number(a[0]), 1024L);
  for (long done = 0; done < wanted; ++done) {
    void* block =
        ::mmap(nullptr, kMebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return blocked(errno);
    std::memset(block, 1, kMebibyte);
  }
  if (a.size() > 1) ::sleep(static_cast<unsigned>(number(a[1])));
  return escaped();
}

// hidden-allocate MEBIBYTES SECONDS: the same, and not dumpable, so that /proc tells others less
int hidden_allocate(Arguments a) {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return allocate(a);
}

// inherit MEBIBYTES COUNT SECONDS: that many processes with one copy of the memory among them
int inherit(Arguments a) {
  const std::size_t size = static_cast<std::size_t>(number(a[0])) * kMebibyte;
  void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return blocked(errno);
  std::memset(block, 1, size);
  for (long left = std::min(number(a[1]), 20L); left > 0; --left)
    if (::fork() == 0) {
      ::sleep(static_cast<unsigned>(number(a[2])));
      ::_exit(0);
    }
  while (::wait(nullptr) > 0) continue;
  return escaped();
}

// fill FILE MEBIBYTES: at most a gibibyte on disk
int fill(Arguments a) {
  const int fd = ::open(a[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return blocked(errno);
  ::signal(SIGXFSZ, SIG_IGN);
  const std::vector<char> block(kMebibyte, 'x');
  int error = 0;
  for (long left = std::min(number(a[1]), 1024L); left > 0 && error == 0; --left)
    if (::write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size()))
      // A short write filled the device; the next one gives the reason.
      error = ::write(fd, block.data(), block.size()) < 0 ? errno : EIO;
  ::unlink(a[0]);
  return error != 0 ? blocked(error) : escaped();
}

// inodes DIRECTORY COUNT: empty files cost no space, only inodes
int inodes(Arguments a) {
  const std::string base = std::string(a[0]) + "/inode-";
  int error = 0;
  long made = 0;
  for (; made < number(a[1]) && error == 0; ++made) {
    const int fd =
        ::open((base + std::to_string(made)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) error = errno;
    ::close(fd);
  }
  while (made-- > 0) ::unlink((base + std::to_string(made)).c_str());
  return error != 0 ? blocked(error) : escaped();
}

// descriptors COUNT
int descriptors(Arguments a) {
  for (long left = number(a[0]); left > 0; --left)
    if (::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return blocked(errno);
  return escaped();
}

// flood MEBIBYTES: to standard output
int flood(Arguments a) {
  const std::string line(kMebibyte, 'x');
  for (long left = std::min(number(a[0]), 256L); left > 0; --left)
    std::fwrite(line.data(), 1, line.size(), stdout);
  std::printf("\n");
  return escaped();
}

// outlast SECONDS: ignores every signal that can be ignored, and uses the CPU
int outlast(Arguments a) {
  for (const int ignored : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU})
    ::signal(ignored, SIG_IGN);
  timespec start{}, now{};
  ::clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    ::clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - start.tv_sec < number(a[0]));
  return escaped("lived on");
}

constexpr std::array kAttacks{
    Attack{"forks", 1, forks},
    Attack{"allocate", 1, allocate},
    Attack{"fill", 2, fill},
    Attack{"inodes", 2, inodes},
    Attack{"descriptors", 1, descriptors},
    Attack{"flood", 1, flood},
    Attack{"outlast", 1, outlast},
    Attack{"inherit", 3, inherit},
    Attack{"hidden-allocate", 2, hidden_allocate},
};

}  // namespace

std::span<const Attack> resource_attacks() { return kAttacks; }

}  // namespace payload
