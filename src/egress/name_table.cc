#include "egress/name_table.h"

namespace coop::egress {

namespace {

constexpr std::uint32_t kNetwork = 198U << 24U | 18U << 16U;
constexpr std::uint32_t kFirst =
    kNetwork + 256;  // the first addresses are for the sandbox's own listeners
constexpr std::string_view kPrefix("\xfd\xc0\x6f\x70\0\0\0\0\0\0\0\0", 12);

std::string bytes_of(std::uint32_t address) {
  return {static_cast<char>(address >> 24U), static_cast<char>(address >> 16U & 0xffU),
          static_cast<char>(address >> 8U & 0xffU), static_cast<char>(address & 0xffU)};
}

}  // namespace

std::optional<std::uint32_t> NameTable::number_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
  if (names_.size() >= kMostNames) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.push_back(name);
  numbers_.emplace(name, number);
  return number;
}

std::optional<std::string> NameTable::name_of(std::string_view address) const {
  if (address.size() == 16 && address.starts_with(kPrefix)) address.remove_prefix(kPrefix.size());
  if (address.size() != 4) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : address) value = value << 8U | static_cast<unsigned char>(c);
  if (value < kFirst) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (value - kFirst >= names_.size()) return std::nullopt;
  return names_[value - kFirst];
}

std::string NameTable::ipv4(std::uint32_t number) { return bytes_of(kFirst + number); }

std::string NameTable::ipv6(std::uint32_t number) {
  return std::string(kPrefix) + bytes_of(kFirst + number);
}

}  // namespace coop::egress
