// Sizes, counts and durations from the command line: what is accepted stays within its bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/path.h"
#include "base/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = coop::parse_size(text)) {
    if (*bytes > static_cast<std::uint64_t>(INT64_MAX)) std::abort();
    // What we print for a number of bytes is a size again.
    if (coop::format_size(*bytes).empty()) std::abort();
  }
  if (const auto count = coop::parse_count(text))
    if (coop::parse_count(std::to_string(*count)) != *count) std::abort();
  if (const auto number = coop::parse_signed(text))
    if (coop::parse_signed(std::to_string(*number)) != *number) std::abort();
  if (const auto duration = coop::parse_duration(text)) {
    if (duration->count() < 0) std::abort();
    if (coop::parse_duration(coop::format_duration(*duration)) != *duration) std::abort();
  }
  if (const auto milli = coop::parse_milli(text))
    if (*milli == UINT64_MAX) std::abort();

  const coop::Path path = coop::normalize(text);
  if (!path.starts_with('/') || coop::normalize(path) != path || !coop::is_within(path, "/"))
    std::abort();
  for (const char c : coop::printable(text))
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
  return 0;
}
