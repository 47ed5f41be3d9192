#include "egress/proxy/request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/text.h"
#include "policy/destinations/host_name.h"

namespace coop::egress {

namespace {

using Kind = ProxyRequest::Kind;

constexpr std::size_t kMostHead = 16384;
constexpr std::uint16_t kHttp = 80;

ProxyRequest bad(std::string_view why) { return {.kind = Kind::bad, .problem = std::string(why)}; }

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [kOthers](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

enum class Family : std::uint8_t { four = 4, six = 16 };

std::optional<std::string> address_of(std::string_view text, Family family) {
  const std::optional<std::string> bytes = address_bytes(text);
  if (!bytes || bytes->size() != static_cast<std::size_t>(family)) return std::nullopt;
  return address_text(*bytes);
}

// "host", "host:port", "1.2.3.4", "[::1]:443"; `fallback` is the default port, 0 for none.
std::optional<Target> target_of(std::string_view authority, std::uint16_t fallback) {
  if (authority.find('@') != std::string_view::npos) return std::nullopt;  // userinfo
  const std::optional<HostAndPort> split = split_port(authority);
  if (!split) return std::nullopt;
  Target target{.port = fallback};
  if (const auto port = split->port) {
    const auto [end, error] =
        std::from_chars(port->data(), port->data() + port->size(), target.port);
    if (port->empty() || error != std::errc() || end != port->data() + port->size())
      return std::nullopt;
  }
  if (target.port == 0) return std::nullopt;
  std::optional<std::string> spelled =
      address_of(split->host, split->bracketed ? Family::six : Family::four);
  if (!spelled && !split->bracketed) {
    spelled = policy::host_name(split->host);
    target.kind = HostKind::name;
  }
  if (!spelled) return std::nullopt;
  target.host = *spelled;
  return target;
}

struct Field {
  std::string name{};  // in lower case
  std::string_view line{};
  std::string_view value{};
};

struct Head {
  std::string_view method{};
  std::string_view target{};
  std::vector<Field> fields{};
  std::string problem{};

  std::size_t count(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::count(fields, name, &Field::name));
  }
};

Head split_head(std::string_view text) {
  Head head;
  const auto wrong = [&](std::string_view why) {
    head.problem = why;
    return head;
  };
  const std::size_t first = text.find("\r\n");
  const std::string_view line = text.substr(0, first);
  const std::size_t one = line.find(' ');
  const std::size_t two = line.rfind(' ');
  if (one == std::string_view::npos || one == two)
    return wrong("the request line does not have three parts");
  head.method = line.substr(0, one);
  head.target = line.substr(one + 1, two - one - 1);
  const std::string_view version = line.substr(two + 1);
  if (!is_token(head.method) || head.target.empty() ||
      head.target.find_first_of(" \t") != std::string_view::npos)
    return wrong("the request line is malformed");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return wrong("the version is not HTTP/1.1");
  std::string_view rest = text.substr(first + 2);
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos || !is_token(field.substr(0, colon)))
      return wrong("a header is not NAME: VALUE");
    head.fields.push_back({lower(field.substr(0, colon)), field, trimmed(field.substr(colon + 1))});
  }
  return head;
}

// The headers that frame the body must be unambiguous.
std::string framing_problem(const Head& head) {
  const std::size_t lengths = head.count("content-length");
  const std::size_t codings = head.count("transfer-encoding");
  if (lengths + codings > 1) return "the length of the body is given twice";
  for (const Field& field : head.fields) {
    if (field.name == "content-length" &&
        (field.value.empty() || field.value.size() > 18 ||
         field.value.find_first_not_of("0123456789") != std::string_view::npos))
      return "Content-Length is not a number";
    if (field.name == "transfer-encoding" && lower(field.value) != "chunked")
      return "Transfer-Encoding is not chunked";
  }
  return head.count("host") > 1 ? "Host is given twice" : "";
}

// Hop-by-hop headers are not forwarded.
bool is_for_the_proxy(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{
      "connection", "proxy-connection", "keep-alive", "proxy-authorization",
      "te",         "upgrade",          "host"};
  return std::ranges::find(kNames, name) != kNames.end();
}

ProxyRequest forward(const Head& head, std::size_t size) {
  constexpr std::string_view kScheme = "http://";
  if (lower(head.target.substr(0, kScheme.size())) != kScheme)
    return bad("only CONNECT and http:// are proxied");
  const std::string_view after = head.target.substr(kScheme.size());
  const std::size_t slash = std::min(after.find_first_of("/?#"), after.size());
  const std::string_view authority = after.substr(0, slash);
  const std::optional<Target> target = target_of(authority, kHttp);
  if (!target) return bad("the URL names no host");
  std::string path(after.substr(slash));
  path.resize(std::min(path.find('#'), path.size()));
  if (!path.starts_with('/')) path.insert(path.begin(), '/');
  ProxyRequest request{.kind = Kind::forward,
                       .target = *target,
                       .size = size,
                       .head = std::string(head.method) + " " + path +
                               " HTTP/1.1\r\nHost: " + std::string(authority) + "\r\n"};
  for (const Field& field : head.fields) {
    if (field.name == "host" && target_of(field.value, kHttp) != target)
      return bad("Host and the URL name different hosts");
    if (!is_for_the_proxy(field.name)) request.head += std::string(field.line) + "\r\n";
  }
  request.head += "Connection: close\r\n\r\n";
  return request;
}

}  // namespace

ProxyRequest read_proxy_request(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kMostHead).find("\r\n\r\n");
  const std::string_view text =
      bytes.substr(0, end == std::string_view::npos ? std::min(bytes.size(), kMostHead) : end + 2);
  // Refuse as soon as the bytes cannot become a valid head.
  for (std::size_t index = 0; index < text.size(); ++index) {
    const char c = text[index];
    const bool line_end = c == '\r' && (index + 1 == text.size() || text[index + 1] == '\n');
    const bool second = c == '\n' && index > 0 && text[index - 1] == '\r';
    if (!line_end && !second && c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f))
      return bad("a control character in the head");
  }
  if (end == std::string_view::npos)
    return bytes.size() >= kMostHead ? bad("the head is longer than 16 KB") : ProxyRequest{};
  const Head head = split_head(text);
  if (!head.problem.empty()) return bad(head.problem);
  if (const std::string problem = framing_problem(head); !problem.empty()) return bad(problem);
  if (head.method != "CONNECT") return forward(head, end + 4);
  const std::optional<Target> target = target_of(head.target, 0);
  if (!target) return bad("CONNECT needs HOST:PORT");
  if (head.count("content-length") + head.count("transfer-encoding") > 0)
    return bad("CONNECT has no body");
  return {.kind = Kind::connect, .target = *target, .size = end + 4};
}

}  // namespace coop::egress
