#include "policy/host_cover.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "policy/forbidden_addresses.h"

namespace coop::policy {

namespace {

struct Network {
  int family = AF_INET;
  std::array<std::uint8_t, 16> bytes{};
  unsigned length = 0;  // of the prefix, in bits
};

struct Host {
  std::string name{};  // in lower case; of "*.a.com": "a.com"
  bool wildcard = false;
  std::optional<Network> network{};
  std::optional<unsigned> port{};
};

std::optional<unsigned> parse_number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > most)
    return std::nullopt;
  return value;
}

std::optional<Network> parse_address(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN) return std::nullopt;
  const std::string terminated(text);
  Network network;
  if (inet_pton(AF_INET, terminated.c_str(), network.bytes.data()) == 1) {
    network.length = 32;
    return network;
  }
  network = {.family = AF_INET6, .length = 128};
  if (inet_pton(AF_INET6, terminated.c_str(), network.bytes.data()) == 1) return network;
  return std::nullopt;
}

// ::ffff:10.0.0.1 is another spelling of 10.0.0.1: a list of the one must hold for the other.
Network unmapped(const Network& network) {
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool mapped = network.family == AF_INET6 && network.length >= 96 &&
                      std::ranges::equal(kMapped, std::span(network.bytes).first(12));
  if (!mapped) return network;
  Network plain{.length = network.length - 96};
  std::copy_n(network.bytes.begin() + 12, 4, plain.bytes.begin());
  return plain;
}

std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  std::optional<Network> network = parse_address(text.substr(0, slash));
  if (!network) return std::nullopt;
  if (slash != std::string_view::npos) {
    const std::optional<unsigned> length = parse_number(text.substr(slash + 1), network->length);
    if (!length) return std::nullopt;
    network->length = *length;
  }
  return unmapped(*network);
}

// "a:1" → "a", "[::1]:1" → "::1"; "::1" has no port.
std::string_view split_port(std::string_view text, std::optional<unsigned>& port) {
  constexpr unsigned kMost = 65535;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return text;
    if (text.substr(close + 1).starts_with(':')) port = parse_number(text.substr(close + 2), kMost);
    return text.substr(1, close - 1);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon != text.rfind(':')) return text;
  port = parse_number(text.substr(colon + 1), kMost);
  return port ? text.substr(0, colon) : text;
}

Host parse(std::string_view text) {
  Host host;
  std::string_view rest = split_port(text, host.port);
  host.network = parse_network(rest);
  host.wildcard = rest.starts_with("*.");
  if (host.wildcard) rest.remove_prefix(2);
  host.name = rest;
  for (char& c : host.name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return host;
}

bool share_prefix(const Network& a, const Network& b, unsigned bits) {
  if (a.family != b.family) return false;
  for (unsigned bit = 0; bit < bits; ++bit)
    if (((a.bytes.at(bit / 8) ^ b.bytes.at(bit / 8)) & (0x80U >> (bit % 8))) != 0) return false;
  return true;
}

bool name_covers(const Host& cover, const Host& item) {
  if (!cover.wildcard) return !item.wildcard && cover.name == item.name;
  return item.name.ends_with("." + cover.name) || (item.wildcard && item.name == cover.name);
}

bool port_covers(const Host& cover, const Host& item, Portless portless) {
  if (cover.port) return cover.port == item.port;
  return portless == Portless::every || !item.port || item.port == 80U || item.port == 443U;
}

}  // namespace

bool host_covers(std::string_view cover_text, std::string_view item_text, Portless portless) {
  if (cover_text == item_text) return true;
  const Host cover = parse(cover_text);
  const Host item = parse(item_text);
  if (!port_covers(cover, item, portless)) return false;
  if (!cover.network || !item.network)
    return !cover.network && !item.network && name_covers(cover, item);
  return cover.network->length <= item.network->length &&
         share_prefix(*cover.network, *item.network, cover.network->length);
}

bool names_addresses(std::string_view text) { return parse(text).network.has_value(); }

bool is_public_host(std::string_view text) {
  const Host host = parse(text);
  if (!host.network) return true;
  const auto overlaps = [&](const std::pair<std::string, unsigned>& forbidden) {
    std::optional<Network> network = parse_address(forbidden.first);
    if (network) network->length = forbidden.second;
    return !network ||
           share_prefix(*host.network, *network, std::min(host.network->length, network->length));
  };
  return std::ranges::none_of(forbidden_networks(host.network->family), overlaps);
}

}  // namespace coop::policy
