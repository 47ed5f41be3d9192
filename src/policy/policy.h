// The text forms of policy words. The types are public: coop/policy.h.
#pragma once

#include <string_view>

#include "base/result.h"
#include "coop/policy.h"

namespace coop {

std::string_view to_text(View view);
std::string_view to_text(Access access);
std::string_view to_text(NetworkMode mode);
std::string_view to_text(Mechanism mechanism);
// Where the value of `key` was written; `flag` where that is not known.
Origin origin_of(const Policy& policy, std::string_view key, std::string_view flag,
                 std::string_view value = {});
Result<Mechanism> parse_mechanism(std::string_view text);
Result<NetworkMode> parse_network(std::string_view text);

}  // namespace coop
