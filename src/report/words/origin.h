// Origins in words, for messages and listings. No code decides by these texts.
#pragma once

#include <string>
#include <string_view>

#include "coop/origin.h"

namespace coop::report {

// "organisation", "command line"
std::string_view to_text(Scope scope);

// "/etc/coop/policy.toml:3", "--cache cargo", "built-in secrets", "guard .git/hooks"; printable.
std::string to_text(const Origin& origin);

}  // namespace coop::report
