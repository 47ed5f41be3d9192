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

// Asked of the routes, since that is where a connection would go: a list of interfaces has not all that is led here, and
// binding to an address succeeds for everybody's where the machine is set up so.
bool is_own_address(std::string_view address) {
  const std::string bytes = address_bytes(address).value_or(std::string());
  if (bytes.empty()) return false;
  const std::string question = question_for(bytes);
  const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  // Whoever uses up our descriptors must not open anything by that: what is not known is refused.
  if (!socket.valid() || ::send(socket.get(), question.data(), question.size(), 0) < 0) return true;
  std::array<char, 4096> buffer;
  ssize_t size = 0;
  do size = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
  while (size < 0 && errno == EINTR);
  nlmsghdr header{};
  rtmsg route{};
  if (size < static_cast<ssize_t>(sizeof header + sizeof route)) return true;
  std::memcpy(&header, buffer.data(), sizeof header);
  if (header.nlmsg_type != RTM_NEWROUTE) return false;  // an error: no way leads there
  std::memcpy(&route, buffer.data() + sizeof header, sizeof route);
  return route.rtm_type == RTN_LOCAL;
}

std::string why_guarded(std::string_view address) {
  std::string reason = policy::why_forbidden(address);
  if (reason.empty() && is_own_address(address)) reason = "an address of this machine";
  return reason;
}

}  // namespace coop::net
