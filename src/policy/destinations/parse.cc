// The only parser of HOST[:PORT], wildcards and networks.
#include <algorithm>

#include "base/address.h"
#include "base/text.h"
#include "coop/destination.h"
#include "policy/destinations/host_name.h"
#include "policy/destinations/port_rule.h"
#include "policy/quoted.h"

namespace coop {

namespace {

using policy::parse_port;
using policy::quote;
using Kind = Destination::Kind;

constexpr std::string_view kHint =
    "write HOST, HOST:PORT, *.example.com, an IP address or a network like 10.0.0.0/8";
constexpr std::string_view kUdpHint =
    "write ADDRESS:PORT or NETWORK:PORT, like 10.0.0.0/8:5000 or [fd00::/8]:5000";

std::unexpected<Error> bad(std::string_view text, std::string_view why,
                           std::string_view hint = kHint) {
  return invalid("host", quote(text) + " " + std::string(why), hint);
}

// "10.0.0.0/8", "::1".
Result<Prefix> read_network(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<std::string> bytes = address_bytes(text.substr(0, slash));
  if (!bytes) return bad(text, "is not a network");
  const std::optional<Prefix> network = parse_prefix(text);
  if (!network)
    return bad(
        text, "needs a number from 0 to " + std::to_string(bytes->size() * 8) + " after the slash");
  // "10.1.2.3/8": one machine or sixteen million?
  if (network->address != *bytes)
    return bad(text, "has host bits set", "write " + to_text(*network) + ", or the address alone");
  if (unmapped(*bytes).size() != bytes->size())
    return bad(text, "is IPv4 in the form of IPv6",
               "write " + address_text(unmapped(*bytes)) +
                   (network->is_address() ? "" : " and its own length"));
  return network.value();
}

Result<Destination> read_name(std::string_view text, std::string_view name) {
  Destination read;
  if (name.starts_with("*.")) {
    read.kind = Kind::wildcard;
    name.remove_prefix(2);
  }
  if (name == "*")
    return bad(text, "is every host",
               "use --network full, or network = \"full\", to allow every host");
  if (name.contains('*')) return bad(text, "has a \"*\" elsewhere than in \"*.\" at its front");
  const std::string dotted = "." + std::string(name) + ".";
  const bool named = policy::host_name(name) == name;
  if (named && !dotted.contains(".-") && !dotted.contains("-.")) {
    read.name = name;
    return read;
  }
  const std::size_t last = name.rfind('.') + 1;
  const bool number = last < name.size() && name[last] >= '0' && name[last] <= '9';
  return bad(text, number ? "is neither a host name nor a whole IP address" : "is not a host name");
}

Result<Destination> read_address(std::string_view host) {
  Prefix network = TRY(read_network(host));
  return Destination{.kind = Kind::network, .network = std::move(network)};
}

// "10.0.0.1:53", "10.0.0.0/8:5000", "[fd00::/8]:5000"
Result<Destination> read_with_port(std::string_view text) {
  const HostAndPort split = split_port(text).value_or(HostAndPort{});
  const Result<std::uint16_t> port = parse_port(split.port.value_or(""));
  if (!port) return bad(text, "needs a port from 1 to 65535 after an address", kUdpHint);
  const std::optional<std::string> bytes =
      address_bytes(split.host.substr(0, split.host.find('/')));
  if (!bytes || bytes->size() != (split.bracketed ? 16 : 4))
    return bad(text, "is not for an IP address or a network of them", kUdpHint);
  Destination read = TRY(read_address(split.host));
  read.port = *port;
  return read;
}

// "[::1]", "[::1]:443"
Result<Destination> read_bracketed(std::string_view text) {
  constexpr std::string_view kNoPort = "needs a port from 1 to 65535 after the bracket";
  const std::optional<HostAndPort> split = split_port(text);
  if (!split && text.contains(']')) return bad(text, kNoPort);
  if (!split || !split->host.contains(':') || !address_bytes(split->host))
    return bad(text, "is not an IPv6 address in brackets");
  Destination read = TRY(read_address(split->host));
  if (!split->port) return read;
  const Result<std::uint16_t> port = parse_port(*split->port);
  if (!port) return bad(text, kNoPort);
  read.port = *port;
  return read;
}

Result<Destination> read_lowered(std::string_view text) {
  const std::size_t slash = text.find('/');
  const bool network = slash != std::string_view::npos;
  // A network with a port: the same syntax for TCP and UDP.
  if (network && (text.starts_with('[') || text.find(':', slash) != std::string_view::npos))
    return read_with_port(text);
  if (text.starts_with('[')) return read_bracketed(text);
  if (network) return read_address(text);
  const std::size_t colon = text.find(':');
  if (colon != text.rfind(':')) {
    if (address_bytes(text)) return read_address(text);
    return bad(text, "is not an IPv6 address", "with a port, write [ADDRESS]:PORT");
  }
  const std::string_view host = text.substr(0, colon);
  Destination read = TRY(address_bytes(host) ? read_address(host) : read_name(text, host));
  if (colon == std::string_view::npos) return read;
  const Result<std::uint16_t> port = parse_port(text.substr(colon + 1));
  if (!port) return bad(text, "needs a port from 1 to 65535 after the colon");
  read.port = *port;
  return read;
}

Result<std::string> lowered(std::string_view text, std::string_view hint) {
  constexpr std::size_t kLongest = 300;  // a name and a port, with room
  if (text.empty()) return bad(text, "is empty", hint);
  if (text.size() > kLongest) return bad(text, "is too long for a host name", hint);
  if (text.contains("://")) return bad(text, "is a URL", "write only its host, like example.com");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80)
      return bad(text, "has letters outside of ASCII", "write the name as DNS has it: xn--…");
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      return bad(text, "has a blank or control character in it", hint);
  }
  return lower(text);
}

}  // namespace

Result<Destination> parse_destination(std::string_view text) {
  if (text.starts_with('@'))
    return bad(text, "stands for a group of hosts, and one host is expected",
               "`coop policy hosts` lists the hosts of each group");
  const std::string whole = TRY(lowered(text, kHint));
  return read_lowered(whole);
}

Result<Destination> parse_udp_destination(std::string_view text) {
  if (text.starts_with('@'))
    return bad(text, "stands for names of hosts, and UDP needs an address", kUdpHint);
  const std::string whole = TRY(lowered(text, kUdpHint));
  return read_with_port(whole);
}

}  // namespace coop
