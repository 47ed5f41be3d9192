#include "egress/dns/service.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "egress/dns/message.h"

namespace coop::egress {

namespace {

constexpr std::size_t kMostStreams = 32;
constexpr std::size_t kMostNoted = 4096;
constexpr std::chrono::seconds kPatience{10};

}  // namespace

DnsService::DnsService(EventLoop& loop, NameTable& table, const policy::DestinationRules& rules,
                       Record record)
    : DnsServer(loop), table_(table), rules_(rules), record_(std::move(record)) {}

DnsService::~DnsService() {
  while (!streams_.empty()) close(streams_.begin()->first);
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

void DnsService::connected(UniqueFd client) {
  if (streams_.size() >= kMostStreams) return;
  const int number = client.get();
  if (!loop_.watch(number, EPOLLIN, [this, number](std::uint32_t) { readable(number); })) return;
  streams_[number] = {.socket = std::move(client),
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
  while (const std::optional<std::string_view> message = first_dns_frame(stream.received)) {
    const std::string reply = answer(*message);
    stream.received.erase(0, 2 + message->size());
    const std::string framed = dns_frame(reply);
    // Answers are small: one that does not fit into the buffer is for a client that reads none.
    if (reply.empty() || ::send(fd, framed.data(), framed.size(), MSG_DONTWAIT | MSG_NOSIGNAL) !=
                             static_cast<ssize_t>(framed.size()))
      return close(fd);
  }
}

}  // namespace coop::egress
