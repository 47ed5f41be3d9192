// Reading and writing files that should be inaccessible.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "payload/payload.h"

namespace payload {
namespace {

// Non-blocking: a FIFO must not turn a refusal into a hang.
int report_contents(int fd) {
  if (fd < 0) return blocked(errno);
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return blocked(errno);
  if (got == 0) return blocked(0);
  return escaped(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
}

// read PATH
int read_path(Arguments a) {
  return report_contents(::open(a[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

// read-at FD NAME: through an inherited directory
int read_at(Arguments a) {
  return report_contents(
      ::openat(static_cast<int>(number(a[0])), a[1], O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

// read-fd FD: an inherited file
int read_fd(Arguments a) { return report_contents(::dup(static_cast<int>(number(a[0])))); }

// climb STEPS NAME: if the current directory is still on another root, ".." leads out of ours
int climb(Arguments a) {
  for (long left = number(a[0]); left > 0; --left)
    if (::chdir("..") != 0) return blocked(errno);
  return read_path(a.subspan(1));
}

// write PATH TEXT: makes the file when it is missing
int write_path(Arguments a) {
  const int fd = ::open(a[0], O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0755);
  if (fd < 0) return blocked(errno);
  const std::string_view text = a[1];
  return judge(::write(fd, text.data(), text.size()));
}

// open-write PATH: only opens, for kernel files that a test must not change
int open_write(Arguments a) { return judge(::open(a[0], O_WRONLY | O_CLOEXEC | O_NONBLOCK)); }

int open_read(Arguments a) { return judge(::open(a[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK)); }

// list DIRECTORY NAME: whether the directory shows the name
int list(Arguments a) {
  DIR* directory = ::opendir(a[0]);
  if (directory == nullptr) return blocked(errno);
  while (const dirent* entry = ::readdir(directory))
    if (std::string_view(entry->d_name) == a[1]) return escaped(a[1]);
  return blocked(ENOENT);
}

// nosuid PATH: whether set-user-id programs there would take effect
int honours_setuid(Arguments a) {
  struct statvfs status{};
  if (::statvfs(a[0], &status) != 0) return cannot_try("statvfs");
  return (status.f_flag & ST_NOSUID) != 0 ? blocked(EPERM) : escaped("set-user-id is honoured");
}

// deep NAME LEVELS: leaves NAME/.git/hooks/evil at the bottom of a path longer than PATH_MAX
int deep(Arguments a) {
  const std::string level(200, 'd');
  if (::mkdir(a[0], 0755) != 0 || ::chdir(a[0]) != 0) return cannot_try(a[0]);
  for (long left = number(a[1]); left > 0; --left)
    if (::mkdir(level.c_str(), 0755) != 0 || ::chdir(level.c_str()) != 0) return blocked(errno);
  for (const char* directory : {".git", ".git/hooks", ".git/objects", ".git/refs"})
    if (::mkdir(directory, 0755) != 0) return blocked(errno);
  const int head = ::open(".git/HEAD", O_WRONLY | O_CREAT, 0644);
  (void)!::write(head, "ref: refs/heads/main\n", 21);
  return judge(::open(".git/hooks/evil", O_WRONLY | O_CREAT, 0755));
}

constexpr std::array kAttacks{
    Attack{"read", 1, read_path},
    Attack{"read-at", 2, read_at},
    Attack{"read-fd", 1, read_fd},
    Attack{"climb", 2, climb},
    Attack{"write", 2, write_path},
    Attack{"open-write", 1, open_write},
    Attack{"open-read", 1, open_read},
    Attack{"list", 2, list},
    Attack{"honours-setuid", 1, honours_setuid},
    Attack{"deep", 2, deep},
};

}  // namespace

std::span<const Attack> file_attacks() { return kAttacks; }

}  // namespace payload
