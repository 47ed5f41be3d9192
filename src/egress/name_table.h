// Synthetic addresses for names inside a sandbox: its DNS server returns them, and a connection to
// one maps back to the name.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coop::egress {

// From 198.18.0.0/15 (RFC 2544, benchmarking) and fdc0:6f70::/96; the last four bytes of both are
// the same. Thread-safe.
class NameTable {
 public:
  // How many names one sandbox may look up. A resolved name sends data to the server of its domain:
  // this bounds such a covert channel.
  static constexpr std::size_t kMostNames = 16384;

  // The number of a name, which never changes; nothing when the table is full.
  std::optional<std::uint32_t> number_of(const std::string& name);
  // The name of a synthetic address (4 or 16 bytes in network order); nothing for other addresses.
  std::optional<std::string> name_of(std::string_view address) const;

  static std::string ipv4(std::uint32_t number);  // 4 bytes
  static std::string ipv6(std::uint32_t number);  // 16 bytes

 private:
  mutable std::mutex mutex_{};
  std::unordered_map<std::string, std::uint32_t> numbers_{};
  std::vector<std::string> names_{};
};

}  // namespace coop::egress
