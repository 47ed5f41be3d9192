// Addresses that are local to this machine, as exposed as its loopback interface, and its neighbours on a link.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "policy/destinations/forbidden_addresses.h"
#include "sys/fd.h"

namespace coop::egress {

// Asks the kernel, from one thread at a time. The socket is opened once, so that running out of descriptors later does
// not matter.
class MachineAddresses {
 public:
  static Result<MachineAddresses> open();

  // Whether packets to this address (4 or 16 bytes) are delivered to this machine. Without an answer of the kernel: yes.
  bool contains(std::string_view address) const;
  // policy::forbidden(), this machine's own addresses and those of its neighbours, public ones too: an outside DNS name may
  // resolve to one, and services that listen there expect connections from the local network only.
  std::optional<policy::Forbidden> forbidden(const Prefix& address) const;

 private:
  UniqueFd socket_{};
};

}  // namespace coop::egress
