// /proc/net/unix: names there are chosen by any program of the machine.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/probe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto names = coop::host::parse_unix_sockets(text);
  if (!std::ranges::is_sorted(names) || std::ranges::adjacent_find(names) != names.end())
    std::abort();
  for (const coop::Path& name : names) {
    if (!name.starts_with('/') || name.find('\n') != coop::Path::npos) std::abort();
    if (text.find(name) == std::string_view::npos) std::abort();
  }
  return 0;
}
