#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/path.h"
#include "base/text.h"
#include "tools/urls.h"

namespace coop::tools {

namespace {

constexpr std::size_t kLongestUrl = 8192;
constexpr std::size_t kLongestHost = 253;
constexpr std::size_t kLongestLabel = 63;

struct LocalName {
  std::string_view name;  // and everything below it
  std::string_view reason;
};

// The addresses behind a name are checked as well; these names have no business being asked for.
constexpr std::array kLocalNames{
    LocalName{"localhost", "names this machine"},
    LocalName{"localdomain", "names this machine"},
    LocalName{"metadata.google.internal", "names a cloud metadata service"},
    LocalName{"instance-data.ec2.internal", "names a cloud metadata service"},
    LocalName{"internal", "names a machine of a private network"},
    LocalName{"local", "names a machine nearby (mDNS)"},
    LocalName{"home.arpa", "names a machine of a home network"},
};

std::unexpected<Error> refused(std::string_view subject, std::string_view hint = {}) {
  return invalid("url guard", subject, hint);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 200;
  return "\"" + printable(text.substr(0, kShown)) + (text.size() > kShown ? "…" : "") + "\"";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Each of these is read in one way by us and in another by some other parser: browsers drop tabs and
// newlines, and take a backslash for a slash.
Result<void> check_characters(std::string_view text) {
  if (text.size() > kLongestUrl)
    return refused("longer than " + std::to_string(kLongestUrl) + " bytes");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f)
      return refused("a blank or control character in " + quoted(text), "write it as %XX");
    if (c == '\\') return refused("a backslash in " + quoted(text), "write it as / or %5C");
  }
  if (!is_utf8(text)) return refused(quoted(text) + " is not UTF-8", "write such bytes as %XX");
  return {};
}

Result<void> check_label(std::string_view label, std::string_view host) {
  if (label.empty() || label.size() > kLongestLabel)
    return refused(quoted(host) + " is no host name: an empty or overlong part");
  for (const char c : label) {
    if (c == '%') return refused("a percent sign in the host " + quoted(host));
    if (static_cast<unsigned char>(c) >= 0x80)
      return refused("the host " + quoted(host) + " is not ASCII", "write it as punycode: xn--…");
    if (!is_letter(c) && !is_digit(c) && c != '-')
      return refused("the host " + quoted(host) + " has characters no host name has");
  }
  if (label.starts_with('-') || label.ends_with('-'))
    return refused(quoted(host) + " is no host name: a part begins or ends with '-'");
  return {};
}

Result<void> check_public_name(std::string_view host) {
  for (const LocalName& local : kLocalNames) {
    if (!host.ends_with(local.name)) continue;
    const std::size_t before = host.size() - local.name.size();
    if (before == 0 || host[before - 1] == '.')
      return refused(quoted(host) + " " + std::string(local.reason));
  }
  if (host == "metadata" || host == "instance-data")
    return refused(quoted(host) + " names a cloud metadata service");
  if (!host.contains('.'))
    return refused(quoted(host) + " has no dot: such names mean machines nearby",
                   "write the whole name");
  return {};
}

Result<std::string> read_name(std::string_view text) {
  std::string host = lower(text);
  if (host.ends_with('.')) host.pop_back();
  if (host.empty()) return refused("no host", "write it as https://host/path");
  if (host.size() > kLongestHost) return refused("the host " + quoted(host) + " is too long");
  std::string_view rest = host;
  std::string_view last;
  for (bool more = true; more;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    last = rest.substr(0, dot);
    TRY(check_label(last, text));
    more = dot < rest.size();
    if (more) rest.remove_prefix(dot + 1);
  }
  // No top-level domain begins with a digit, but 0x7f.1, 127.1 and 2130706433 are addresses to
  // inet_aton(), which getaddrinfo() uses.
  if (is_digit(last.front())) {
    in_addr address{};
    if (::inet_pton(AF_INET, host.c_str(), &address) == 1) return host;
    return refused(quoted(text) + " is an odd form of an address",
                   "write four decimal numbers without leading zeros");
  }
  TRY(check_public_name(host));
  return host;
}

Result<std::string> read_ipv6(std::string_view text) {
  if (text.contains('%')) return refused("an interface in the address " + quoted(text));
  const std::string copy(text);
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> canonical{};
  if (::inet_pton(AF_INET6, copy.c_str(), &address) != 1 ||
      ::inet_ntop(AF_INET6, &address, canonical.data(), canonical.size()) == nullptr)
    return refused(quoted(text) + " in brackets is no IPv6 address");
  return std::string(canonical.data());
}

std::uint16_t usual_port(std::string_view scheme) { return scheme == "http" ? 80 : 443; }

Result<std::uint16_t> read_port(std::string_view text, std::string_view scheme) {
  if (text.empty()) return usual_port(scheme);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
    return refused(quoted(text) + " is no port", "from 1 to 65535");
  return port;
}

Result<void> read_authority(std::string_view text, Url& url) {
  if (text.contains('@'))
    return refused("a user name before the host " + quoted(text), "leave out what is before the @");
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return refused("no ] in the host " + quoted(text));
    url.host = TRY(read_ipv6(text.substr(1, close - 1)));
    port = text.substr(close + 1);
    if (!port.empty() && port.front() != ':')
      return refused("something after the address in " + quoted(text));
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    url.host = TRY(read_name(text.substr(0, colon)));
    port = text.substr(colon);
  }
  if (!port.empty()) port.remove_prefix(1);
  url.port = TRY(read_port(port, url.scheme));
  return {};
}

std::string read_target(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string target;
  if (!text.starts_with('/')) target = "/";
  for (const char c : text.substr(0, text.find('#'))) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      target += c;
    } else {
      target += '%';
      target += kDigits[byte >> 4U];
      target += kDigits[byte & 0xfU];
    }
  }
  return target;
}

bool is_scheme(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

// "." and ".." out of a path that begins with a slash (RFC 3986, 5.2.4); empty parts stay.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  bool directory = false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash);
    directory = part == "." || part == "..";
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!directory) parts.push_back(part);
  }
  std::string result;
  for (const std::string_view part : parts) result.append("/").append(part);
  if (directory || result.empty()) result += '/';
  return result;
}

std::string origin_of(const Url& url) {
  std::string text = url.scheme + "://";
  text += url.host.contains(':') ? "[" + url.host + "]" : url.host;
  if (url.port != usual_port(url.scheme)) text += ":" + std::to_string(url.port);
  return text;
}

Result<Url> follow(const Url& base, std::string_view location) {
  const std::size_t mark = location.find_first_of(":/?#");
  if (mark != std::string_view::npos && location[mark] == ':') return parse_url(location);
  if (location.starts_with("//")) return parse_url(base.scheme + ":" + std::string(location));
  if (location.size() > kLongestUrl) return parse_url(location);  // refused there, before any work

  const std::size_t end = std::min(location.find_first_of("?#"), location.size());
  const std::string_view path = location.substr(0, end);
  const std::string_view tail = location.substr(end);
  if (path.empty() && !tail.starts_with('?')) return base;
  std::string whole = base.target.substr(0, base.target.find('?'));
  if (path.starts_with('/')) {
    whole = without_dots(path);
  } else if (!path.empty()) {
    whole.resize(whole.rfind('/') + 1);
    whole = without_dots(whole.append(path));
  }
  return parse_url(origin_of(base) + whole.append(tail));
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  TRY(check_characters(text));
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (colon == text.size() || !is_scheme(text.substr(0, colon)))
    return refused(quoted(text) + " is not a whole URL", "write it as https://host/path");
  Url url{.scheme = lower(text.substr(0, colon))};
  if (url.scheme != "http" && url.scheme != "https")
    return refused(quoted(url.scheme) + " is not fetched", "only http and https are");
  std::string_view rest = text.substr(colon + 1);
  if (!rest.starts_with("//"))
    return refused("no // after the scheme in " + quoted(text), "write it as https://host/path");
  rest.remove_prefix(2);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  TRY(read_authority(rest.substr(0, end), url));
  url.target = read_target(rest.substr(end));
  if (to_text(url).size() > kLongestUrl)
    return refused("longer than " + std::to_string(kLongestUrl) + " bytes");
  return url;
}

std::string to_text(const Url& url) { return origin_of(url) + url.target; }

Result<Url> resolve_reference(const Url& base, std::string_view location) {
  Url next = TRY(follow(base, trimmed(location)));
  if (base.scheme == "https" && next.scheme != "https")
    return refused("a redirect from https to " + quoted(to_text(next)));
  return next;
}

}  // namespace coop::tools
