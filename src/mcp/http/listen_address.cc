#include <sys/random.h>

#include <array>
#include <charconv>

#include "base/path.h"
#include "mcp/http/http.h"

namespace coop::mcp {

namespace {

std::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return invalid("--http", "\"" + printable(text) + "\" " + std::string(why),
                 "--http 127.0.0.1:PORT; port 0 lets the kernel choose one");
}

}  // namespace

Result<HttpOptions> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view host =
      colon == std::string_view::npos ? "127.0.0.1" : text.substr(0, colon);
  const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
  HttpOptions options;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), options.port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return bad(text, "has no port of 0 to 65535");
  if (host == "[::1]") options.address = "::1";
  else if (host != "127.0.0.1" && host != "localhost")
    return bad(text, "is not a loopback address: tools are not served to other machines");
  return options;
}

Result<std::string> make_token() {
  std::array<unsigned char, 32> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return system_error("getrandom");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) token += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  return token;
}

}  // namespace coop::mcp
