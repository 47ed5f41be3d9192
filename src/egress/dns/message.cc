#include "egress/dns/message.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "policy/destinations/host_name.h"

namespace coop::egress {

namespace {

using Kind = DnsReply::Kind;

constexpr std::size_t kLongestMessage = 4096;
constexpr std::size_t kHead = 12;
constexpr std::uint16_t kInternet = 1;  // class IN
constexpr std::uint16_t kCname = 5;
constexpr std::uint16_t kOpt = 41;    // EDNS
constexpr std::uint16_t kIxfr = 251;  // then AXFR, MAILB and MAILA
constexpr std::uint16_t kMaila = 254;
constexpr std::size_t kLongestName = 255;  // length bytes included
constexpr std::size_t kRecordHead = 10;    // type, class, TTL, size
constexpr int kMostLinks = 8;
constexpr std::size_t kMostAddressesRead = 64;

// Bits of the header's second 16-bit word.
constexpr unsigned kIsAnswer = 0x8000;
constexpr unsigned kOpcode = 0x7800;
constexpr unsigned kTruncated = 0x0200;
constexpr unsigned kRecursionDesired = 0x0100;
constexpr unsigned kRecursionAvailable = 0x0080;
constexpr unsigned kCode = 0x000f;

// The caller has checked that there are two bytes.
std::uint16_t word_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8U |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

void put_word(std::string& bytes, std::size_t value) {
  bytes += static_cast<char>(value >> 8U & 0xffU);
  bytes += static_cast<char>(value & 0xffU);
}

std::string head_of(std::uint16_t id, unsigned flags, std::size_t questions, std::size_t answers) {
  std::string head;
  for (const std::size_t word : {std::size_t{id}, std::size_t{flags}, questions, answers})
    put_word(head, word);
  return head + std::string(4, '\0');
}

// Names stay in wire form, in lower case: a dot inside a label is no separator.
std::string wire_name(std::string_view name) {
  std::string wire;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    wire += static_cast<char>(label.size());
    wire += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return wire + '\0';
}

// The name at `at`; moves `at` after it. A compression pointer must point to before the part it is
// in, so there can be no loop.
std::optional<std::string> take_name(std::string_view message, std::size_t& at) {
  std::string name;
  std::size_t reading = at;
  std::size_t begin = at;  // start of the part being read
  bool jumped = false;
  while (reading < message.size()) {
    const auto length = static_cast<unsigned char>(message[reading]);
    if (length >= 0xc0) {
      if (reading + 2 > message.size()) return std::nullopt;
      const std::size_t target = word_at(message, reading) & 0x3fffU;
      if (!jumped) at = reading + 2;
      jumped = true;
      if (target >= begin) return std::nullopt;
      reading = begin = target;
      continue;
    }
    const std::size_t end = reading + 1 + length;
    if (length > 63 || end > message.size() || name.size() + 1 + length > kLongestName)
      return std::nullopt;
    // Length bytes are below 64, so lower() does not change them.
    name += lower(message.substr(reading, 1 + length));
    reading = end;
    if (length > 0) continue;
    if (!jumped) at = end;
    return name;
  }
  return std::nullopt;
}

struct Record {
  std::string owner{};
  std::uint16_t type = 0;
  std::uint32_t ttl = 0;
  std::string data{};  // for CNAME the name, otherwise the raw data
};

std::optional<Record> take_record(std::string_view message, std::size_t& at) {
  std::optional<std::string> owner = take_name(message, at);
  if (!owner || at + kRecordHead > message.size()) return std::nullopt;
  Record record{.owner = std::move(*owner), .type = word_at(message, at)};
  const bool internet = word_at(message, at + 2) == kInternet;
  record.ttl = static_cast<std::uint32_t>(word_at(message, at + 4)) << 16U;
  record.ttl |= word_at(message, at + 6);
  const std::size_t size = word_at(message, at + 8);
  at += kRecordHead;
  const std::size_t end = at + size;
  if (end > message.size()) return std::nullopt;
  if (!internet) record.type = 0;  // ignore other classes
  record.data = message.substr(at, size);
  if (record.type == kCname) {
    const std::optional<std::string> name = take_name(message, at);
    if (!name || at != end) return std::nullopt;
    record.data = *name;
  }
  at = end;
  return record;
}

// Follows the CNAMEs from the queried name, and collects the addresses at their end.
DnsReply gather(const std::vector<Record>& records, const DnsAsked& asked) {
  const std::size_t size = asked.type == kDnsA ? 4 : 16;
  DnsReply reply{.kind = Kind::found, .ttl = std::numeric_limits<std::uint32_t>::max()};
  std::string owner = wire_name(asked.name);
  for (int links = 0; links <= kMostLinks; ++links) {
    const Record* next = nullptr;
    for (const Record& record : records) {
      if (record.owner != owner) continue;
      if (record.type == kCname && next == nullptr) next = &record;
      if (record.type != asked.type) continue;
      if (record.data.size() != size) return {.kind = Kind::broken};
      reply.ttl = std::min(reply.ttl, record.ttl);
      if (reply.addresses.size() < kMostAddressesRead) reply.addresses.push_back(record.data);
    }
    if (!reply.addresses.empty()) return reply;
    if (next == nullptr) return {.kind = Kind::found};
    reply.ttl = std::min(reply.ttl, next->ttl);
    owner = next->data;
  }
  return {.kind = Kind::broken};
}

std::unexpected<Error> bad(std::string_view why) { return invalid("DNS message", why); }

// The host name at `at`; moves `at` after it.
std::optional<std::string> take_host_name(std::string_view message, std::size_t& at) {
  const std::size_t begin = at;
  const std::optional<std::string> wire = take_name(message, at);
  if (!wire) return std::nullopt;
  std::string text = *wire;
  for (std::size_t length = 0; length < text.size();) {
    const std::size_t next = length + 1 + static_cast<unsigned char>(text[length]);
    text[length] = '.';
    length = next;
  }
  const std::optional<std::string> name = policy::host_name(std::string_view(text).substr(1));
  // A dot inside a label is no separator, and a question has nothing that compression could point to.
  if (!name || wire_name(*name) != lower(message.substr(begin, at - begin))) return std::nullopt;
  return name;
}

}  // namespace

Result<DnsQuestion> parse_question(std::string_view message) {
  if (message.size() < kHead || message.size() > kLongestMessage)
    return bad("it does not have the size of a query");
  const unsigned flags = word_at(message, 2);
  if ((flags & kIsAnswer) != 0) return bad("it is an answer");
  if ((flags & kOpcode) != 0) return bad("it is not a standard query");
  if (word_at(message, 4) != 1 || word_at(message, 6) != 0 || word_at(message, 8) != 0 ||
      word_at(message, 10) > 1)
    return bad("it is not one question");
  std::size_t at = kHead;
  const std::optional<std::string> name = take_host_name(message, at);
  if (!name) return bad("the name is not a host name, or it is cut off or compressed");
  if (at + 4 > message.size()) return bad("the question is cut off");
  if (word_at(message, at + 2) != kInternet) return bad("its class is not IN");
  return DnsQuestion{.id = word_at(message, 0),
                     .recursion_desired = (flags & kRecursionDesired) != 0,
                     .name = *name,
                     .type = word_at(message, at),
                     .asked = std::string(message.substr(kHead, at + 4 - kHead))};
}

bool is_plain_query(std::string_view message) {
  if (message.size() < kHead || (word_at(message, 2) & (kIsAnswer | kOpcode)) != 0) return false;
  const unsigned additional = word_at(message, 10);
  if (word_at(message, 4) != 1 || word_at(message, 6) != 0 || word_at(message, 8) != 0 ||
      additional > 1)
    return false;
  std::size_t at = kHead;
  while (at < message.size() && message[at] != '\0') {
    const auto length = static_cast<unsigned char>(message[at]);
    at += 1U + length;
    if (length > 63 || at - kHead >= kLongestName) return false;
  }
  ++at;
  if (at + 4 > message.size()) return false;
  const std::uint16_t type = word_at(message, at);
  if ((type >= kIxfr && type <= kMaila) || word_at(message, at + 2) != kInternet) return false;
  at += 4;
  if (additional == 0) return at == message.size();
  const std::size_t data = at + 1 + kRecordHead;  // after the name of the root
  if (data > message.size() || message[at] != '\0' || word_at(message, at + 1) != kOpt)
    return false;
  return data + word_at(message, data - 2) == message.size();
}

std::string dns_answer(const DnsQuestion& question, DnsCode code,
                       std::span<const std::string> addresses, std::uint32_t ttl) {
  const unsigned flags = kIsAnswer | kRecursionAvailable |
                         (question.recursion_desired ? kRecursionDesired : 0U) |
                         static_cast<unsigned>(code);
  std::string message = head_of(question.id, flags, 1, addresses.size()) + question.asked;
  for (const std::string& address : addresses) {
    put_word(message, 0xc000U | kHead);  // the name of the question
    put_word(message, question.type);
    put_word(message, kInternet);
    put_word(message, ttl >> 16U);
    put_word(message, ttl & 0xffffU);
    put_word(message, address.size());
    message += address;
  }
  return message;
}

std::string dns_failure(std::string_view message, DnsCode code) {
  if (message.size() < kHead || (word_at(message, 2) & kIsAnswer) != 0) return {};
  const unsigned desired = word_at(message, 2) & kRecursionDesired;
  return head_of(word_at(message, 0),
                 kIsAnswer | kRecursionAvailable | desired | static_cast<unsigned>(code), 0, 0);
}

std::string dns_query(const DnsAsked& asked) {
  std::string message = head_of(asked.id, kRecursionDesired, 1, 0) + wire_name(asked.name);
  put_word(message, asked.type);
  put_word(message, kInternet);
  return message;
}

DnsReply read_dns_reply(std::string_view message, const DnsAsked& asked) {
  if (message.size() < kHead || word_at(message, 0) != asked.id) return {};
  const unsigned flags = word_at(message, 2);
  if ((flags & kIsAnswer) == 0 || (flags & kOpcode) != 0 || word_at(message, 4) != 1) return {};
  std::size_t at = kHead;
  const std::optional<std::string> name = take_name(message, at);
  if (!name || *name != wire_name(asked.name) || at + 4 > message.size()) return {};
  if (word_at(message, at) != asked.type || word_at(message, at + 2) != kInternet) return {};
  at += 4;
  const unsigned code = flags & kCode;
  if (code == static_cast<unsigned>(DnsCode::no_such_name)) return {.kind = Kind::no_such_name};
  if (code != 0) return {.kind = Kind::failed};
  if ((flags & kTruncated) != 0) return {.kind = Kind::truncated};
  std::vector<Record> records;
  for (unsigned left = word_at(message, 6); left > 0; --left) {
    std::optional<Record> record = take_record(message, at);
    if (!record) return {.kind = Kind::broken};
    records.push_back(std::move(*record));
  }
  return gather(records, asked);
}

std::string dns_frame(const std::string& message) {
  std::string framed;
  put_word(framed, message.size());
  return framed + message;
}

std::optional<std::string_view> first_dns_frame(std::string_view received) {
  if (received.size() < 2 || received.size() < 2U + word_at(received, 0)) return std::nullopt;
  return received.substr(2, word_at(received, 0));
}

}  // namespace coop::egress
