// /etc/subuid, /etc/passwd, /proc/self/uid_map and /proc/self/cgroup: small files of lines.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/accounts.h"
#include "host/machine/cgroups.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const coop::host::IdRange& range : coop::host::parse_subid(text, "user", 1000)) {
    if (range.count == 0) std::abort();
    if (std::uint64_t{range.first} + range.count > 0xffffffff) std::abort();
  }
  if (const auto account = coop::host::parse_passwd(text, 1000)) {
    if (account->name.empty()) std::abort();
    if (!account->home.empty() && account->home[0] != '/') std::abort();
  }
  (void)coop::host::parse_mapped_ids(text);
  for (const auto& [controller, group] : coop::host::parse_own_groups(text))
    if (!group.starts_with('/')) std::abort();
  return 0;
}
