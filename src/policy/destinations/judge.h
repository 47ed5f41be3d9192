// Judges whether a destination may be reached. The only engine: connections, datagrams, DNS,
// fetch_url, `policy explain` and the nftables rules all use it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coop/grant.h"
#include "coop/policy.h"
#include "policy/destinations/forbidden_addresses.h"

namespace coop::policy {

struct DestinationRules {
  enum class Unlisted : std::uint8_t { refused, open };
  std::vector<DestinationRule> allowed{};
  std::vector<DestinationRule> denied{};  // these win
  Unlisted unlisted = Unlisted::refused;  // what no rule names
  std::vector<Prefix> neighbours{};       // refused as forbidden addresses are
  Remedy remedy = Remedy::allow_net;      // for what is not listed
};

// What a sandbox may reach, as its supervisor and `policy explain` judge it.
struct SandboxNetwork {
  NetworkMode mode = NetworkMode::none;
  DestinationRules connections{};
  DestinationRules datagrams{};
  std::vector<HostPort> host_ports{};
};
// `neighbours`: the networks that this machine is in, which an open network refuses.
SandboxNetwork sandbox_network(const Policy& policy, const std::vector<Prefix>& neighbours);

enum class Reason : std::uint8_t {
  allowed,   // by a rule
  open,      // the network is open, and the address or name is nothing special
  denied,    // by a rule
  unlisted,  // no rule allows it
  guarded,   // a forbidden address that no rule names
  // Only judge_inside() gives these.
  shared_network,  // the host's own network
  host_port,       // a port of localhost that leads to the host
  datagrams,       // UDP alone
  inside,          // localhost is the sandbox itself
  no_network,
  name_addresses,  // addresses that stand for names inside
  machine,         // an address of this machine, which no rule opens in an open network
  only_ipv4,       // IPv6 over veth
};

// Points into the rules it was made from.
struct Verdict {
  Reason reason = Reason::unlisted;
  const DestinationRule* rule = nullptr;  // that allowed or denied it
  std::string_view address_is{};          // of a guarded address: "private"
  Remedy remedy = Remedy::none;           // the smallest grant that would allow it

  bool allowed() const;
  bool operator==(const Verdict&) const = default;
};

// Why an address is refused; nothing: it is not. forbidden() and this machine's own, which only the kernel knows.
using AddressGuard = std::function<std::optional<Forbidden>(const Prefix& address)>;

// A name or an address with its port. Addresses pass `guard`; a name's must, too, once they are known: judge_found().
Verdict judge(const DestinationRules& rules, const Destination& asked, const AddressGuard& guard);
// An address of a name that judge() allows.
Verdict judge_found(const DestinationRules& rules, const Destination& address,
                    const AddressGuard& guard);
// Whether any port of this name may be reached: decides its DNS answer.
bool may_resolve(const DestinationRules& rules, std::string_view name);

// Whether a rule for this destination allows addresses of these refused networks: it names one
// address, or a network inside one of them. "0.0.0.0/0" means the internet, not this machine.
bool opens(const Destination& rule, const std::vector<Prefix>& refused);
// All refused networks of a family, except those that a rule allows.
std::vector<Prefix> refused_networks(int family, const std::vector<Prefix>& neighbours);

// Those of `now` that rules for `neighbours` do not refuse, the widest first: what an open network must refuse in
// addition. None lies in another one.
std::vector<Prefix> not_refused_yet(const std::vector<Prefix>& neighbours, std::vector<Prefix> now);

// What a program inside gets. The port may be unset.
Verdict judge_inside(const SandboxNetwork& network, const Destination& asked,
                     const AddressGuard& guard);

// Addresses of 198.18.0.0/15 and fdc0:6f70::/32, which the DNS of an allow-list gives out for names.
bool stands_for_names(const Destination& address);

// An address, or a name as host_name() spells it.
Destination address_destination(std::string_view bytes, std::uint16_t port);
Destination name_destination(std::string_view name, std::uint16_t port);

// The rule that decided, Part::unlisted or Part::address_guard.
Rule rule_of(const Verdict& verdict);
// "--allow-net example.com:8443", without a usual port; nothing for Remedy::none.
std::optional<Grant> grant_for(Remedy remedy, const Destination& asked);

}  // namespace coop::policy
