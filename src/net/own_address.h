// Addresses of this machine, which are as near as its loopback.
#pragma once

#include <string>
#include <string_view>

namespace coop::net {

// Whether this machine takes what is sent to this address, as inet_ntop() writes it, for itself.
bool is_own_address(std::string_view address);

// policy::why_forbidden(), and why this machine's own addresses are not to be reached either: a name outside may lead to
// one, and what listens there took only its neighbours into account.
std::string why_guarded(std::string_view address);

}  // namespace coop::net
