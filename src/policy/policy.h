// The text forms of policy words. The types are public: coop/policy.h.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "coop/policy.h"

namespace coop {

std::string_view to_text(View view);
std::string_view to_text(Access access);
std::string_view to_text(NetworkMode mode);
std::string_view to_text(Mechanism mechanism);
// "ephemeral", "workspace", or the name of a kept one; and back.
std::string to_text(const Home& home);
Home home_of(std::string_view text);
// A letter or digit, then also '.', '_' and '-', at most 64: a file name that is not hidden. The two words count too.
bool is_home_name(std::string_view text);
inline constexpr std::string_view kHomeNames =
    "ephemeral, workspace, or a name: letters, digits, '.', '_' and '-', at most 64, not starting "
    "with a dot or dash";
// Where the value of `key` was written; `flag` where that is not known.
Origin origin_of(const Policy& policy, std::string_view key, std::string_view flag,
                 std::string_view value = {});
Result<Mechanism> parse_mechanism(std::string_view text);
Result<NetworkMode> parse_network(std::string_view text);

}  // namespace coop
