// Values and keys between TOML and JSON.
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "policy/settings/document.h"

namespace coop::setup {

// Dates and the like become null: coop writes none and compares none.
Json json_of(const policy::Table& table);
Json json_of(const policy::Node& node);

// A text, a number, a boolean or a list of these, in one line.
std::string value_text(const Json& value);
// `mcp_servers.coop`, with quotation marks where they are needed.
std::string key_text(std::span<const std::string> path);

// Equal but for the order of names: in TOML it follows from the place of the tables.
bool is_alike(const Json& one, const Json& other);

}  // namespace coop::setup
