// Networks that this machine joins while a sandbox with an open network runs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "run/network/provider.h"
#include "sys/netlink/address_changes.h"
#include "sys/netlink/socket.h"

namespace coop::run {

// Refuses them from then on, inside and on the host's side. Nothing that was refused is allowed again.
class NeighbourWatch {
 public:
  using Told = std::function<void(const Prefix&)>;  // once it is refused

  // `inside`: a NETLINK_NETFILTER socket of the sandbox's network namespace. Looks at once: the plan was made before the
  // kernel tells us of changes. The plan and the provider outlive the watch.
  static Result<std::unique_ptr<NeighbourWatch>> start(const NetworkPlan& plan, UniqueFd inside,
                                                       Provider& provider, Told told);
  NeighbourWatch(const NeighbourWatch&) = delete;
  NeighbourWatch& operator=(const NeighbourWatch&) = delete;

  int fd() const { return changes_.fd(); }
  // When fd() is readable. After an error the rules are weaker than they should be: the sandbox must not run on.
  Result<void> update();

 private:
  NeighbourWatch(const NetworkPlan& plan, netlink::NetlinkSocket inside,
                 netlink::AddressChanges changes, Provider& provider, Told told);
  Result<void> look();

  const NetworkPlan& plan_;
  std::vector<Prefix> refused_;  // networks of this machine that have rules
  netlink::NetlinkSocket inside_;
  netlink::AddressChanges changes_;
  Provider& provider_;
  Told told_;
};

}  // namespace coop::run
