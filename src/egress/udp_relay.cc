#include "egress/udp_relay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/address.h"

namespace coop::egress {

namespace {

constexpr int kMostAtOnce = 64;  // datagrams per turn of the loop
constexpr std::size_t kLongest = 65535;
constexpr std::size_t kMostRefusals = 1024;  // distinct ones that are recorded

// Buffer for the control message, aligned as CMSG_* requires.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> bytes{};
};

template <typename Address>
std::string bytes_of(const Address& address) {
  return std::string(unmapped({reinterpret_cast<const char*>(&address), sizeof address}));
}

// The original destination of a datagram; empty if the kernel does not report it.
std::string destination_of(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      return bytes_of(info.ipi_addr);
    }
    if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(part), sizeof info);
      return bytes_of(info.ipi6_addr);
    }
  }
  return {};
}

template <typename Info>
void put_info(msghdr& message, int level, int type, const Info& info) {
  message.msg_controllen = CMSG_SPACE(sizeof info);
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = level;
  part->cmsg_type = type;
  part->cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(part), &info, sizeof info);
}

// Sets the source address of the answer (IP_PKTINFO): the one the client sent to.
void put_source(msghdr& message, Control& control, std::string_view address) {
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  if (address.size() == 4) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, address.data(), address.size());
    return put_info(message, IPPROTO_IP, IP_PKTINFO, info);
  }
  in6_pktinfo info{};
  std::memcpy(&info.ipi6_addr, address.data(), address.size());
  put_info(message, IPPROTO_IPV6, IPV6_PKTINFO, info);
}

Result<void> tell_destinations(int socket) {
  int family = 0;
  socklen_t size = sizeof family;
  if (::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0)
    return system_error("getsockopt", "SO_DOMAIN");
  const int yes = 1;
  // A dual-stack IPv6 socket reports both families in IPv6 form.
  const bool six = family == AF_INET6;
  if (::setsockopt(socket, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_RECVPKTINFO : IP_PKTINFO,
                   &yes, sizeof yes) < 0)
    return system_error("setsockopt", six ? "IPV6_RECVPKTINFO" : "IP_PKTINFO");
  // Answers come from addresses that no interface has: only a route makes them local, which is not
  // enough for IPv6.
  constexpr int kFreebind6 = 78;  // IPV6_FREEBIND, Linux 4.15
  if (six && ::setsockopt(socket, IPPROTO_IPV6, kFreebind6, &yes, sizeof yes) < 0)
    return system_error("setsockopt", "IPV6_FREEBIND");
  return {};
}

}  // namespace

UdpRelay::UdpRelay(EventLoop& loop, UdpOptions options)
    : loop_(loop), options_(std::move(options)) {
  end_idle();
}

UdpRelay::~UdpRelay() {
  loop_.cancel(timer_);
  while (!flows_.empty()) end(flows_.begin());
  for (const auto& listener : listeners_) loop_.forget(listener->socket.get());
}

Result<void> UdpRelay::serve(UniqueFd socket, std::uint16_t port) {
  auto listener = std::make_unique<Listener>(std::move(socket), port);
  const int fd = listener->socket.get();
  TRY(tell_destinations(fd));
  TRY(loop_.watch(fd, EPOLLIN,
                  [this, listener = listener.get()](std::uint32_t) { receive(*listener); }));
  listeners_.push_back(std::move(listener));
  return {};
}

void UdpRelay::receive(const Listener& listener) {
  std::array<char, kLongest> buffer;
  for (int count = 0; count < kMostAtOnce; ++count) {
    sockaddr_storage client{};
    Control control;
    iovec content{.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr message{.msg_name = &client,
                   .msg_namelen = sizeof client,
                   .msg_iov = &content,
                   .msg_iovlen = 1,
                   .msg_control = control.bytes.data(),
                   .msg_controllen = control.bytes.size()};
    const ssize_t size = ::recvmsg(listener.socket.get(), &message, MSG_DONTWAIT);
    if (size < 0) return;
    pass_on(listener,
            {.listener = listener.socket.get(),
             .client = {reinterpret_cast<const char*>(&client), message.msg_namelen},
             .destination = destination_of(message)},
            {buffer.data(), static_cast<std::size_t>(size)});
  }
}

void UdpRelay::pass_on(const Listener& listener, Key key, std::string_view content) {
  if (key.destination.empty()) return;
  auto flow = flows_.find(key);
  if (flow == flows_.end()) flow = open(listener, std::move(key));
  if (flow == flows_.end()) return;
  flow->second.used = Clock::now();
  const ssize_t sent = ::send(flow->second.socket.get(), content.data(), content.size(),
                              MSG_DONTWAIT | MSG_NOSIGNAL);
  // A datagram that cannot be sent is lost. ECONNREFUSED of an earlier one is reported by the next
  // send.
  if (sent < 0 && errno != EAGAIN) flow->second.event.problem = errno_text(errno);
  if (sent > 0) flow->second.event.sent += static_cast<std::uint64_t>(sent);
}

UdpRelay::Flows::iterator UdpRelay::open(const Listener& listener, Key key) {
  NetworkEvent event{.kind = NetworkEvent::Kind::datagrams,
                     .host = address_text(key.destination),
                     .address = address_text(key.destination),
                     .port = listener.port};
  const Destination asked = policy::address_destination(key.destination, listener.port);
  const policy::Verdict verdict = options_.judge(asked);
  event.allowed = verdict.allowed();
  event.rule = rule_of(verdict);
  if (verdict.reason == policy::Reason::guarded)
    event.problem = "it is " + std::string(verdict.address_is);
  else event.grant = policy::grant_for(verdict.remedy, asked);
  if (!event.allowed) event.address.clear();
  Flow flow{.event = std::move(event)};
  sockaddr_storage server{};
  const socklen_t size = fill_socket_address(server, key.destination, listener.port);
  if (flow.event.allowed) {
    make_room();
    flow.socket.reset(::socket(server.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!flow.socket.valid() ||
        ::connect(flow.socket.get(), reinterpret_cast<const sockaddr*>(&server), size) < 0)
      flow.event.problem = errno_text(errno);
  }
  if (!flow.event.allowed || !flow.event.problem.empty()) {
    refuse(flow.event);
    return flows_.end();
  }
  const auto opened = flows_.emplace(std::move(key), std::move(flow)).first;
  const Result<void> watched =
      loop_.watch(opened->second.socket.get(), EPOLLIN,
                  [this, key = opened->first](std::uint32_t) { answer(key); });
  if (watched) return opened;
  opened->second.event.problem = to_text(watched.error());
  end(opened);
  return flows_.end();
}

// Record each refusal once: programs retry.
void UdpRelay::refuse(const NetworkEvent& event) {
  if (refused_.size() >= kMostRefusals) return;
  if (refused_.emplace(event.host, event.port).second && options_.record) options_.record(event);
}

void UdpRelay::answer(const Key& key) {
  const auto found = flows_.find(key);
  if (found == flows_.end()) return;
  Flow& flow = found->second;
  std::array<char, kLongest> buffer;
  for (int count = 0; count < kMostAtOnce; ++count) {
    const ssize_t size = ::recv(flow.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0) {
      // ECONNREFUSED: reading it clears it, and the server may come back.
      flow.event.problem = errno_text(errno);
      continue;
    }
    flow.used = Clock::now();
    flow.event.received += static_cast<std::uint64_t>(size);
    flow.event.problem.clear();
    sockaddr_storage client{};
    std::memcpy(&client, key.client.data(), key.client.size());
    iovec content{.iov_base = buffer.data(), .iov_len = static_cast<std::size_t>(size)};
    msghdr message{.msg_name = &client,
                   .msg_namelen = static_cast<socklen_t>(key.client.size()),
                   .msg_iov = &content,
                   .msg_iovlen = 1};
    Control control;
    put_source(message, control, key.destination);
    ::sendmsg(key.listener, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

void UdpRelay::make_room() {
  if (flows_.size() < options_.most_flows || flows_.empty()) return;
  end(std::ranges::min_element(flows_, {}, [](const auto& flow) { return flow.second.used; }));
}

void UdpRelay::end(Flows::iterator flow) {
  loop_.forget(flow->second.socket.get());
  const NetworkEvent event = std::move(flow->second.event);
  flows_.erase(flow);
  if (options_.record) options_.record(event);
}

void UdpRelay::end_idle() {
  const Clock::time_point limit = Clock::now() - options_.idle;
  for (auto flow = flows_.begin(); flow != flows_.end();) {
    const auto next = std::next(flow);
    if (flow->second.used <= limit) end(flow);
    flow = next;
  }
  const auto pause = std::max(options_.idle / 4, std::chrono::milliseconds(10));
  timer_ = loop_.after(pause, [this] { end_idle(); });
}

}  // namespace coop::egress
