#include "machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <thread>

#include "base/path.h"
#include "base/quantity.h"
#include "launch.h"
#include "sys/fd.h"

namespace coop::bench {

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string processor_name() {
  const Result<std::string> text = read_file("/proc/cpuinfo");
  const std::size_t at = text ? text->find("model name") : std::string::npos;
  if (at == std::string::npos) return "unknown";
  const std::string line = first_line(text->substr(at));
  const std::size_t colon = line.find(": ");
  return colon == std::string::npos ? "unknown" : printable(line.substr(colon + 2));
}

// "bubblewrap 0.8.0", as printed by the program itself.
std::string version_of(const Path& program) {
  const Result<Program> asked = Program::prepare(Launch{.arguments = {program, "--version"}});
  if (!asked) return {};
  const Result<std::string> said = asked->rehearse();
  return said ? printable(first_line(*said)) : std::string{};
}

}  // namespace

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

Machine look_at_machine(const Path& coop) {
  Machine machine;
  utsname names{};
  if (::uname(&names) == 0) machine.kernel = std::string(names.sysname) + " " + names.release;
  machine.processor = processor_name();
  machine.cores = std::thread::hardware_concurrency();
  machine.memory = format_size(static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  machine.user = ::geteuid() == 0 ? "root" : "an ordinary user";
  machine.load_before = load_average();
  machine.versions.push_back(version_of(coop));
  for (const char* name :
       {"bwrap", "unshare", "firejail", "crun", "runc", "pasta", "slirp4netns", "g++"}) {
    const Result<Path> program = find_program(name);
    machine.versions.push_back(program ? version_of(*program)
                                       : std::string(name) + ": not installed");
  }
  std::erase(machine.versions, std::string{});
  return machine;
}

}  // namespace coop::bench
