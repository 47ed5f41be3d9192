#include "cli/policy/explain_host.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/address.h"
#include "net/host_rules.h"
#include "net/own_address.h"
#include "policy/host_cover.h"
#include "policy/host_pattern.h"
#include "policy/policy.h"

namespace coop::cli {

namespace {

constexpr std::uint16_t kUsualPort = 443;

struct Asked {
  std::string host{};  // without brackets and port, as rules have it
  std::optional<std::uint16_t> port{};

  std::string text() const { return port ? net::with_port(host, *port) : host; }
  std::uint16_t port_or_usual() const { return port.value_or(kUsualPort); }
};

// "https://a.com/x" → "a.com:443".
std::string host_of(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  const std::string_view name = text.substr(0, scheme);
  std::string_view rest = text.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(rest.rfind('@') == std::string_view::npos ? 0 : rest.rfind('@') + 1);
  const std::size_t colon = rest.rfind(':');
  const std::size_t bracket = rest.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  const char* usual = name == "https" ? ":443" : name == "http" ? ":80" : "";
  return std::string(rest) + (has_port ? "" : usual);
}

Result<Asked> asked_for(std::string_view text) {
  std::string host = host_of(text);
  if (host.ends_with('.')) host.pop_back();  // the root of all names
  Asked asked{.host = TRY(policy::check_host_pattern(host))};
  if (policy::names_addresses(asked.host) && address_bytes(asked.host)) return asked;
  const std::size_t colon = asked.host.rfind(':');
  if (colon == std::string::npos || asked.host.find('/') != std::string::npos) return asked;
  std::uint16_t port = 0;
  std::from_chars(asked.host.data() + colon + 1, asked.host.data() + asked.host.size(), port);
  asked.port = port;
  asked.host.resize(colon);
  if (asked.host.starts_with('[')) asked.host = asked.host.substr(1, asked.host.size() - 2);
  return asked;
}

const HostRule* covering(const std::vector<HostRule>& rules, policy::Portless portless,
                         const std::string& host) {
  const auto found = std::ranges::find_if(rules, [&](const HostRule& rule) {
    return policy::host_covers(rule.pattern, host, portless);
  });
  return found == rules.end() ? nullptr : &*found;
}

std::string rule_text(std::string_view list, const HostRule& rule) {
  return std::string(list) + " \"" + rule.pattern + "\" (" + rule.origin + ")";
}

// Where the mode was said; a flag, when it is not the one of the files.
std::string origin_of_mode(const Request& request) {
  const auto set = request.effective.settings.find(policy::Key::network);
  const std::string_view mode = to_text(request.policy.network);
  if (set == request.effective.settings.end())
    return request.policy.network == NetworkMode::none ? "built-in" : "command line";
  return set->second.value == policy::Scalar(std::string(mode)) ? to_text(set->second.origin)
                                                                : "command line";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && address_bytes(host));
}

// Inside, localhost is the sandbox: it leads to the host only where a port says so.
Answer explain_loopback(const Policy& policy, Answer answer, const Asked& asked) {
  for (const HostPort& port : policy.host_ports)
    if (asked.port == port.port) {
      answer.verdict = "reachable";
      answer.rule = "host_ports " + std::to_string(port.port) + " (" + port.origin + ")";
      answer.reason = "it leads to the same port of the host";
      return answer;
    }
  answer.reason = "inside, this is the sandbox itself";
  answer.grant = "--host-port " + (asked.port ? std::to_string(*asked.port) : "PORT");
  return answer;
}

Answer explain_none(Answer answer, const std::string& host) {
  answer.reason = "only the sandbox's own loopback is there";
  answer.grant =
      "--allow-net " + host + ", or network = { allow = [\"" + host + "\"] } in your policy";
  return answer;
}

// In an open network this machine's addresses are the sandbox's own, or refused whatever a rule says.
bool is_beyond_rules(const Policy& policy, const Asked& asked, const net::OwnAddresses& own) {
  return policy.network != NetworkMode::allowlist && own.contains(asked.host);
}

// Of an address: why it is refused although a rule allows it, or the network is open.
std::string why_guarded(const Policy& policy, const Asked& asked, const net::OwnAddresses& own) {
  if (!address_bytes(asked.host)) return {};
  if (is_beyond_rules(policy, asked, own)) return own.why_forbidden(asked.host);
  const net::HostRules rules{.allowed = policy.allow_net, .denied = policy.deny_net};
  if (net::opens_forbidden(rules, asked.host, asked.port_or_usual())) return {};
  return own.why_forbidden(asked.host);
}

bool stands_for_names(const Policy& policy, const std::string& host) {
  return policy.network == NetworkMode::allowlist &&
         (policy::host_covers("198.18.0.0/15", host, policy::Portless::every) ||
          policy::host_covers("fdc0:6f70::/32", host, policy::Portless::every));
}

Answer explain_guarded(Answer answer, const Policy& policy, const Asked& asked,
                       const net::OwnAddresses& own) {
  const bool beyond = is_beyond_rules(policy, asked, own);
  answer.rule = "address guard";
  answer.reason =
      "it is " + own.why_forbidden(asked.host) + (beyond ? "" : ", and no rule names it");
  answer.grant = beyond ? "--host-port " + std::to_string(asked.port_or_usual()) + " for localhost"
                        : net::grant_for(asked.host, asked.port_or_usual());
  return answer;
}

}  // namespace

Result<Answer> explain_host(const Request& request, std::string_view text) {
  const Policy& policy = request.policy;
  const Asked asked = TRY(asked_for(text));
  const std::string host = asked.text();
  Answer answer{.subject = host,
                .verdict = "denied",
                .rule = "network = \"" + std::string(to_text(policy.network)) + "\" (" +
                        origin_of_mode(request) + ")"};
  if (policy.network == NetworkMode::host) {
    answer.verdict = "reachable";
    answer.reason = "the host's network is shared";
    return answer;
  }
  if (is_loopback(asked.host)) return explain_loopback(policy, std::move(answer), asked);
  if (const HostRule* denied = covering(policy.deny_net, policy::Portless::every, host)) {
    answer.rule = rule_text("network.deny", *denied);
    return answer;
  }
  if (policy.network == NetworkMode::none) return explain_none(std::move(answer), host);
  const HostRule* allowed = covering(policy.allow_net, policy::Portless::usual, host);
  const HostRule* datagrams = covering(policy.allow_udp, policy::Portless::usual, host);
  const bool open = policy.network != NetworkMode::allowlist;
  const net::OwnAddresses own = TRY(net::OwnAddresses::open());
  const bool guarded = !why_guarded(policy, asked, own).empty();
  if (stands_for_names(policy, asked.host)) {
    answer.reason = "inside, its addresses stand for names";
  } else if (guarded && (open || allowed != nullptr)) {
    return explain_guarded(std::move(answer), policy, asked, own);
  } else if (allowed != nullptr && (!open || policy::names_addresses(allowed->pattern))) {
    answer.verdict = "reachable";
    answer.rule = rule_text("network.allow", *allowed);
    if (!policy::names_addresses(host)) answer.reason = "where its address is a public one";
  } else if (datagrams != nullptr) {
    answer.verdict = "reachable";
    answer.rule = rule_text("network.udp", *datagrams);
    answer.reason = "by UDP alone";
  } else if (open) {
    answer.verdict = "reachable";
    if (!policy::names_addresses(host)) answer.reason = "where its address is a public one";
  } else {
    answer.reason = "it is not in the allow-list";
    answer.grant = "--allow-net " + host + ", or network.allow in your policy";
  }
  return answer;
}

}  // namespace coop::cli
