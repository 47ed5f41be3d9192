#include "policy/destinations/cover.h"

#include "base/address.h"
#include "policy/destinations/host_name.h"

namespace coop::policy {

namespace {

using Kind = Destination::Kind;

bool covers_port(const Destination& cover, const Destination& item, Portless portless) {
  if (cover.port) return cover.port == item.port;
  return portless == Portless::every || !item.port || is_usual_port(*item.port);
}

}  // namespace

bool covers_host(const Destination& cover, const Destination& item) {
  if (cover.kind == Kind::network || item.kind == Kind::network)
    return cover.kind == item.kind && is_within(item.network, cover.network);
  if (cover.kind == Kind::name) return item.kind == Kind::name && item.name == cover.name;
  return item.name.ends_with("." + cover.name) ||
         (item.kind == Kind::wildcard && item.name == cover.name);
}

bool covers(const Destination& cover, const Destination& item, Portless portless) {
  return covers_port(cover, item, portless) && covers_host(cover, item);
}

bool is_localhost(const Destination& destination) {
  if (destination.kind == Kind::name) return destination.name == "localhost";
  const std::string text = host_text(destination);
  return text == "127.0.0.1" || text == "::1" || text == "0.0.0.0" || text == "::";
}

bool is_loopback(const Destination& destination) {
  if (destination.kind == Kind::network)
    return coop::is_loopback(destination.network) || is_localhost(destination);
  return is_localhost(destination.name);
}

}  // namespace coop::policy
