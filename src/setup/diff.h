// The difference of two texts as people read it.
#pragma once

#include <string>
#include <string_view>

namespace coop::setup {

// A unified diff with three lines of context; empty if the two are equal. Lines are shown printable, and what has not changed
// in long ones is cut: it is to be read, not applied.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name);

}  // namespace coop::setup
