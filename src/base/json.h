// JSON values: keys keep their order.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace coop {

using Json = nlohmann::ordered_json;

// Whether brackets are nested deeper than any valid message, policy or argument, in a text that may or may not be JSON.
// Checked before it is parsed: deep nesting would overflow the stack of a recursive walk.
bool nests_too_deeply(std::string_view json);

// Parses untrusted text: is_discarded() if it is not JSON, or nested too deeply.
Json parse_json(std::string_view text);

}  // namespace coop
