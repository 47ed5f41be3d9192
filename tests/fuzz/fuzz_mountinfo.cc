// /proc/self/mountinfo: sources and targets of mounts are chosen by any user.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/probe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const coop::MountFact& mount : coop::host::parse_mountinfo(text)) {
    if (!mount.target.starts_with('/') || mount.type.empty()) std::abort();
    if (mount.target.size() > size || mount.source.size() > size) std::abort();
  }
  return 0;
}
