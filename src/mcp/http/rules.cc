#include "mcp/http/rules.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/base64.h"
#include "base/path.h"
#include "base/text.h"
#include "mcp/protocol.h"

namespace coop::mcp {

namespace {

constexpr std::array<std::string_view, 3> kLoopbackNames{"127.0.0.1", "localhost", "[::1]"};

// DNS rebinding: a page of another site can have its name resolve to 127.0.0.1, and its browser
// then connects to us; but its Host header still has that name.
bool is_own_host(std::string_view host, std::uint16_t port) {
  const std::string suffix = ":" + std::to_string(port);
  const std::string name = lower(host);
  return std::ranges::any_of(kLoopbackNames, [&](std::string_view loopback) {
    return name == std::string(loopback) + suffix || (port == 80 && name == loopback);
  });
}

std::string own_hosts(std::uint16_t port) {
  const std::string suffix = ":" + std::to_string(port);
  return "127.0.0.1" + suffix + ", localhost" + suffix + " or [::1]" + suffix;
}

// Pages of servers on this machine, on any port; they still need the token.
bool is_local_origin(std::string_view origin) {
  std::string rest = lower(origin);
  for (const std::string_view scheme : {"http://", "https://"})
    if (rest.starts_with(scheme)) {
      rest = rest.substr(scheme.size());
      return std::ranges::any_of(kLoopbackNames, [&](std::string_view loopback) {
        if (!rest.starts_with(loopback)) return false;
        const std::string_view port = std::string_view(rest).substr(loopback.size());
        return port.empty() || (port.starts_with(':') && port.size() > 1 &&
                                port.find_first_not_of("0123456789", 1) == std::string_view::npos);
      });
    }
  return false;
}

std::string_view bearer_of(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (lower(authorization.substr(0, kScheme.size())) != kScheme) return {};
  return trimmed(authorization.substr(kScheme.size()));
}

std::optional<HttpRefusal> refuse_method(const HttpHead& head) {
  if (head.method == "POST") {
    if (lower(trimmed(head.content_type.substr(0, head.content_type.find(';')))) ==
        "application/json")
      return std::nullopt;
    return HttpRefusal{415, "the body must be application/json"};
  }
  if (head.method == "DELETE") return std::nullopt;
  return HttpRefusal{405,
                     "only POST and DELETE are served here: this server sends nothing unasked"};
}

// "=?base64?…?=" encodes non-ASCII in a header.
bool says(std::string_view header, const std::string& value) {
  return header == value || header == "=?base64?" + base64(value) + "?=";
}

HttpRefusal mismatch(std::string_view header) {
  return {400, std::string(header) + " does not agree with the body", kHeaderMismatch};
}

}  // namespace

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t index = 0; index < a.size(); ++index) {
    const char other = b.empty() ? '\0' : b[index % b.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[index] ^ other));
  }
  return difference == 0;
}

bool accepts(std::string_view accept, std::string_view type) {
  if (trimmed(accept).empty()) return true;
  const std::string any_of_kind = std::string(type.substr(0, type.find('/'))) + "/*";
  while (!accept.empty()) {
    const std::size_t comma = accept.find(',');
    const std::string_view part = accept.substr(0, comma);
    const std::string name = lower(trimmed(part.substr(0, part.find(';'))));
    if (name == type || name == "*/*" || name == any_of_kind) return true;
    accept = comma == std::string_view::npos ? std::string_view() : accept.substr(comma + 1);
  }
  return false;
}

std::optional<HttpRefusal> refuse_head(const HttpHead& head, std::uint16_t port,
                                       std::string_view token) {
  if (head.repeated) return HttpRefusal{400, "Host, Origin and Authorization may be there once"};
  if (!is_own_host(head.host, port))
    return HttpRefusal{403, "Host \"" + printable(head.host) + "\" is not " + own_hosts(port)};
  if (head.has_origin && !is_local_origin(head.origin))
    return HttpRefusal{403,
                       "Origin \"" + printable(head.origin) + "\" may not speak to this server"};
  if (token.empty() || !same_secret(bearer_of(head.authorization), token))
    return HttpRefusal{401, "the header Authorization: Bearer TOKEN is missing or wrong"};
  if (head.target != kEndpoint)
    return HttpRefusal{404, "there is nothing here; the server is at " + std::string(kEndpoint)};
  return refuse_method(head);
}

std::optional<HttpRefusal> refuse_mismatch(const HttpHead& head, const Json& message) {
  if (!head.version.empty() && !is_version(head.version))
    return HttpRefusal{
        400, "MCP-Protocol-Version \"" + printable(head.version) + "\" is not spoken here",
        kUnsupportedVersion,
        unsupported_data(head.version, is_stateless(message) ? Era::stateless : Era::greeting)};
  if (!is_request(message)) return std::nullopt;
  const Json params = message.value("params", Json::object());
  const std::string version = version_of(params);
  const auto stateless = stateless_versions();
  const bool claimed = std::ranges::find(stateless, head.version) != stateless.end();
  if (version.empty()) {
    if (!claimed) return std::nullopt;
    return HttpRefusal{400, "params._meta has no io.modelcontextprotocol/protocolVersion",
                       kInvalidParams};
  }
  if (head.version != version) return mismatch("MCP-Protocol-Version");
  if (!message.at("method").is_string() ||
      head.mcp_method != message.at("method").get<std::string>())
    return mismatch("Mcp-Method");
  if (!has_capabilities(params)) return HttpRefusal{400, kNoCapabilities, kInvalidParams};
  for (const char* field : {"name", "uri"}) {
    const Json value = params.is_object() ? params.value(field, Json()) : Json();
    if (value.is_string() && !says(head.mcp_name, value.get<std::string>()))
      return mismatch("Mcp-Name");
  }
  return std::nullopt;
}

}  // namespace coop::mcp
