// Which URLs a tool may fetch, and fetching them without being led elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/host_rules.h"

namespace coop::tools {

struct Url {
  std::string scheme{};  // "http" or "https"
  std::string host{};    // lower case, no trailing dot; IPv6 without brackets
  std::uint16_t port = 0;
  std::string target{};  // path and query, at least "/"
  bool operator==(const Url&) const = default;
};

// http(s) only. Userinfo, control characters, backslashes, blanks, odd forms of addresses (octal, hex,
// one number, short), names that are not ASCII letters, digits, '-' and '.' (write IDN as punycode), and
// names of metadata services and of this machine are refused with the reason. No fragment is kept.
// Bytes of UTF-8 in path and query become %XX. Addresses are only read here; policy::why_forbidden() judges.
Result<Url> parse_url(std::string_view text);

// As parse_url() reads it: parse_url(to_text(url)) == url. No port where it is the scheme's own.
std::string to_text(const Url& url);

// Where a Location header leads from `base`: a whole URL, "//host/…", "/path", "?query" or "path".
// From https to http is refused.
Result<Url> resolve_reference(const Url& base, std::string_view location);

struct Fetched {
  int status = 0;
  std::string url{};           // the last one, after redirects
  std::string content_type{};  // printable
  std::string body{};          // as sent, without its gzip coding
  bool truncated = false;      // at the size limit, or by the server
};

struct FetchLimits {
  std::chrono::milliseconds time{30000};
  std::size_t size = 1 << 20;
  int redirects = 5;
};

// Names to addresses; tests put their own in. Numeric hosts do not come here. The system's gives up
// after ten seconds.
using Resolver = std::function<Result<std::vector<std::string>>(const std::string& host)>;
Resolver system_resolver();

// Which hosts a fetch may go to. What a sandbox may not reach, a tool does not fetch for it.
struct FetchRules {
  enum class Hosts : std::uint8_t { internet, listed };
  Hosts hosts = Hosts::internet;
  net::HostRules rules{};  // listed: all there is. Else what is denied, and which of the addresses
                           // that policy::why_forbidden() refuses may be reached all the same
  std::vector<std::string> addresses{};  // such as well, whatever the port; for tests only
};

// GET. Every name is resolved once, every address checked, and the connection goes to the checked
// address; each redirect is parsed and checked anew. One forbidden address forbids its name. What a
// guard refuses is an Error whose operation is that guard: "url guard" or "address guard"; what the
// rules refuse is one with a rule and, where there is one, the grant as its hint.
Result<Fetched> fetch(std::string_view url, const FetchLimits& limits, const Resolver& resolver,
                      const FetchRules& rules = {});

}  // namespace coop::tools
