// A policy as JSON, for programs: gives the same tree as a TOML file, without positions.
#pragma once

#include <string_view>

#include "policy/settings/document.h"

namespace coop::policy {

// `text` must be an object. Refuses null, nesting deeper than 32, and more than 1 MiB. `name` is
// its name in messages.
Result<Table> parse_json_document(std::string_view text, std::string_view name);

}  // namespace coop::policy
