// Memory of the processes below this one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace coop::bench {

struct ProcessFact {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name{};
};

// Every descendant of `root`, unordered.
std::vector<ProcessFact> descendants_of(pid_t root);

struct MemoryUse {
  std::uint64_t private_kib = 0;    // pages no other process maps
  std::uint64_t anonymous_kib = 0;  // anonymous; shared pages are divided among the sharers
  std::uint64_t resident_kib = 0;   // everything mapped and present, shared or not
  bool readable = false;
};
MemoryUse memory_of(pid_t pid);

// As after vfork: both have the same address space.
bool shares_memory(pid_t one, pid_t other);

// MemAvailable of the whole machine.
std::uint64_t available_kib();

}  // namespace coop::bench
