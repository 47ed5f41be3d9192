// What a client of HTTP is told about a connection that it does not get.
#pragma once

#include <string>
#include <string_view>

#include "net/outbound.h"

namespace coop::net {

// 403 for a refusal, with the rule and what would allow it; 502 and 504 for hosts that cannot be reached.
std::string http_refusal(const NetworkEvent& event, Reached why);
// 400
std::string http_bad_request(std::string_view problem);

}  // namespace coop::net
