#include "net/own_address.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/address.h"
#include "net/netlink_batch.h"
#include "policy/forbidden_addresses.h"
#include "sys/fd.h"

namespace coop::net {

namespace {

std::string question_for(const std::string& bytes) {
  rtmsg header{};
  header.rtm_family = bytes.size() == 4 ? AF_INET : AF_INET6;
  header.rtm_dst_len = static_cast<unsigned char>(bytes.size() * 8);
  NetlinkBatch batch;
  batch.begin(RTM_GETROUTE, 0, bytes_of(header));
  batch.attribute(RTA_DST, bytes);
  batch.end();
  return batch.bytes();
}

}  // namespace

Result<OwnAddresses> OwnAddresses::open() {
  OwnAddresses made;
  made.socket_.reset(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!made.socket_.valid()) return system_error("socket", "netlink");
  return made;
}

// Asked of the routes, since that is where a connection would go: a list of interfaces has not all that is led here, and
// binding to an address succeeds for everybody's where the machine is set up so.
bool OwnAddresses::contains(std::string_view address) const {
  const std::string bytes = address_bytes(address).value_or(std::string());
  if (bytes.empty()) return false;
  const std::string question = question_for(bytes);
  if (::send(socket_.get(), question.data(), question.size(), 0) < 0) return true;
  unsigned char type = RTN_UNSPEC;
  // The route, when there is one, and then whether there is.
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

std::string OwnAddresses::why_forbidden(std::string_view address) const {
  std::string reason = policy::why_forbidden(address);
  if (reason.empty() && contains(address)) reason = "an address of this machine";
  return reason;
}

}  // namespace coop::net
