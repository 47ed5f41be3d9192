// Other processes' memory, environment and descriptors.
#include <dirent.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "payload/payload.h"

namespace payload {
namespace {

std::string proc_path(const char* process, const char* name) {
  return std::string("/proc/") + process + "/" + name;
}

// memory PID: opens the other's memory for writing
int open_memory(Arguments a) {
  return judge(::open(proc_path(a[0], "mem").c_str(), O_RDWR | O_CLOEXEC));
}

// vm-read PID
int vm_read(Arguments a) {
  char byte = 0;
  const iovec local{&byte, 1};
  // Permission is checked before the address: an invalid address gives EFAULT only if permitted.
  const iovec remote{nullptr, 1};
  const ssize_t got =
      ::process_vm_readv(static_cast<pid_t>(number(a[0])), &local, 1, &remote, 1, 0);
  return got == 1 || errno == EFAULT ? escaped("allowed to read") : blocked(errno);
}

// search-environment PID TEXT: the environment the process was started with
int search_environment(Arguments a) {
  const int fd = ::open(proc_path(a[0], "environ").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return blocked(errno);
  std::string all;
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  while ((got = ::read(fd, buffer.data(), buffer.size())) > 0)
    all.append(buffer.data(), static_cast<std::size_t>(got));
  if (got < 0) return blocked(errno);
  return all.find(a[1]) != std::string::npos ? escaped(a[1]) : blocked(ENOENT);
}

// Reads one mapping page by page; a guard page or device mapping is simply skipped.
bool mapping_has(int memory, unsigned long start, unsigned long end, std::string_view text) {
  std::string carried;
  std::array<char, 65536> buffer;
  for (unsigned long at = start; at < end;) {
    const ssize_t got =
        ::pread(memory, buffer.data(), std::min(end - at, buffer.size()), static_cast<off_t>(at));
    if (got <= 0) return false;
    carried.append(buffer.data(), static_cast<std::size_t>(got));
    if (carried.find(text) != std::string::npos) return true;
    carried.erase(0, carried.size() - std::min(carried.size(), text.size()));
    at += static_cast<unsigned long>(got);
  }
  return false;
}

// search-memory PID TEXT: all of it, as a debugger would
int search_memory(Arguments a) {
  const int memory = ::open(proc_path(a[0], "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) return blocked(errno);
  FILE* maps = ::fopen(proc_path(a[0], "maps").c_str(), "re");
  if (maps == nullptr) return blocked(errno);
  unsigned long start = 0, end = 0;
  std::array<char, 4096> line;
  while (std::fgets(line.data(), line.size(), maps) != nullptr)
    if (std::sscanf(line.data(), "%lx-%lx r", &start, &end) == 2 &&
        mapping_has(memory, start, end, a[1]))
      return escaped(a[1]);
  return blocked(ENOENT);
}

// descriptors-of PID: whether any of them can be reopened
int reopen_descriptors(Arguments a) {
  const std::string directory = proc_path(a[0], "fd");
  DIR* entries = ::opendir(directory.c_str());
  if (entries == nullptr) return blocked(errno);
  int last = ENOENT;
  while (const dirent* entry = ::readdir(entries)) {
    if (entry->d_name[0] == '.') continue;
    const std::string path = directory + "/" + entry->d_name;
    if (::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0) return escaped(path);
    last = errno;
  }
  return blocked(last);
}

// inherited: any descriptor besides the first three
int inherited(Arguments) {
  std::string found;
  DIR* entries = ::opendir("/proc/self/fd");
  if (entries == nullptr) return cannot_try("/proc/self/fd");
  while (const dirent* entry = ::readdir(entries)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > 2 && fd != ::dirfd(entries)) found += std::string(entry->d_name) + " ";
  }
  return found.empty() ? blocked(EBADF) : escaped(found);
}

// variable NAME: whether the environment contains it
int variable(Arguments a) {
  const char* value = ::getenv(a[0]);
  return value == nullptr ? blocked(ENOENT) : escaped(value);
}

// arguments …: prints what arrived
int arguments(Arguments a) {
  std::string all;
  for (const char* argument : a) all += std::string("[") + argument + "]";
  return escaped(all);
}

constexpr std::array kAttacks{
    Attack{"memory", 1, open_memory},
    Attack{"vm-read", 1, vm_read},
    Attack{"search-environment", 2, search_environment},
    Attack{"search-memory", 2, search_memory},
    Attack{"descriptors-of", 1, reopen_descriptors},
    Attack{"inherited", 0, inherited},
    Attack{"variable", 1, variable},
    Attack{"arguments", 0, arguments},
};

}  // namespace

std::span<const Attack> memory_attacks() { return kAttacks; }

}  // namespace payload
