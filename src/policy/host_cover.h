// Which hosts of a network list lie within others: HOST[:PORT], *.example.com, 10.0.0.0/8, [::1]:443.
#pragma once

#include <cstdint>
#include <string_view>

namespace coop::policy {

// What an entry without a port means: of what is allowed, the usual ones (80 and 443); of what is
// denied, all of them.
enum class Portless : std::uint8_t { usual, every };

// Whether everything that `item` names is named by `cover` too. What cannot be read covers itself only.
bool host_covers(std::string_view cover, std::string_view item, Portless portless);

// An address or a network, with or without a port; else it is a name.
bool names_addresses(std::string_view host);

// Names, and addresses of the internet. Not those of machines nearby (private, loopback, link-local with
// its metadata services, multicast …), which an open network does not reach unless they are listed.
bool is_public_host(std::string_view host);

}  // namespace coop::policy
