#include "policy/host_pattern.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/address.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::string_view kHint =
    "write HOST, HOST:PORT, *.example.com, an IP address or a network like 10.0.0.0/8";

std::unexpected<Error> bad(std::string_view text, std::string_view why,
                           std::string_view hint = kHint) {
  return invalid("host", quoted(text) + " " + std::string(why), hint);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// A plain number without signs, blanks or leading zeros.
bool parse_number(std::string_view text, unsigned most, unsigned& value) {
  if (text.empty() || text.size() > 5 || !std::ranges::all_of(text, is_digit)) return false;
  if (text.size() > 1 && text.front() == '0') return false;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value <= most;
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  return parse_number(text, 65535, port) && port > 0;
}

struct Address {
  int family = AF_INET;
  std::array<std::uint8_t, 16> bytes{};

  std::size_t size() const { return family == AF_INET ? 4 : 16; }
};

bool parse_address(std::string_view text, int family, Address& address) {
  address = {.family = family};
  return inet_pton(family, std::string(text).c_str(), address.bytes.data()) == 1;
}

std::string text_of(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.family, address.bytes.data(), text.data(), text.size());
  return text.data();
}

// The network's own address: all bits after the first `length` cleared.
Address network_of(const Address& address, unsigned length) {
  Address network = address;
  for (std::size_t bit = length; bit < address.size() * 8; ++bit)
    network.bytes.at(bit / 8) &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
  return network;
}

Result<void> check_network(std::string_view text, std::size_t slash) {
  const std::string_view front = text.substr(0, slash);
  Address address;
  if (!parse_address(front, AF_INET, address) && !parse_address(front, AF_INET6, address))
    return bad(text, "is not a network");
  unsigned length = 0;
  const unsigned most = address.family == AF_INET ? 32 : 128;
  if (!parse_number(text.substr(slash + 1), most, length))
    return bad(text, "needs a number from 0 to " + std::to_string(most) + " after the slash");
  // "10.1.2.3/8": one machine or sixteen million?
  const Address network = network_of(address, length);
  if (network.bytes != address.bytes)
    return bad(
        text, "has bits set behind its length",
        "write " + text_of(network) + "/" + std::to_string(length) + ", or the address alone");
  return {};
}

bool is_label(std::string_view label) {
  const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; };
  return !label.empty() && label.size() <= 63 && std::ranges::all_of(label, allowed) &&
         label.front() != '-' && label.back() != '-';
}

// As inet_aton reads it, a name that ends like this is an address.
bool is_numeric(std::string_view label) {
  const auto hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  if (label.starts_with("0x")) return std::ranges::all_of(label.substr(2), hex);
  return std::ranges::all_of(label, is_digit);
}

Result<void> check_name(std::string_view text, std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(2);
  if (name == "*")
    return bad(text, "is every host", "all hosts are network = \"full\", and none are \"none\"");
  if (name.find('*') != std::string_view::npos)
    return bad(text, "has a \"*\" elsewhere than in \"*.\" at its front");
  if (name.empty() || name.size() > 253) return bad(text, "is not a host name");
  std::string_view last;
  for (std::string_view rest = name;;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    last = rest.substr(0, dot);
    if (!is_label(last)) return bad(text, "is not a host name");
    if (dot == rest.size()) break;
    rest.remove_prefix(dot + 1);
  }
  if (is_numeric(last)) return bad(text, "is neither a host name nor a whole IP address");
  return {};
}

// "[::1]", "[::1]:443"
Result<void> check_bracketed(std::string_view text) {
  const std::size_t close = std::min(text.find(']'), text.size());
  Address address;
  if (!parse_address(text.substr(1, close - 1), AF_INET6, address) || close == text.size())
    return bad(text, "is not an IPv6 address in brackets");
  const std::string_view rest = text.substr(close + 1);
  if (!rest.empty() && !(rest.starts_with(':') && is_port(rest.substr(1))))
    return bad(text, "needs a port from 1 to 65535 after the bracket");
  return {};
}

constexpr std::string_view kUdpHint =
    "write ADDRESS:PORT or NETWORK:PORT, like 10.0.0.0/8:5000 or [fd00::/8]:5000";

Result<void> check_udp_lowered(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const std::size_t end = bracketed ? text.find(']') : text.find(':');
  const std::size_t colon = bracketed && end != std::string_view::npos ? end + 1 : end;
  if (colon >= text.size() || text[colon] != ':' || !is_port(text.substr(colon + 1)))
    return bad(text, "needs a port from 1 to 65535 after an address", kUdpHint);
  const std::string_view host = text.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0));
  const std::string_view front = host.substr(0, host.find('/'));
  Address address;
  if (!parse_address(front, bracketed ? AF_INET6 : AF_INET, address))
    return bad(text, "is not for an IP address or a network of them", kUdpHint);
  if (front.size() == host.size()) return {};
  return check_network(host, front.size());
}

Result<void> check_lowered(std::string_view text) {
  const std::size_t slash = text.find('/');
  // A network with a port: the same form for connections as for datagrams.
  const bool with_port = slash != std::string_view::npos &&
                         (text.starts_with('[') || text.find(':', slash) != std::string_view::npos);
  if (with_port) return check_udp_lowered(text);
  if (text.starts_with('[')) return check_bracketed(text);
  if (slash != std::string_view::npos) return check_network(text, slash);
  Address address;
  const std::size_t colon = text.find(':');
  if (colon != text.rfind(':')) {
    if (parse_address(text, AF_INET6, address)) return {};
    return bad(text, "is not an IPv6 address", "with a port, write [ADDRESS]:PORT");
  }
  const std::string_view host = text.substr(0, colon);
  if (colon != std::string_view::npos && !is_port(text.substr(colon + 1)))
    return bad(text, "needs a port from 1 to 65535 after the colon");
  if (parse_address(host, AF_INET, address)) return {};
  return check_name(text, host);
}

// In lower case, when it has nothing that no pattern has.
Result<std::string> lowered(std::string_view text, std::string_view hint) {
  constexpr std::size_t kLongest = 300;  // a name and a port, with room
  if (text.empty()) return bad(text, "is empty", hint);
  if (text.size() > kLongest) return bad(text, "is too long for a host name", hint);
  if (text.find("://") != std::string_view::npos)
    return bad(text, "is an address of a page", "write only the host of it");
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) >= 0x80)
      return bad(text, "has letters outside of ASCII", "write the name as DNS has it: xn--…");
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      return bad(text, "has a blank or control character in it", hint);
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// ::ffff:10.0.0.1 goes over the wire as 10.0.0.1, and that is how it is written here: one spelling for each place.
Result<void> refuse_mapped(std::string_view pattern) {
  constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
  std::string_view host = pattern;
  if (host.starts_with('[')) host = host.substr(1, host.find(']') - 1);
  const std::optional<std::string> bytes = address_bytes(host.substr(0, host.find('/')));
  if (!bytes || !bytes->starts_with(kMapped)) return {};
  return bad(pattern, "is IPv4 in the form of IPv6",
             "write " + address_text(bytes->substr(kMapped.size())) +
                 (host.contains('/') ? " and its own length" : ""));
}

}  // namespace

Result<std::string> check_host_pattern(std::string_view text) {
  std::string pattern = TRY(lowered(text, kHint));
  TRY(check_lowered(pattern));
  TRY(refuse_mapped(pattern));
  // Brackets are there for the port.
  if (pattern.starts_with('[') && pattern.ends_with(']'))
    return pattern.substr(1, pattern.size() - 2);
  return pattern;
}

Result<std::string> check_udp_pattern(std::string_view text) {
  std::string pattern = TRY(lowered(text, kUdpHint));
  TRY(check_udp_lowered(pattern));
  TRY(refuse_mapped(pattern));
  return pattern;
}

}  // namespace coop::policy
