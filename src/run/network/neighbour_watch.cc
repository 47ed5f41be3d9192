#include "run/network/neighbour_watch.h"

#include <utility>

#include "host/machine/networks.h"
#include "policy/destinations/judge.h"
#include "run/network/freeze.h"

namespace coop::run {

NeighbourWatch::NeighbourWatch(const NetworkPlan& plan, netlink::NetlinkSocket inside,
                               netlink::AddressChanges changes, Provider& provider, Told told)
    : plan_(plan),
      refused_(plan.neighbours),
      inside_(std::move(inside)),
      changes_(std::move(changes)),
      provider_(provider),
      told_(std::move(told)) {}

Result<std::unique_ptr<NeighbourWatch>> NeighbourWatch::start(const NetworkPlan& plan,
                                                              UniqueFd inside, Provider& provider,
                                                              Told told) {
  if (!inside.valid())
    return invalid("networks of this machine", "the sandbox passed no socket for its rules");
  netlink::AddressChanges changes = TRY(netlink::AddressChanges::open());
  std::unique_ptr<NeighbourWatch> watch(
      new NeighbourWatch(plan, netlink::NetlinkSocket(std::move(inside)), std::move(changes),
                         provider, std::move(told)));
  TRY(watch->look());
  return watch;
}

Result<void> NeighbourWatch::update() {
  const bool told = TRY(changes_.read());
  return told ? look() : Result<void>();
}

Result<void> NeighbourWatch::look() {
  std::vector<Prefix> now =
      TRY(with_context("finding this machine's networks", host::machine_networks()));
  // Without IPv6 at the start the sandbox has none, and its namespace no rules for it.
  if (!plan_.ipv6)
    std::erase_if(now, [](const Prefix& network) { return network.address.size() != 4; });
  const std::vector<Prefix> further = policy::not_refused_yet(refused_, std::move(now));
  if (further.empty()) return {};
  for (const netlink::NetlinkBatch& batch : further_rules({further, plan_.allow, plan_.deny}))
    TRY(inside_.send(batch, "add to the rules of the sandbox"));
  TRY(provider_.refuse(further));
  for (const Prefix& network : further) {
    refused_.push_back(network);
    told_(network);
  }
  return {};
}

}  // namespace coop::run
