// Both ends of the network's benchmark.
//
//   network_load server ADDRESS PORT
//   network_load stream|fresh|kept|setup plain|tunnel|proxied ADDRESS PORT MILLISECONDS
//   network_load rest plain|tunnel|proxied ADDRESS PORT COUNT
//
// Prints "result FIGURE". With `tunnel` (CONNECT) and `proxied` it goes through the proxy of HTTP_PROXY.
#include <arpa/inet.h>
#include <sys/resource.h>

#include <charconv>
#include <cstdint>
#include <string_view>

#include "load.h"

namespace coop::bench::load {

namespace {

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
    die("\"" + std::string(text) + "\" is not a number");
  return value;
}

sockaddr_in address_of(const std::string& address, std::string_view port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<std::uint16_t>(number(port)));
  if (::inet_pton(AF_INET, address == "localhost" ? "127.0.0.1" : address.c_str(),
                  &result.sin_addr) != 1)
    die("\"" + address + "\" is not an address");
  return result;
}

std::string base64(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t index = 0; index < text.size(); index += 3) {
    std::uint32_t bits = 0;
    for (std::size_t offset = 0; offset < 3; ++offset) {
      const std::size_t at = index + offset;
      bits = bits << 8U | (at < text.size() ? static_cast<unsigned char>(text[at]) : 0U);
    }
    for (std::size_t letter = 0; letter < 4; ++letter)
      result += index + letter > text.size() ? '=' : kLetters[bits >> (18U - 6U * letter) & 63U];
  }
  return result;
}

// "http://USER:PASSWORD@HOST:PORT", as in the environment.
void use_proxy(Place& place) {
  const char* given = std::getenv("HTTP_PROXY");
  if (given == nullptr) given = std::getenv("http_proxy");
  if (given == nullptr) die("no HTTP_PROXY here");
  std::string_view rest = given;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    place.proxy_header = "Proxy-Authorization: Basic " + base64(rest.substr(0, at)) + "\r\n";
    rest.remove_prefix(at + 1);
  }
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) die("HTTP_PROXY names no port");
  place.proxy = address_of(std::string(rest.substr(0, colon)), rest.substr(colon + 1));
}

Place place_of(std::string_view way, const std::string& address, const std::string& port) {
  Place place{.name = address + ":" + port, .address = address_of(address, port)};
  if (way == "tunnel") place.way = Way::tunnel;
  else if (way == "proxied") place.way = Way::proxied;
  else if (way != "plain") die("\"" + std::string(way) + "\" is no way to a server");
  if (place.way != Way::plain) use_proxy(place);
  return place;
}

double measure(std::string_view mode, const Place& place, Clock::duration time) {
  if (mode == "stream") return stream(place, time);
  if (mode == "fresh") return requests(place, time, Reuse::one_request);
  if (mode == "kept") return requests(place, time, Reuse::many_requests);
  if (mode == "setup") return set_up(place, time);
  die("see the top of network_load.cc");
}

// One descriptor for each connection.
void raise_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

}  // namespace coop::bench::load

int main(int count, char** words) {
  using namespace coop::bench::load;
  raise_limit();
  const std::string_view mode = count > 1 ? words[1] : "";
  if (mode == "server" && count == 4) serve(address_of(words[2], words[3]));
  if (count != 6) die("see the top of network_load.cc");
  const Place place = place_of(words[2], words[3], words[4]);
  const std::uint64_t value = number(words[5]);
  if (mode == "rest") rest(place, value);
  else std::printf("result %.3f\n", measure(mode, place, std::chrono::milliseconds(value)));
}
