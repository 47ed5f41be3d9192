// curl reads URLs; what is refused beyond that is decided here.
#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/address.h"
#include "base/path.h"
#include "base/text.h"
#include "tools/web/urls.h"

namespace coop::tools {

namespace {

constexpr std::size_t kLongestUrl = 8192;
constexpr std::size_t kLongestHost = 253;
constexpr std::size_t kLongestLabel = 63;
constexpr std::string_view kWhole = "write it as https://host/path";

struct LocalName {
  std::string_view name;  // and everything below it
  std::string_view reason;
};

// The addresses behind a name are checked as well; these names are refused without asking for them.
constexpr std::array<std::string_view, 5> kMetadataNames{
    "metadata", "instance-data", "metadata.google.internal", "metadata.aws.internal",
    "instance-data.ec2.internal"};
constexpr std::array kLocalNames{
    LocalName{"localhost", "names this machine"},
    LocalName{"localdomain", "names this machine"},
    LocalName{"internal", "names a machine of a private network"},
    LocalName{"local", "names a machine nearby (mDNS)"},
    LocalName{"home.arpa", "names a machine of a home network"},
};

std::unexpected<Error> refused(std::string_view subject, std::string_view hint = {}) {
  std::unexpected<Error> error = denied("url guard", subject, Rule::of_coop(Part::url_guard));
  error.error().hint = hint;
  return error;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 200;
  return "\"" + printable(text.substr(0, kShown)) + (text.size() > kShown ? "…" : "") + "\"";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Parsers differ on each of these: browsers drop tabs and newlines, and take a backslash for a slash.
Result<void> check_characters(std::string_view text) {
  if (text.size() > kLongestUrl)
    return refused("longer than " + std::to_string(kLongestUrl) + " bytes");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f)
      return refused("a blank or control character in " + in_quotes(text), "write it as %XX");
    if (c == '\\') return refused("a backslash in " + in_quotes(text), "write it as / or %5C");
  }
  if (!is_utf8(text)) return refused(in_quotes(text) + " is not UTF-8", "write such bytes as %XX");
  return {};
}

Result<void> check_label(std::string_view label, std::string_view host) {
  if (label.empty() || label.size() > kLongestLabel)
    return refused(in_quotes(host) + " is no host name: an empty or overlong part");
  for (const char c : label) {
    if (c == '%') return refused("a percent sign in the host " + in_quotes(host));
    if (static_cast<unsigned char>(c) >= 0x80)
      return refused("the host " + in_quotes(host) + " is not ASCII",
                     "write it as punycode: xn--…");
    if (!(c >= 'a' && c <= 'z') && !is_digit(c) && c != '-')
      return refused("the host " + in_quotes(host) + " has characters no host name has");
  }
  if (label.starts_with('-') || label.ends_with('-'))
    return refused(in_quotes(host) + " is no host name: a part begins or ends with '-'");
  return {};
}

bool is_below(std::string_view host, std::string_view name) {
  return host == name || host.ends_with("." + std::string(name));
}

Result<std::string> read_name(std::string_view text) {
  std::string host = lower(text);
  if (host.ends_with('.')) host.pop_back();
  if (host.empty()) return refused("no host", kWhole);
  if (host.size() > kLongestHost) return refused("the host " + in_quotes(host) + " is too long");
  std::string_view rest = host;
  std::string_view last;
  for (bool more = true; more;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    last = rest.substr(0, dot);
    TRY(check_label(last, text));
    more = dot < rest.size();
    if (more) rest.remove_prefix(dot + 1);
  }
  // No top-level domain begins with a digit, but 0x7f.1, 127.1 and 2130706433 are addresses to inet_aton(), and curl
  // turns them into four numbers.
  if (is_digit(last.front())) {
    if (address_bytes(host)) return host;
    return refused(in_quotes(text) + " is an odd form of an address",
                   "write four decimal numbers without leading zeros");
  }
  for (const std::string_view name : kMetadataNames)
    if (is_below(host, name)) return refused(in_quotes(host) + " names a cloud metadata service");
  return host;
}

Result<std::string> read_ipv6(std::string_view text) {
  if (text.contains('%')) return refused("an interface in the address " + in_quotes(text));
  const std::optional<std::string> bytes = address_bytes(text);
  if (!bytes || bytes->size() != 16)
    return refused(in_quotes(text) + " in brackets is no IPv6 address");
  return address_text(*bytes);
}

// The host and its port as they are written: what curl makes of them must not differ.
struct Authority {
  std::string host{};
  std::string_view port{};
};

Result<Authority> read_authority(std::string_view text) {
  if (text.contains('@'))
    return refused("a user name before the host " + in_quotes(text),
                   "leave out what is before the @");
  const std::optional<HostAndPort> split = split_port(text);
  if (!split && !text.contains(']')) return refused("no ] in the host " + in_quotes(text));
  if (!split) return refused("something after the address in " + in_quotes(text));
  std::string host = TRY(split->bracketed ? read_ipv6(split->host) : read_name(split->host));
  return Authority{.host = std::move(host), .port = split->port.value_or("")};
}

using Handle = std::shared_ptr<CURLU>;

Result<void> set(const Handle& handle, CURLUPart part, const std::string& text, unsigned flags) {
  const CURLUcode code = ::curl_url_set(handle.get(), part, text.c_str(), flags);
  if (code == CURLUE_OK) return {};
  return refused(in_quotes(text) + ": " + ::curl_url_strerror(code));
}

std::string get(const Handle& handle, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (::curl_url_get(handle.get(), part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&::curl_free)> owner(text, &::curl_free);
  return text;
}

// The scheme, and what is between "//" and the path.
Result<std::string_view> check_scheme(std::string_view text, std::string& scheme) {
  const std::size_t colon = text.find(':');
  scheme = lower(text.substr(0, std::min(colon, text.size())));
  constexpr std::string_view kScheme = "abcdefghijklmnopqrstuvwxyz0123456789+-.";
  if (colon == std::string_view::npos || scheme.empty() || scheme.front() < 'a' ||
      scheme.find_first_not_of(kScheme) != std::string::npos)
    return refused(in_quotes(text) + " is not a whole URL", kWhole);
  if (scheme != "http" && scheme != "https")
    return refused(in_quotes(scheme) + " is not fetched", "only http and https are");
  std::string_view rest = text.substr(colon + 1);
  if (!rest.starts_with("//"))
    return refused("no // after the scheme in " + in_quotes(text), kWhole);
  rest.remove_prefix(2);
  return rest.substr(0, rest.find_first_of("/?#"));
}

// Versions of curl write escapes differently; this leaves nothing for them to write.
std::string with_escapes(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) escaped.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    else escaped += text[i];
    if (text[i] != '%' || i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))
      continue;
    escaped.append({upper(text[i + 1]), upper(text[i + 2])});
    i += 2;
  }
  return escaped;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  TRY(check_characters(text));
  Url url;
  const std::string_view authority = TRY(check_scheme(text, url.scheme));
  Authority wanted = TRY(read_authority(authority));
  url.handle = Handle(::curl_url(), &::curl_url_cleanup);
  if (!url.handle) return system_error_of(ENOMEM, "curl_url");
  // A port that is none is curl's to refuse, but its message would not show it.
  const CURLUcode code = ::curl_url_set(url.handle.get(), CURLUPART_URL, with_escapes(text).c_str(),
                                        CURLU_PATH_AS_IS | CURLU_URLENCODE | CURLU_DISALLOW_USER);
  const std::string port = get(url.handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), url.port);
  if (code == CURLUE_BAD_PORT_NUMBER || (code == CURLUE_OK && url.port == 0))
    return refused(in_quotes(wanted.port) + " is no port", "from 1 to 65535");
  if (code != CURLUE_OK) return refused(in_quotes(text) + ": " + ::curl_url_strerror(code));
  url.host = std::move(wanted.host);
  const std::string host = url.host.contains(':') ? "[" + url.host + "]" : url.host;
  TRY(set(url.handle, CURLUPART_HOST, host, 0));
  ::curl_url_set(url.handle.get(), CURLUPART_FRAGMENT, nullptr, 0);
  const std::string query = get(url.handle, CURLUPART_QUERY);
  url.target = get(url.handle, CURLUPART_PATH) + (query.empty() ? "" : "?" + query);
  if (to_text(url).size() > kLongestUrl)
    return refused("longer than " + std::to_string(kLongestUrl) + " bytes");
  return url;
}

Result<void> check_public_name(std::string_view host) {
  for (const LocalName& local : kLocalNames)
    if (is_below(host, local.name))
      return refused(in_quotes(host) + " " + std::string(local.reason));
  if (!host.contains('.'))
    return refused(in_quotes(host) + " has no dot: such names mean machines nearby",
                   "write the whole name");
  return {};
}

std::string to_text(const Url& url) {
  return get(url.handle, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
}

Result<Url> resolve_reference(const Url& base, std::string_view location) {
  location = trimmed(location);
  TRY(check_characters(location));
  std::string whole(location);
  const std::size_t mark = location.find_first_of(":/?#");
  if (location.empty() || location.starts_with('#')) {
    whole = to_text(base);
  } else if (location.starts_with("//")) {
    whole = base.scheme + ":" + whole;
  } else if (mark == std::string_view::npos || location[mark] != ':') {
    const Handle next(::curl_url_dup(base.handle.get()), &::curl_url_cleanup);
    TRY(set(next, CURLUPART_URL, whole, CURLU_URLENCODE));
    whole = get(next, CURLUPART_URL);
  }
  Url next = TRY(parse_url(whole));
  if (base.scheme == "https" && next.scheme != "https")
    return refused("a redirect from https to " + in_quotes(to_text(next)));
  return next;
}

}  // namespace coop::tools
