#include "egress/target.h"

#include <optional>

#include "base/address.h"

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
  const std::string_view host = target.host;
  if (target.kind == HostKind::name) return host == "localhost" || host.ends_with(".localhost");
  return host.starts_with("127.") || host.starts_with("0.") || host == "::1" || host == "::";
}

}  // namespace coop::egress
