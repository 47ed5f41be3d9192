// JSON values: keys keep their order.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace coop {

using Json = nlohmann::ordered_json;

// Parses untrusted text: is_discarded() if it is not JSON, or nested too deeply.
Json parse_json(std::string_view text);

}  // namespace coop
