// Addresses of this machine, which are as near as its loopback.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::net {

// Asks the kernel, of one thread at a time. The socket is made once: whoever uses up our descriptors later does not keep us
// from asking.
class OwnAddresses {
 public:
  static Result<OwnAddresses> open();

  // Whether this machine takes what is sent to this address, as inet_ntop() writes it, for itself. What the kernel does
  // not say is taken for its own.
  bool contains(std::string_view address) const;
  // policy::why_forbidden(), and why this machine's own addresses are not to be reached either: a name outside may lead to
  // one, and what listens there took only its neighbours into account.
  std::string why_forbidden(std::string_view address) const;

 private:
  UniqueFd socket_{};
};

}  // namespace coop::net
