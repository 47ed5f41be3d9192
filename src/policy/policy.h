// The text forms of policy words. The types are public: coop/policy.h.
#pragma once

#include <string_view>

#include "base/result.h"
#include "coop/policy.h"

namespace coop {

std::string_view to_text(View view);
std::string_view to_text(Access access);
std::string_view to_text(RuleKind kind);
std::string_view to_text(NetworkMode mode);
std::string_view to_text(Mechanism mechanism);
Result<Mechanism> parse_mechanism(std::string_view text);
Result<NetworkMode> parse_network(std::string_view text);

}  // namespace coop
