#include "policy/destinations/port_rule.h"

#include <algorithm>
#include <charconv>

#include "base/address.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::string_view kPortHint =
    "write PORT, HOST:SANDBOX or ADDRESS:HOST:SANDBOX, like 8080:80 or 127.0.0.1:8080:80";

std::unexpected<Error> bad_port(std::string_view text, std::string_view why,
                                std::string_view hint = kPortHint) {
  return invalid("port", quote(text) + " " + std::string(why), hint);
}

// As inet_ntop() writes it; empty for what is no address of `size` bytes.
std::string plain_address(std::string_view text, std::size_t size) {
  const std::optional<std::string> bytes = address_bytes(text);
  return bytes && bytes->size() == size ? address_text(*bytes) : std::string();
}

// Takes "ADDRESS:" or "[ADDRESS]:" from the front of `rest`, when there is one.
Result<void> take_address(std::string_view text, std::string_view& rest, std::string& address) {
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find("]:");
    if (close == std::string_view::npos) return bad_port(text, "has no \"]:\" after its address");
    address = plain_address(rest.substr(1, close - 1), 16);
    if (address.empty()) return bad_port(text, "is not for an IPv6 address in brackets");
    rest.remove_prefix(close + 2);
    return {};
  }
  const auto colons = std::ranges::count(rest, ':');
  if (colons < 2) return {};
  if (colons > 2)
    return bad_port(text, "has too many colons",
                    "write an IPv6 address in brackets: [::1]:8080:80");
  const std::size_t colon = rest.find(':');
  address = plain_address(rest.substr(0, colon), 4);
  if (address.empty())
    return bad_port(text, "does not start with an IP address",
                    "write 127.0.0.1 for this machine, or 0.0.0.0 for everyone who can reach it");
  rest.remove_prefix(colon + 1);
  return {};
}

}  // namespace

Result<std::uint16_t> parse_port(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool number = !text.empty() && text.size() <= 5 && std::ranges::all_of(text, digit);
  unsigned port = 0;
  if (number) std::from_chars(text.data(), text.data() + text.size(), port);
  if (!number || text.starts_with('0') || port > 65535)
    return bad_port(text, "is not a port", "write a number from 1 to 65535");
  return static_cast<std::uint16_t>(port);
}

Result<PublishedPort> parse_published(std::string_view text) {
  PublishedPort published;
  std::string_view rest = text;
  TRY(take_address(text, rest, published.address));
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos && rest.size() != text.size())
    return bad_port(text, "names only one port after its address");
  const std::string_view sandbox = colon == std::string_view::npos ? rest : rest.substr(colon + 1);
  published.host = TRY(parse_port(rest.substr(0, colon)));
  published.sandbox = TRY(parse_port(sandbox));
  return published;
}

std::string host_side(const PublishedPort& port) { return with_port(port.address, port.host); }

std::string to_text(const PublishedPort& port) {
  return host_side(port) + ":" + std::to_string(port.sandbox);
}

bool is_loopback(const PublishedPort& port) {
  const std::optional<Prefix> address = parse_prefix(port.address);
  return address && coop::is_loopback(*address);
}

}  // namespace coop::policy
