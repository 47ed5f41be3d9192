// Destinations and rules from their text.
#pragma once

#include <string_view>

#include "coop/destination.h"

namespace coop::tests {

inline Destination destination(std::string_view text) { return parse_destination(text).value(); }

// Of a flag.
inline DestinationRule rule(std::string_view text, std::string_view flag) {
  return {destination(text), Origin::of_flag(flag)};
}

// What decided, of a flag.
inline Rule decided_by(std::string_view flag, std::string_view text) {
  return {Origin::of_flag(flag), destination(text)};
}

}  // namespace coop::tests
