#include "cli/policy/explain_host.h"

#include <algorithm>

#include "base/address.h"
#include "egress/machine_addresses.h"
#include "host/probe.h"
#include "policy/destinations/judge.h"
#include "policy/policy.h"
#include "report/text.h"

namespace coop::cli {

namespace {

using policy::Reason;

constexpr std::uint16_t kUsualPort = 443;

// "https://a.com/x" → "a.com:443".
std::string host_of(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  const std::string_view name = text.substr(0, scheme);
  std::string_view rest = text.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(rest.rfind('@') == std::string_view::npos ? 0 : rest.rfind('@') + 1);
  const std::optional<HostAndPort> split = split_port(rest);
  const char* usual = name == "https" ? ":443" : name == "http" ? ":80" : "";
  return std::string(rest) + (split && !split->port ? usual : "");
}

Result<Destination> asked_for(std::string_view text) {
  std::string host = host_of(text);
  if (host.ends_with('.')) host.pop_back();  // the DNS root
  return parse_destination(host);
}

std::string origin_of_mode(const Request& request) {
  const policy::Setting* set = find(request.effective.settings, policy::Key::network);
  const Origin origin = set == nullptr ? Origin::of_coop() : set->origin;
  return origin.scope == Scope::command_line ? "command line" : report::to_text(origin);
}

std::string rule_text(std::string_view list, const DestinationRule& rule) {
  return std::string(list) + " \"" + to_text(rule.destination) + "\" (" +
         report::to_text(rule.origin) + ")";
}

std::string host_port_text(const Policy& policy, const Destination& asked) {
  const auto found = std::ranges::find(policy.host_ports, asked.port, &HostPort::port);
  return "host_ports " + std::to_string(found->port) + " (" + report::to_text(found->origin) + ")";
}

// The engine's verdict in words.
report::Explained worded(report::Explained answer, const policy::Verdict& verdict,
                         const Policy& policy, const Destination& asked) {
  const std::string host = to_text(asked);
  const std::optional<Grant> grant = policy::grant_for(verdict.remedy, asked);
  if (verdict.allowed()) answer.verdict = report::Verdict::reachable;
  switch (verdict.reason) {
    case Reason::shared_network: answer.reason = "the host's network is shared"; break;
    case Reason::host_port:
      answer.rule = host_port_text(policy, asked);
      answer.reason = "it leads to the same port of the host";
      break;
    case Reason::inside:
      answer.reason = "inside, this is the sandbox itself";
      answer.grant = grant;
      break;
    case Reason::denied: answer.rule = rule_text("network.deny", *verdict.rule); break;
    case Reason::no_network:
      answer.reason = "only the sandbox's own loopback is there";
      answer.grant = Grant{"--allow-net", host};
      answer.advice = ", or network = { allow = [\"" + host + "\"] } in your policy";
      break;
    case Reason::name_addresses: answer.reason = "inside, its addresses stand for names"; break;
    case Reason::machine:
      answer.rule = report::to_text(policy::rule_of(verdict));
      answer.reason = "it is " + std::string(verdict.address_is);
      answer.grant = Grant{"--host-port", std::to_string(asked.port.value_or(kUsualPort))};
      answer.advice = " for localhost";
      break;
    case Reason::guarded:
      answer.rule = report::to_text(policy::rule_of(verdict));
      answer.reason = "it is " + std::string(verdict.address_is) + ", and no rule names it";
      answer.grant = grant;
      break;
    case Reason::only_ipv4: answer.reason = "a veth link carries IPv4 only"; break;
    case Reason::datagrams:
      answer.rule = rule_text("network.udp", *verdict.rule);
      answer.reason = "by UDP alone";
      break;
    case Reason::allowed: answer.rule = rule_text("network.allow", *verdict.rule); [[fallthrough]];
    case Reason::open:
      if (asked.kind != Destination::Kind::network)
        answer.reason = "where its address is a public one";
      break;
    case Reason::unlisted:
      answer.reason = "it is not in the allow-list";
      if (verdict.remedy == policy::Remedy::none) break;
      answer.grant = Grant{"--allow-net", host};
      answer.advice = ", or network.allow in your policy";
      break;
  }
  return answer;
}

}  // namespace

Result<report::Explained> explain_host(const Request& request, std::string_view text) {
  const Policy& policy = request.policy;
  const Destination asked = TRY(asked_for(text));
  HostFacts facts;
  TRY(host::inspect_networks(facts));
  const egress::MachineAddresses machine = TRY(egress::MachineAddresses::open());
  const policy::SandboxNetwork network = policy::sandbox_network(policy, facts.networks);
  const policy::Verdict verdict = policy::judge_inside(
      network, asked, [&](const Prefix& address) { return machine.forbidden(address); });
  const std::string mode = "network = \"" + std::string(to_text(policy.network)) + "\" (" +
                           origin_of_mode(request) + ")";
  return worded({.about = report::About::destination, .subject = to_text(asked), .rule = mode},
                verdict, policy, asked);
}

}  // namespace coop::cli
