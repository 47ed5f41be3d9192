#include "egress/machine_addresses.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sys/fd.h"
#include "sys/netlink/batch.h"

namespace coop::egress {

namespace {

std::string question_for(std::string_view bytes) {
  rtmsg header{};
  header.rtm_family = bytes.size() == 4 ? AF_INET : AF_INET6;
  header.rtm_dst_len = static_cast<unsigned char>(bytes.size() * 8);
  netlink::NetlinkBatch batch;
  batch.begin(RTM_GETROUTE, 0, netlink::bytes_of(header));
  batch.attribute(RTA_DST, bytes);
  batch.end();
  return batch.bytes();
}

}  // namespace

Result<MachineAddresses> MachineAddresses::open() {
  MachineAddresses made;
  made.socket_.reset(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!made.socket_.valid()) return system_error("socket", "netlink");
  return made;
}

// Ask the routing table, since it decides where a connection goes: the list of interfaces lacks
// local routes, and bind() succeeds for every address with net.ipv4.ip_nonlocal_bind.
bool MachineAddresses::contains(std::string_view address) const {
  const std::string question = question_for(address);
  if (::send(socket_.get(), question.data(), question.size(), 0) < 0) return true;
  unsigned char type = RTN_UNSPEC;
  // The kernel sends the route, if there is one, and then the acknowledgement.
  for (;;) {
    alignas(nlmsghdr) std::array<char, 4096> buffer;
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    nlmsghdr header{};
    if (size < static_cast<ssize_t>(sizeof header)) return true;
    std::memcpy(&header, buffer.data(), sizeof header);
    if (header.nlmsg_type == NLMSG_ERROR) return type == RTN_LOCAL || type == RTN_ANYCAST;
    rtmsg route{};
    if (size < static_cast<ssize_t>(sizeof header + sizeof route)) return true;
    std::memcpy(&route, buffer.data() + sizeof header, sizeof route);
    if (header.nlmsg_type == RTM_NEWROUTE) type = route.rtm_type;
  }
}

std::optional<policy::Forbidden> MachineAddresses::forbidden(const Prefix& address) const {
  std::optional<policy::Forbidden> found = policy::forbidden(address);
  if (!contains(address.address)) return found;
  if (!found) found = policy::Forbidden{.reason = "an address of this machine"};
  found->machine = true;
  return found;
}

}  // namespace coop::egress
