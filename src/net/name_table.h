// Addresses that stand for names inside a sandbox: its DNS gives them out, and a connection to one tells the name again.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coop::net {

// Of 198.18.0.0/15, which RFC 2544 keeps for measurements, and fdc0:6f70::/96: the last four bytes of both are the same.
// May be used by many threads at once.
class NameTable {
 public:
  // How many names one sandbox may ask for. A name is a message to whoever serves its domain: this bounds what can be
  // told that way.
  static constexpr std::size_t kMostNames = 16384;

  // The number behind a name, the same for ever; nothing when the table is full.
  std::optional<std::uint32_t> number_of(const std::string& name);
  // The name an address stands for, by its bytes in network order (4 or 16); nothing when it is none of ours.
  std::optional<std::string> name_of(std::string_view address) const;

  static std::string ipv4(std::uint32_t number);  // 4 bytes
  static std::string ipv6(std::uint32_t number);  // 16 bytes
  std::size_t size() const;

 private:
  mutable std::mutex mutex_{};
  std::unordered_map<std::string, std::uint32_t> numbers_{};
  std::vector<std::string> names_{};
};

}  // namespace coop::net
