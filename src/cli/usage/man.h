// The manual pages, from the tables of commands, flags and keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coop::cli {

// A leading dot would be a request, a backslash an escape, a minus a hyphen.
std::string roff(std::string_view text);

// "coop", "coop-run", "coop-policy" or "coop-mcp". `tools` is the section of that name in coop-mcp(1), as roff: what
// tools there are is known to coop-tools only.
std::optional<std::string> man_page(std::string_view name, std::string_view tools = {});

}  // namespace coop::cli
