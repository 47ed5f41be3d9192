// The names in a directory, by getdents64(2): no allocation per name, no stat.
#pragma once

#include <dirent.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace coop {

using EntryBuffer = std::array<char, 65536>;

// Not zeroed: most directories are small, and each touched page costs a fault.
inline std::unique_ptr<EntryBuffer> make_entry_buffer() {
  return std::make_unique_for_overwrite<EntryBuffer>();
}

enum class Next { go_on, stop };

// Calls `visit(name, type)`, or `visit(name, type, inode)`, for each entry except "." and ".."; `type` is a DT_* (DT_UNKNOWN
// on some file systems) and `name.data()` ends with a NUL. Continues at the descriptor's offset.
template <typename Visit>
Result<void> for_each_entry(int directory, EntryBuffer& buffer, Visit visit) {
  for (;;) {
    const ssize_t count = ::getdents64(directory, buffer.data(), buffer.size());
    if (count < 0) return system_error("getdents64");
    if (count == 0) return {};
    for (ssize_t offset = 0; offset < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + offset);
      offset += entry->d_reclen;
      const std::string_view name(entry->d_name);
      if (name == "." || name == "..") continue;
      auto next = Next::go_on;
      if constexpr (std::is_invocable_v<Visit, std::string_view, unsigned char, std::uint64_t>)
        next = visit(name, entry->d_type, std::uint64_t{entry->d_ino});
      else next = visit(name, entry->d_type);
      if (next == Next::stop) return {};
    }
  }
}

}  // namespace coop
