#include <arpa/inet.h>
#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/address.h"
#include "base/path.h"
#include "base/quantity.h"
#include "egress/machine_addresses.h"
#include "policy/destinations/cover.h"
#include "tools/web/urls.h"

namespace coop::tools {

namespace {

using Clock = std::chrono::steady_clock;
using policy::Reason;

constexpr std::size_t kMostHeaderBytes = 64U << 10U;
constexpr std::size_t kMostAddresses = 16;
constexpr std::size_t kLongestContentType = 200;

// One request: its URL, and the only addresses it may connect to.
struct Hop {
  Url url{};
  std::vector<std::string> addresses{};  // canonical
};

struct Answer {
  int status = 0;
  std::string content_type{};
  std::string location{};
  std::string body{};
  bool truncated = false;
};

std::unexpected<Error> failed(const Url& url, std::string_view why) {
  return unavailable("fetch " + to_text(url), why);
}

std::unexpected<Error> out_of_time(const Url& url, const FetchLimits& limits) {
  return timed_out("fetch " + to_text(url),
                   "stalled, or took longer than " + format_duration(limits.time) + " in all");
}

std::string text_of(const void* address, std::size_t size) {
  return address_text({static_cast<const char*>(address), size});
}

// `place`: "10.0.0.1", or "example.com has the address 10.0.0.1, which".
std::unexpected<Error> guarded(const std::string& place, std::string_view reason,
                               std::optional<Grant> grant = std::nullopt) {
  return denied("address guard", place + " is " + std::string(reason),
                Rule::of_coop(Part::address_guard), std::move(grant));
}

std::unexpected<Error> refused(const Url& url, const std::string& place,
                               const policy::Verdict& verdict, const Destination& asked) {
  const std::string doing = "fetch " + to_text(url);
  const std::optional<Grant> grant = policy::grant_for(verdict.remedy, asked);
  switch (verdict.reason) {
    case Reason::guarded:
      // A port of the host is reached as localhost, not by this address.
      return guarded(place, verdict.address_is,
                     verdict.remedy == policy::Remedy::allow_net ? grant : std::nullopt);
    case Reason::machine: return guarded(place, verdict.address_is);
    case Reason::denied: return denied(doing, place + " is denied", rule_of(verdict), grant);
    case Reason::no_network:
      return denied(doing, "the policy gives this sandbox no network",
                    Rule::of_coop(Part::network_mode, "none"),
                    policy::grant_for(policy::Remedy::allow_net, asked));
    case Reason::inside:
      return denied(doing, place + " is the sandbox itself", rule_of(verdict), grant);
    case Reason::only_ipv4:
      return denied(doing, place + " is IPv6, and a veth link carries IPv4 only", rule_of(verdict));
    default:
      return denied(doing, place + " is not on the list of allowed hosts", rule_of(verdict), grant);
  }
}

policy::Verdict judge(const policy::SandboxNetwork& network, const Destination& asked,
                      const policy::AddressGuard& guard) {
  return network.mode == NetworkMode::host ? policy::judge(network.connections, asked, guard)
                                           : policy::judge_inside(network, asked, guard);
}

// In an open network a program resolves the name itself, and connects as to any address.
policy::Verdict judge_found(const policy::SandboxNetwork& network, const Destination& address,
                            const policy::AddressGuard& guard) {
  const bool open = network.mode == NetworkMode::full || network.mode == NetworkMode::veth;
  return open ? policy::judge_inside(network, address, guard)
              : policy::judge_found(network.connections, address, guard);
}

bool has_rule(const policy::SandboxNetwork& network, const Destination& asked) {
  return std::ranges::any_of(network.connections.allowed, [&](const DestinationRule& rule) {
    return policy::covers(rule.destination, asked, policy::Portless::usual);
  });
}

Result<Hop> checked(const Url& url, const Resolver& resolver, const FetchRules& rules) {
  Hop hop{.url = url};
  const egress::MachineAddresses machine = TRY(egress::MachineAddresses::open());
  const auto guard = [&](const Prefix& address) -> std::optional<policy::Forbidden> {
    const std::string text = address_text(address.address);
    if (std::ranges::find(rules.addresses, text) != rules.addresses.end()) return std::nullopt;
    return machine.forbidden(address);
  };
  // Before the resolver is asked: a question tells the name to the servers it goes to.
  const std::optional<std::string> numeric = address_bytes(url.host);
  const Destination asked = numeric ? policy::address_destination(*numeric, url.port)
                                    : policy::name_destination(url.host, url.port);
  const policy::Verdict first = judge(rules.network, asked, guard);
  const bool by_address = first.reason == Reason::guarded || first.reason == Reason::machine;
  const std::string port = by_address ? "" : " port " + std::to_string(url.port);
  if (!first.allowed()) return refused(url, host_text(asked) + port, first, asked);
  if (numeric) {
    hop.addresses = {host_text(asked)};
    return hop;
  }
  if (first.reason == Reason::host_port) {
    hop.addresses = {"127.0.0.1", "::1"};
    return hop;
  }
  if (!has_rule(rules.network, asked)) TRY(check_public_name(url.host));
  const std::vector<std::string> found = TRY(resolver(url.host));
  if (found.empty()) return failed(url, "the name has no address");
  // One forbidden address refuses the name: an attacker returns both and hopes for the wrong one.
  policy::Verdict left_out;
  for (const std::string& address : found) {
    const std::string place = url.host + " has the address " + printable(address) + ", which";
    const std::optional<std::string> bytes = address_bytes(address);
    if (!bytes) return guarded(place, "not an address");
    const Destination one = policy::address_destination(*bytes, url.port);
    const policy::Verdict verdict = judge_found(rules.network, one, guard);
    if (verdict.reason == Reason::only_ipv4) {
      left_out = verdict;
      continue;
    }
    // Only localhost leads to a port of the host: another name may be an attacker's (DNS rebinding).
    if (verdict.reason == Reason::host_port) return guarded(place, "loopback: this machine");
    if (!verdict.allowed()) return refused(url, place, verdict, one);
    hop.addresses.push_back(host_text(one));
  }
  if (hop.addresses.empty()) return refused(url, url.host, left_out, asked);
  return hop;
}

// Filled by the callbacks of one transfer.
struct Sink {
  const Hop& hop;
  std::size_t limit = 0;
  std::string body{};
  std::size_t header_bytes = 0;
  bool full = false;
  std::string stray{};  // an unchecked address that curl tried to connect to
};

std::size_t take_body(const char* data, std::size_t, std::size_t size, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  const std::size_t room = sink.limit - sink.body.size();
  sink.full = size > room;
  sink.body.append(data, std::min(size, room));
  return sink.full ? 0 : size;  // 0: curl stops here
}

std::size_t take_header(const char*, std::size_t, std::size_t size, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  sink.header_bytes += size;
  return sink.header_bytes > kMostHeaderBytes ? 0 : size;
}

// curl was given the addresses and resolves nothing. Should it ever use another address (another
// version, an unknown option, a proxy), refuse here.
curl_socket_t open_socket(void* user, curlsocktype purpose, curl_sockaddr* target) {
  auto& sink = *static_cast<Sink*>(user);
  std::string address;
  std::uint16_t port = 0;
  if (target->family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&target->addr);
    address = text_of(&v4->sin_addr, sizeof v4->sin_addr);
    port = ntohs(v4->sin_port);
  } else if (target->family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&target->addr);
    address = text_of(&v6->sin6_addr, sizeof v6->sin6_addr);
    port = ntohs(v6->sin6_port);
  }
  const bool known = std::ranges::find(sink.hop.addresses, address) != sink.hop.addresses.end();
  if (purpose != CURLSOCKTYPE_IPCXN || !known || port != sink.hop.url.port) {
    sink.stray = address.empty() ? "not an address of the internet" : address;
    return CURL_SOCKET_BAD;
  }
  return ::socket(target->family, target->socktype | SOCK_CLOEXEC, target->protocol);
}

// OpenSSL uses write(): a server that closes early would kill us with SIGPIPE. curl's own solution
// changes the handler of the process; this one is per thread.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    const timespec now{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// A curl handle that remembers the first option that failed: a missing setting (such as a protocol
// filter) must stop the transfer.
class Transfer {
 public:
  Transfer() : handle_(::curl_easy_init(), &::curl_easy_cleanup) {
    if (!handle_) code_ = CURLE_FAILED_INIT;
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    if (code_ == CURLE_OK) code_ = ::curl_easy_setopt(handle_.get(), option, value);
  }

  // CURLOPT_RESOLVE "host:port:address,address": these are the name's addresses, without a lookup.
  void pin(const Hop& hop) {
    if (address_bytes(hop.url.host)) return;
    std::string entry = hop.url.host + ":" + std::to_string(hop.url.port) + ":";
    const std::size_t count = std::min(hop.addresses.size(), kMostAddresses);
    for (const std::string& address : std::span(hop.addresses).first(count)) {
      if (!entry.ends_with(':')) entry += ',';
      entry += address.contains(':') ? "[" + address + "]" : address;
    }
    pinned_.reset(::curl_slist_append(nullptr, entry.c_str()));
    if (!pinned_) code_ = CURLE_OUT_OF_MEMORY;
    set(CURLOPT_RESOLVE, pinned_.get());
  }

  CURLcode run() {
    if (code_ != CURLE_OK) return code_;
    const WithoutSigpipe quiet;
    return ::curl_easy_perform(handle_.get());
  }

  int status() const {
    long status = 0;
    ::curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }

  // The first header of that name in the last answer, not in a trailer.
  std::string header(const char* name) const {
    curl_header* found = nullptr;
    if (::curl_easy_header(handle_.get(), name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
      return {};
    return found->value;
  }

 private:
  std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)> handle_;
  std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)> pinned_{nullptr,
                                                                        &::curl_slist_free_all};
  CURLcode code_ = CURLE_OK;
};

void set_walls(Transfer& transfer) {
  transfer.set(CURLOPT_PROTOCOLS_STR, "http,https");
  transfer.set(CURLOPT_FOLLOWLOCATION, 0L);  // we check each redirect
  // Ignores the environment's: a proxy would resolve the name.
  transfer.set(CURLOPT_PROXY, "");
  transfer.set(CURLOPT_NOPROXY, "*");
  transfer.set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  transfer.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  transfer.set(CURLOPT_HTTP09_ALLOWED, 0L);
  transfer.set(CURLOPT_SSL_VERIFYPEER, 1L);
  transfer.set(CURLOPT_SSL_VERIFYHOST, 2L);
  transfer.set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  transfer.set(CURLOPT_PATH_AS_IS, 1L);  // what was checked (and scanned) is what is sent
  transfer.set(CURLOPT_NOSIGNAL, 1L);
  transfer.set(CURLOPT_USERAGENT, "coop/0.1");
  transfer.set(CURLOPT_ACCEPT_ENCODING, "gzip");  // the size limit counts what it unpacks to
}

void set_callbacks(Transfer& transfer, Sink& sink) {
  transfer.set(CURLOPT_WRITEFUNCTION, &take_body);
  transfer.set(CURLOPT_WRITEDATA, &sink);
  transfer.set(CURLOPT_HEADERFUNCTION, &take_header);
  transfer.set(CURLOPT_HEADERDATA, &sink);
  transfer.set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  transfer.set(CURLOPT_OPENSOCKETDATA, &sink);
}

void set_times(Transfer& transfer, std::chrono::milliseconds left) {
  constexpr std::chrono::milliseconds kLongestConnect{10000};
  transfer.set(CURLOPT_TIMEOUT_MS, static_cast<long>(left.count()));
  transfer.set(CURLOPT_CONNECTTIMEOUT_MS,
               static_cast<long>(std::min(left, kLongestConnect).count()));
  transfer.set(CURLOPT_LOW_SPEED_LIMIT, 16L);  // bytes in a second
  transfer.set(CURLOPT_LOW_SPEED_TIME, 10L);
}

Result<Answer> get(const Hop& hop, const FetchLimits& limits, std::chrono::milliseconds left) {
  Sink sink{.hop = hop, .limit = limits.size};
  std::array<char, CURL_ERROR_SIZE> details{};
  Transfer transfer;
  transfer.set(CURLOPT_CURLU, hop.url.handle.get());
  transfer.set(CURLOPT_ERRORBUFFER, details.data());
  transfer.pin(hop);
  set_walls(transfer);
  set_callbacks(transfer, sink);
  set_times(transfer, left);

  const CURLcode code = transfer.run();
  if (!sink.stray.empty())
    return denied("address guard", sink.stray + " was not checked, and is not connected to",
                  Rule::of_coop(Part::address_guard));
  if (sink.header_bytes > kMostHeaderBytes)
    return failed(hop.url, "more than " + format_size(kMostHeaderBytes) + " of headers");
  if (code == CURLE_OPERATION_TIMEDOUT) return out_of_time(hop.url, limits);
  // A connection that ended early still gave an answer; it is marked as truncated.
  if (code != CURLE_OK && code != CURLE_PARTIAL_FILE && !sink.full) {
    const char* text = details[0] != '\0' ? details.data() : ::curl_easy_strerror(code);
    return failed(hop.url, printable(text));
  }
  return Answer{
      .status = transfer.status(),
      .content_type = printable(transfer.header("Content-Type").substr(0, kLongestContentType)),
      .location = transfer.header("Location"),
      .body = std::move(sink.body),
      .truncated = code != CURLE_OK};
}

bool is_redirect(const Answer& answer) {
  constexpr std::array kRedirects{301, 302, 303, 307, 308};
  return std::ranges::find(kRedirects, answer.status) != kRedirects.end() &&
         !answer.location.empty();
}

Result<Answer> visit(const Url& url, const FetchLimits& limits, Clock::time_point deadline,
                     const Resolver& resolver, const FetchRules& rules) {
  const Hop hop = TRY(checked(url, resolver, rules));
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  if (left.count() < 1) return out_of_time(url, limits);
  return get(hop, limits, left);
}

}  // namespace

Result<Fetched> fetch(std::string_view url, const FetchLimits& limits, const Resolver& resolver,
                      const FetchRules& rules) {
  // Before 7.84 curl's global init is not thread-safe; a local static is.
  static const CURLcode kStarted = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kStarted != CURLE_OK) return unavailable("start curl", ::curl_easy_strerror(kStarted));

  const Clock::time_point deadline = Clock::now() + limits.time;
  Url current = TRY(parse_url(url));
  Answer answer = TRY(visit(current, limits, deadline, resolver, rules));
  for (int followed = 0; is_redirect(answer); ++followed) {
    const std::string doing = "following a redirect of " + to_text(current);
    if (followed >= limits.redirects)
      return with_context(doing, Result<Fetched>(failed(current, "too many redirects")));
    current = TRY(with_context(doing, resolve_reference(current, answer.location)));
    answer = TRY(with_context(doing, visit(current, limits, deadline, resolver, rules)));
  }
  return Fetched{.status = answer.status,
                 .url = to_text(current),
                 .content_type = std::move(answer.content_type),
                 .body = std::move(answer.body),
                 .truncated = answer.truncated};
}

}  // namespace coop::tools
