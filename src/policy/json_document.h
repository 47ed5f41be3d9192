// A policy as JSON, for programs: the same tree as a TOML file gives, without places.
#pragma once

#include <string_view>

#include "policy/document.h"

namespace coop::policy {

// `text` must be an object. Refuses null, and what is nested deeper than 32 or longer than 1 MiB. `name` is what messages
// call it.
Result<Table> parse_json_document(std::string_view text, std::string_view name);

}  // namespace coop::policy
