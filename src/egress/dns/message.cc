#include "egress/dns/message.h"

#include "egress/dns/wire.h"
#include "policy/destinations/host_name.h"

namespace coop::egress {

namespace {

constexpr std::size_t kLongestMessage = 4096;

std::unexpected<Error> bad(std::string_view why) { return invalid("DNS message", why); }

// The labels from `at` on as text; moves `at` after them. Compression pointers are refused: a
// question has nothing to point to.
Result<std::string> read_name(std::string_view message, std::size_t& at) {
  std::string name;
  while (at < message.size()) {
    const auto length = static_cast<unsigned char>(message[at++]);
    if (length == 0) return name;
    if (length > 63) return bad("the name is compressed");
    if (at + length > message.size()) return bad("the name is cut off");
    const std::string_view label = message.substr(at, length);
    if (label.find('.') != std::string_view::npos) return bad("a label of the name contains a dot");
    if (!name.empty()) name += '.';
    name += label;
    if (name.size() > 254) return bad("the name is too long");
    at += length;
  }
  return bad("the name is cut off");
}

std::string head_of(std::uint16_t id, unsigned flags, std::size_t questions, std::size_t answers) {
  std::string head;
  put_word(head, id);
  put_word(head, flags);
  put_word(head, static_cast<unsigned>(questions));
  put_word(head, static_cast<unsigned>(answers));
  put_word(head, 0);
  put_word(head, 0);
  return head;
}

}  // namespace

Result<DnsQuestion> parse_question(std::string_view message) {
  if (message.size() < kDnsHead || message.size() > kLongestMessage)
    return bad("it does not have the size of a query");
  const unsigned flags = word_at(message, 2);
  if ((flags & kDnsIsAnswer) != 0) return bad("it is an answer");
  if ((flags & kDnsOpcode) != 0) return bad("it is not a standard query");
  if (word_at(message, 4) != 1 || word_at(message, 6) != 0 || word_at(message, 8) != 0 ||
      word_at(message, 10) > 1)
    return bad("it is not one question");
  std::size_t at = kDnsHead;
  const std::string text = TRY(read_name(message, at));
  const std::optional<std::string> name = policy::host_name(text);
  if (!name) return bad("the name is not a host name");
  if (at + 4 > message.size()) return bad("the question is cut off");
  if (word_at(message, at + 2) != kDnsInternet) return bad("its class is not IN");
  return DnsQuestion{.id = word_at(message, 0),
                     .recursion_desired = (flags & kDnsRecursionDesired) != 0,
                     .name = *name,
                     .type = word_at(message, at),
                     .asked = std::string(message.substr(kDnsHead, at + 4 - kDnsHead))};
}

std::string dns_answer(const DnsQuestion& question, DnsCode code,
                       std::span<const std::string> addresses, std::uint32_t ttl) {
  const unsigned flags = kDnsIsAnswer | kDnsRecursionAvailable |
                         (question.recursion_desired ? kDnsRecursionDesired : 0U) |
                         static_cast<unsigned>(code);
  std::string message = head_of(question.id, flags, 1, addresses.size()) + question.asked;
  for (const std::string& address : addresses) {
    put_word(message, 0xc000U | kDnsHead);  // the name of the question
    put_word(message, question.type);
    put_word(message, kDnsInternet);
    put_word(message, ttl >> 16U);
    put_word(message, ttl & 0xffffU);
    put_word(message, static_cast<unsigned>(address.size()));
    message += address;
  }
  return message;
}

std::string dns_failure(std::string_view message, DnsCode code) {
  if (message.size() < kDnsHead || (word_at(message, 2) & kDnsIsAnswer) != 0) return {};
  const unsigned desired = word_at(message, 2) & kDnsRecursionDesired;
  return head_of(word_at(message, 0),
                 kDnsIsAnswer | kDnsRecursionAvailable | desired | static_cast<unsigned>(code), 0,
                 0);
}

}  // namespace coop::egress
