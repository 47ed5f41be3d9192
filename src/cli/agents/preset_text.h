// What a preset has added to a request, for `coop plan`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/options_policy.h"

namespace coop::cli {

// With the line of the preset that each setting comes from; "" without a preset.
std::string preset_text(const Request& request);
// Null without one.
nlohmann::ordered_json preset_json(const Request& request);

}  // namespace coop::cli
