// Which URLs a tool may fetch, and fetching them safely.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/destinations/judge.h"

struct Curl_URL;  // curl's CURLU

namespace coop::tools {

// Made by parse_url() only.
struct Url {
  std::string scheme{};  // "http" or "https"
  std::string host{};    // lower case, no trailing dot; IPv6 without brackets
  std::uint16_t port = 0;
  std::string target{};                // path and query, at least "/"
  std::shared_ptr<Curl_URL> handle{};  // the same, as curl will fetch it; never changed
  bool operator==(const Url& other) const {
    return scheme == other.scheme && host == other.host && port == other.port &&
           target == other.target;
  }
};

// http(s) only. Userinfo, control characters, backslashes, blanks, odd forms of addresses (octal, hex,
// one number, short), names that are not ASCII letters, digits, '-' and '.' (write IDN as punycode), and
// names of metadata services are refused with the reason. No fragment is kept.
// Bytes of UTF-8 in path and query become %xx. Addresses are only read here; fetch() judges them.
Result<Url> parse_url(std::string_view text);

// Refuses names of this machine and of machines nearby ("localhost", "db.internal", "printer").
Result<void> check_public_name(std::string_view host);

// As parse_url() reads it: parse_url(to_text(url)) == url. No port where it is the scheme's own.
std::string to_text(const Url& url);

// Resolves a Location header against `base`: a whole URL, "//host/…", "/path", "?query" or "path".
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

// Resolves names; tests replace it. Numeric hosts do not come here. The system's gives up after ten
// seconds.
using Resolver = std::function<Result<std::vector<std::string>>(const std::string& host)>;
Resolver system_resolver();

// The hosts a fetch may reach: those that judge_inside() gives a program of this sandbox. With the host's network, and
// without a sandbox: the internet, by judge(), since nothing else keeps a fetch from this machine and its networks.
struct FetchRules {
  policy::SandboxNetwork network{
      .mode = NetworkMode::host,
      .connections = {.unlisted = policy::DestinationRules::Unlisted::open}};
  std::vector<std::string> addresses{};  // never guarded, whatever the port; for tests only
};

// GET. Every name is resolved once, every address checked, and the connection goes to the checked
// address; each redirect is parsed and checked anew. One forbidden address forbids its name. Local names are
// refused unless a rule names them: check_public_name(). What a guard refuses is an Error whose operation is that guard: "url guard" or "address guard"; what the
// rules refuse is one with a rule and, where there is one, its grant.
Result<Fetched> fetch(std::string_view url, const FetchLimits& limits, const Resolver& resolver,
                      const FetchRules& rules = {});

}  // namespace coop::tools
