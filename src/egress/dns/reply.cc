#include "egress/dns/reply.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "egress/dns/message.h"
#include "egress/dns/wire.h"

namespace coop::egress {

namespace {

using Kind = DnsReply::Kind;

constexpr std::uint16_t kCname = 5;
constexpr std::size_t kLongestName = 255;  // length bytes included
constexpr std::size_t kRecordHead = 10;    // type, class, TTL, size
constexpr int kMostLinks = 8;
constexpr std::size_t kMostAddressesRead = 64;

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
  const bool internet = word_at(message, at + 2) == kDnsInternet;
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

}  // namespace

std::string dns_query(const DnsAsked& asked) {
  std::string message;
  for (const unsigned word : {unsigned{asked.id}, kDnsRecursionDesired, 1U, 0U, 0U, 0U})
    put_word(message, word);
  message += wire_name(asked.name);
  put_word(message, asked.type);
  put_word(message, kDnsInternet);
  return message;
}

DnsReply read_dns_reply(std::string_view message, const DnsAsked& asked) {
  if (message.size() < kDnsHead || word_at(message, 0) != asked.id) return {};
  const unsigned flags = word_at(message, 2);
  if ((flags & kDnsIsAnswer) == 0 || (flags & kDnsOpcode) != 0 || word_at(message, 4) != 1)
    return {};
  std::size_t at = kDnsHead;
  const std::optional<std::string> name = take_name(message, at);
  if (!name || *name != wire_name(asked.name) || at + 4 > message.size()) return {};
  if (word_at(message, at) != asked.type || word_at(message, at + 2) != kDnsInternet) return {};
  at += 4;
  const unsigned code = flags & kDnsCode;
  if (code == static_cast<unsigned>(DnsCode::no_such_name)) return {.kind = Kind::no_such_name};
  if (code != 0) return {.kind = Kind::failed};
  if ((flags & kDnsTruncated) != 0) return {.kind = Kind::truncated};
  std::vector<Record> records;
  for (unsigned left = word_at(message, 6); left > 0; --left) {
    std::optional<Record> record = take_record(message, at);
    if (!record) return {.kind = Kind::broken};
    records.push_back(std::move(*record));
  }
  return gather(records, asked);
}

}  // namespace coop::egress
