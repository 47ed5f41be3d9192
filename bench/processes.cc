#include "processes.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>

#include "sys/fd.h"

namespace coop::bench {

namespace {

// "1234 (a name) S 1 …": the name may contain anything, so its end is the last parenthesis.
bool read_stat(const std::string& directory, ProcessFact& fact) {
  const Result<std::string> text = read_file(directory + "/stat");
  if (!text) return false;
  const std::size_t open = text->find('(');
  const std::size_t close = text->rfind(')');
  if (open == std::string::npos || close == std::string::npos) return false;
  fact.name = text->substr(open + 1, close - open - 1);
  std::istringstream rest(text->substr(close + 1));
  char state = 0;
  rest >> state >> fact.parent;
  return !rest.fail();
}

std::vector<ProcessFact> all_processes() {
  std::vector<ProcessFact> facts;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    ProcessFact fact;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), fact.pid);
    if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) continue;
    if (read_stat(entry.path(), fact)) facts.push_back(std::move(fact));
  }
  return facts;
}

std::uint64_t field_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + ":");
  if (at == std::string::npos) return 0;
  std::uint64_t value = 0;
  std::istringstream(text.substr(at + name.size() + 2)) >> value;
  return value;
}

}  // namespace

std::vector<ProcessFact> descendants_of(pid_t root) {
  std::multimap<pid_t, ProcessFact> by_parent;
  for (ProcessFact& fact : all_processes()) by_parent.emplace(fact.parent, std::move(fact));
  std::vector<ProcessFact> found;
  std::vector<pid_t> pending{root};
  while (!pending.empty()) {
    const pid_t parent = pending.back();
    pending.pop_back();
    const auto [first, last] = by_parent.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      pending.push_back(child->second.pid);
    }
  }
  return found;
}

MemoryUse memory_of(pid_t pid) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  if (!text || text->empty()) return {};
  return MemoryUse{
      .private_kib = field_of(*text, "Private_Clean") + field_of(*text, "Private_Dirty"),
      .anonymous_kib = field_of(*text, "Pss_Anon"),
      .resident_kib = field_of(*text, "Rss"),
      .readable = true};
}

bool shares_memory(pid_t one, pid_t other) {
  return ::syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0;
}

std::uint64_t available_kib() {
  const Result<std::string> text = read_file("/proc/meminfo");
  return text ? field_of(*text, "MemAvailable") : 0;
}

}  // namespace coop::bench
