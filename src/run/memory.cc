#include "run/memory.h"

#include <dirent.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "sys/fd.h"

namespace coop::run {

namespace {

std::string text_of(int pid, std::string_view name) {
  return read_file("/proc/" + std::to_string(pid) + "/" + std::string(name)).value_or("");
}

// Pids inside are not ours: /proc/PID/task/TID/children has them as we see them. A child belongs to the thread that made it.
void add_children(int pid, std::vector<int>& processes) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(tasks.c_str()), &::closedir);
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    const std::string children = read_file(tasks + "/" + entry->d_name + "/children").value_or("");
    const char* at = children.data();
    const char* const end = at + children.size();
    while (at < end) {
      int child = 0;
      const auto [stop, error] = std::from_chars(at, end, child);
      if (error == std::errc{}) processes.push_back(child);
      at = stop + 1;
    }
  }
}

}  // namespace

ProcessMemory parse_memory(std::string_view text) {
  struct Line {
    std::string_view name;
    std::uint64_t ProcessMemory::* field;
  };
  static constexpr std::array kLines{
      Line{"RssAnon:", &ProcessMemory::most},    Line{"RssShmem:", &ProcessMemory::most},
      Line{"VmSwap:", &ProcessMemory::most},     Line{"Pss_Anon:", &ProcessMemory::share},
      Line{"Pss_Shmem:", &ProcessMemory::share}, Line{"SwapPss:", &ProcessMemory::share},
  };
  ProcessMemory memory;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    for (const Line& known : kLines) {
      if (!line.starts_with(known.name)) continue;
      const std::size_t digit = line.find_first_of("0123456789");
      std::uint64_t kilobytes = 0;
      if (digit != std::string_view::npos)
        std::from_chars(line.data() + digit, line.data() + line.size(), kilobytes);
      memory.*known.field += kilobytes * 1024;
    }
  }
  return memory;
}

std::uint64_t memory_of_sandbox(int init, std::uint64_t limit) {
  std::vector<int> processes{init};
  for (std::size_t index = 0; index < processes.size(); ++index)
    add_children(processes[index], processes);
  std::uint64_t most = 0;
  for (const int pid : processes) most += parse_memory(text_of(pid, "status")).most;
  if (most <= limit) return most;
  std::uint64_t sum = 0;
  for (const int pid : processes) {
    const std::string text = text_of(pid, "smaps_rollup");
    // A process that cannot be read (it made itself non-dumpable) counts in full; one that has exited meanwhile has nothing.
    sum += text.empty() ? parse_memory(text_of(pid, "status")).most : parse_memory(text).share;
  }
  return sum;
}

}  // namespace coop::run
