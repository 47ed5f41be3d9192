// Rules as values. Code decides by their fields, and report/ turns them into text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coop/origin.h"

namespace coop {

// An address prefix.
struct Prefix {
  std::string address{};  // 4 or 16 bytes in network order; all bits behind `bits` are 0
  unsigned bits = 0;

  bool is_address() const { return bits == address.size() * 8; }
  bool operator==(const Prefix&) const = default;
};

struct Destination {
  enum class Kind : std::uint8_t { name, wildcard, network };
  Kind kind = Kind::name;
  std::string name{};                   // lower case; of "*.example.com": "example.com"
  Prefix network{};                     // one address is a network of its whole length
  std::optional<std::uint16_t> port{};  // unset: allows 80 and 443, denies all ports
  bool operator==(const Destination&) const = default;
};

// A destination in a network list, and its origin.
struct DestinationRule {
  Destination destination{};
  Origin origin{};
  bool operator==(const DestinationRule&) const = default;
};

// What decided: a rule of the policy, or a wall of coop's own (Origin::part).
struct Rule {
  Origin origin{};
  std::optional<Destination> destination{};  // of a network rule

  static Rule of_coop(Part part, std::string_view name = {}) {
    return {.origin = Origin::of_coop(part, name)};
  }
  bool operator==(const Rule&) const = default;
};

}  // namespace coop
