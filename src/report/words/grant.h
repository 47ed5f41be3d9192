// Grants and hints in words.
#pragma once

#include <optional>
#include <string>

#include "coop/grant.h"
#include "coop/result.h"

namespace coop::report {

// "--rw '/srv/my data'": words of a shell, with nothing in them that a terminal would obey.
std::string to_text(const Grant& grant);

// The same without quoting, for hosts and ports; empty where there is none.
std::string plain_text(const std::optional<Grant>& grant);

// What to do about an error: its hint, or else the grant; empty where there is neither.
std::string hint_of(const Error& error);

}  // namespace coop::report
