// HTTP answers for refused and failed connections.
#pragma once

#include <string>
#include <string_view>

#include "egress/outbound.h"

namespace coop::egress {

// 403 for a refusal, with the rule and the grant; 502 and 504 for unreachable hosts.
std::string http_refusal(const NetworkEvent& event, Reached why);
// 400
std::string http_bad_request(std::string_view problem);

}  // namespace coop::egress
