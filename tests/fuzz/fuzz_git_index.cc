// The index of a git directory: whatever the bytes are, a path that leads out of the working tree is seen.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "guards/git/index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coop::guards;
  const auto judge = [](const std::string& bytes, ObjectFormat format) {
    const auto read = [&](std::uint64_t offset, std::span<char> buffer) {
      if (offset > bytes.size() || buffer.size() > bytes.size() - offset) std::abort();
      std::memcpy(buffer.data(), bytes.data() + offset, buffer.size());
      return true;
    };
    return danger_of_index({.size = bytes.size(), .read = read}, format);
  };
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const ObjectFormat format : {ObjectFormat::sha1, ObjectFormat::sha256}) {
    if (judge(bytes, format)) continue;
    // The entry before all others is found, unless a table of blocks says that git begins elsewhere.
    const std::size_t hash = format == ObjectFormat::sha1 ? 20 : 32;
    std::string entry = std::string(24, '\0') + std::string("\0\0\x81\xa4", 4) +
                        std::string(12 + hash, 'h') + std::string("\0\4", 2) +
                        (bytes[7] == 4 ? std::string("\0../x\0", 6) : "../x");
    if (bytes[7] != 4) entry += std::string(8 - entry.size() % 8, '\0');
    std::string longer = bytes;
    longer.insert(12, entry);
    for (std::size_t at = 12; at-- > 8;)
      if (++longer[at] != 0) break;
    if (!judge(longer, format)) std::abort();
  }
  const std::string_view text(bytes);
  if (is_safe_index_path(text, IndexEntry::file) &&
      (text.empty() || text.front() == '/' || ("/" + bytes + "/").contains("/../") ||
       ("/" + bytes + "/").contains("/.git/")))
    std::abort();
  return 0;
}
