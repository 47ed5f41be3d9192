// Tells when addresses come to the current network namespace.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace coop::netlink {

// A socket that the kernel sends changes of addresses and routes to. Open it before the addresses are read: then none is
// missed in between.
class AddressChanges {
 public:
  static Result<AddressChanges> open();
  int fd() const { return socket_.get(); }
  // Reads what has come, without waiting. True: addresses may have come, or the kernel had to leave messages out.
  Result<bool> read();

 private:
  UniqueFd socket_{};
};

// Whether these messages of the kernel tell of a new address, a local route or a network of a link; or cannot be read. What
// goes, and routes to elsewhere, which may be very many, do not count.
bool tells_of_addresses(std::string_view messages);

}  // namespace coop::netlink
