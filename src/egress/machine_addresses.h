// Addresses that are local to this machine, as exposed as its loopback interface, and its neighbours on a link.
#pragma once

#include <optional>

#include "base/result.h"
#include "policy/destinations/forbidden_addresses.h"
#include "sys/fd.h"

namespace coop::egress {

// Asks the kernel, from one thread at a time. The socket is opened once, so that running out of descriptors later does
// not matter.
class MachineAddresses {
 public:
  static Result<MachineAddresses> open();

  // policy::forbidden(), this machine's own addresses and those of its neighbours, public ones too: an outside DNS name may
  // resolve to one, and services that listen there expect connections from the local network only. Without an answer of the
  // kernel an address counts as this machine's.
  std::optional<policy::Forbidden> forbidden(const Prefix& address) const;

 private:
  UniqueFd socket_{};
};

}  // namespace coop::egress
