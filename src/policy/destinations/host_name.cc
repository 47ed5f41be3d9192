#include "policy/destinations/host_name.h"

#include <algorithm>
#include <ranges>

#include "base/text.h"

namespace coop::policy {

namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

bool is_label(std::string_view label) {
  const auto known = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
  };
  return !label.empty() && label.size() <= kLongestLabel && std::ranges::all_of(label, known);
}

// inet_aton() treats a name that ends in a number as an address.
bool is_number(std::string_view label) {
  if (label.starts_with("0x")) return std::ranges::all_of(label.substr(2), is_hex);
  return std::ranges::all_of(label, is_digit);
}

}  // namespace

std::optional<std::string> host_name(std::string_view text) {
  std::string name = lower(text);
  if (name.ends_with('.')) name.pop_back();
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  std::string_view last;
  for (const auto label : std::views::split(std::string_view(name), '.')) {
    last = std::string_view(label);
    if (!is_label(last)) return std::nullopt;
  }
  if (is_number(last)) return std::nullopt;
  return name;
}

bool is_localhost(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace coop::policy
