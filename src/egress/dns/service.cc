#include "egress/dns/service.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "egress/admission.h"
#include "egress/dns/message.h"

namespace coop::egress {

namespace {

constexpr int kMostAtOnce = 64;  // datagrams per turn of the loop
constexpr std::size_t kMostStreams = 32;
constexpr std::size_t kMostNoted = 4096;
constexpr std::chrono::seconds kPatience{10};

}  // namespace

DnsService::DnsService(EventLoop& loop, NameTable& table, const policy::DestinationRules& rules,
                       Record record)
    : loop_(loop), table_(table), rules_(rules), record_(std::move(record)) {}

DnsService::~DnsService() {
  while (!streams_.empty()) close(streams_.begin()->first);
  for (const UniqueFd& listener : listeners_) loop_.forget(listener.get());
}

void DnsService::note(const std::string& name, bool allowed) {
  // Reverse look-ups: programs ask for every address they see.
  if (name.ends_with(".in-addr.arpa") || name.ends_with(".ip6.arpa")) return;
  if (!record_ || noted_.size() >= kMostNoted || !noted_.emplace(name, allowed).second) return;
  if (allowed) return record_({.name = name, .allowed = true});
  const Destination asked = policy::name_destination(name, 443);
  const policy::Verdict verdict = judge(rules_, asked, {});
  record_(
      {.name = name, .rule = rule_of(verdict), .grant = policy::grant_for(verdict.remedy, asked)});
}

std::string DnsService::answer(std::string_view message) {
  const Result<DnsQuestion> question = parse_question(message);
  if (!question) return dns_failure(message, DnsCode::refused);
  const bool allowed = policy::may_resolve(rules_, question->name);
  note(question->name, allowed);
  if (!allowed) return dns_answer(*question, DnsCode::no_such_name);
  const std::optional<std::uint32_t> number = table_.number_of(question->name);
  if (!number) return dns_answer(*question, DnsCode::refused);
  std::vector<std::string> addresses;
  if (question->type == kDnsA) addresses.push_back(NameTable::ipv4(*number));
  if (question->type == kDnsAaaa) addresses.push_back(NameTable::ipv6(*number));
  return dns_answer(*question, DnsCode::no_error, addresses);
}

Result<void> DnsService::serve_udp(UniqueFd socket) {
  const int fd = socket.get();
  TRY(loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { datagram(fd); }));
  listeners_.push_back(std::move(socket));
  return {};
}

Result<void> DnsService::serve_tcp(UniqueFd listener) {
  const int fd = listener.get();
  TRY(loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { accept(fd); }));
  listeners_.push_back(std::move(listener));
  return {};
}

void DnsService::datagram(int fd) {
  std::array<char, 4097> buffer;
  for (int count = 0; count < kMostAtOnce; ++count) {
    sockaddr_storage sender{};
    socklen_t length = sizeof sender;
    const ssize_t size = ::recvfrom(fd, buffer.data(), buffer.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&sender), &length);
    if (size < 0) return;
    const std::string reply = answer({buffer.data(), static_cast<std::size_t>(size)});
    // A client that misses an answer asks again.
    if (!reply.empty())
      ::sendto(fd, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&sender), length);
  }
}

void DnsService::accept(int fd) {
  UniqueFd socket(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) return loop_.rest(fd, kRest);
  if (streams_.size() >= kMostStreams) return;
  const int number = socket.get();
  if (!loop_.watch(number, EPOLLIN, [this, number](std::uint32_t) { readable(number); })) return;
  streams_[number] = {.socket = std::move(socket),
                      .deadline = loop_.after(kPatience, [this, number] { close(number); })};
}

void DnsService::close(int fd) {
  const auto found = streams_.find(fd);
  if (found == streams_.end()) return;
  loop_.cancel(found->second.deadline);
  loop_.forget(fd);
  streams_.erase(found);
}

void DnsService::readable(int fd) {
  Stream& stream = streams_.at(fd);
  std::array<char, 4096> buffer;
  const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return close(fd);
  stream.received.append(buffer.data(), static_cast<std::size_t>(size));
  while (stream.received.size() >= 2) {
    const std::size_t length =
        static_cast<std::size_t>(static_cast<unsigned char>(stream.received[0])) << 8U |
        static_cast<unsigned char>(stream.received[1]);
    if (stream.received.size() < 2 + length) return;
    const std::string reply = answer(std::string_view(stream.received).substr(2, length));
    stream.received.erase(0, 2 + length);
    const std::string framed = std::string{static_cast<char>(reply.size() >> 8U),
                                           static_cast<char>(reply.size() & 0xffU)} +
                               reply;
    // Answers are small: one that does not fit into the buffer is for a client that reads none.
    if (reply.empty() || ::send(fd, framed.data(), framed.size(), MSG_DONTWAIT | MSG_NOSIGNAL) !=
                             static_cast<ssize_t>(framed.size()))
      return close(fd);
  }
}

}  // namespace coop::egress
