#include "egress/gateway.h"

#include <arpa/inet.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "egress/refusal.h"

namespace coop::egress {

namespace {

constexpr std::uint16_t kHttp = 80;
constexpr std::size_t kLongestMethod = 16;
constexpr int kIpv6OriginalDestination =
    80;  // IP6T_SO_ORIGINAL_DST, linux/netfilter_ipv6/ip6_tables.h

}  // namespace

Result<OriginalDestination> original_destination(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockopt(socket, SOL_IP, SO_ORIGINAL_DST, &storage, &size) == 0 &&
      storage.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(storage);
    return OriginalDestination{std::string(reinterpret_cast<const char*>(&four.sin_addr), 4),
                               ntohs(four.sin_port)};
  }
  size = sizeof storage;
  if (::getsockopt(socket, SOL_IPV6, kIpv6OriginalDestination, &storage, &size) < 0)
    return system_error("getsockopt", "SO_ORIGINAL_DST");
  const auto& six = reinterpret_cast<const sockaddr_in6&>(storage);
  return OriginalDestination{std::string(reinterpret_cast<const char*>(&six.sin6_addr), 16),
                             ntohs(six.sin6_port)};
}

SpeaksHttp speaks_http(std::string_view first) {
  const auto* end =
      std::ranges::find_if_not(first, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
  const auto length = static_cast<std::size_t>(end - first.begin());
  if (length > kLongestMethod) return SpeaksHttp::no;
  if (end == first.end()) return SpeaksHttp::maybe;
  return length > 0 && *end == ' ' ? SpeaksHttp::yes : SpeaksHttp::no;
}

void GatewayConnection::start() {
  const Result<OriginalDestination> destination = egress_.options().destination(client_.get());
  if (!destination) {
    event_.problem = to_text(destination.error());
    return end(Closing::reset);
  }
  go(target_of(egress_.table(), destination->address, destination->port));
}

void GatewayConnection::not_connected(Reached why) {
  if (why != Reached::refused || event_.port != kHttp) return end(Closing::reset);
  record();
  when_late(egress_.options().refused_time, [this] { end(Closing::reset); });
  when_ready(client_, EPOLLIN, [this] { hear_request(); });
}

void GatewayConnection::hear_request() {
  const Heard heard = hear();
  if (heard == Heard::nothing_yet) return;
  const SpeaksHttp speaks = speaks_http(first_);
  if (speaks == SpeaksHttp::yes) return answer(http_refusal(event_, Reached::refused));
  if (speaks == SpeaksHttp::no || heard == Heard::the_end) end(Closing::reset);
}

}  // namespace coop::egress
