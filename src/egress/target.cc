#include "egress/target.h"

#include <optional>

#include "base/address.h"
#include "policy/destinations/cover.h"

namespace coop::egress {

Target target_of(const NameTable& table, std::string_view address, std::uint16_t port) {
  address = unmapped(address);
  if (const std::optional<std::string> name = table.name_of(address))
    return {.kind = HostKind::name, .host = *name, .port = port};
  return {.kind = HostKind::address, .host = address_text(address), .port = port};
}

Target target_of_text(const NameTable& table, const std::string& address, std::uint16_t port) {
  if (const std::optional<std::string> bytes = address_bytes(address))
    return target_of(table, *bytes, port);
  return {.kind = HostKind::address, .host = address, .port = port};
}

bool is_loopback(const Target& target) {
  const std::optional<Destination> asked = destination_of(target.kind, target.host, target.port);
  return asked && policy::is_loopback(*asked);
}

}  // namespace coop::egress
