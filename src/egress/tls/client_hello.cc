#include "egress/tls/client_hello.h"

#include <optional>

#include "policy/destinations/host_name.h"

namespace coop::egress {

namespace {

using Kind = ClientHello::Kind;

constexpr std::size_t kMostBytes = 20480;
constexpr std::size_t kMostRecord = 16384;
constexpr unsigned kChangeCipherSpec = 20;
constexpr unsigned kAlert = 21;
constexpr unsigned kHandshake = 22;
constexpr unsigned kFirstRecord = 20;  // change cipher spec, alert, handshake, data, heartbeat
constexpr unsigned kLastRecord = 24;
constexpr unsigned kClientHello = 1;
constexpr unsigned kServerHello = 2;
constexpr unsigned kServerName = 0;
constexpr unsigned kEncryptedHello = 0xfe0d;

// Takes lengths and fields off the front; after an overrun every result is empty.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  unsigned number(std::size_t size) {
    unsigned value = 0;
    for (const char c : take(size)) value = value << 8U | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      fits_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view piece = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return piece;
  }
  // A field with its length in front.
  std::string_view counted(std::size_t length_size) { return take(number(length_size)); }
  bool fits() const { return fits_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

// The handshake message, reassembled from its records; incomplete until `kind` is `named`.
struct Handshake {
  Kind kind = Kind::need_more;  // named: complete
  std::string body{};
  std::size_t size = 0;  // of its records
};

// Classifies the first bytes of a record. Servers differ in what they accept: some ignore the
// version before negotiation, accept records of any length, or skip other records first, and then
// read the name.
Kind kind_of_record(std::string_view bytes) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  constexpr unsigned char kMajor = 3;
  if (byte(0) < kFirstRecord || byte(0) > kLastRecord) return Kind::not_tls;
  if (bytes.size() < 2) return Kind::need_more;
  // A client starts with a ClientHello and sends no other record within it.
  if (byte(1) == kMajor) return byte(0) == kHandshake ? Kind::named : Kind::malformed;
  if (byte(0) > kHandshake) return Kind::not_tls;
  // Other protocols can start like this too, for example with a message length. More bytes decide.
  if (bytes.size() < 6) return Kind::need_more;
  const unsigned length = static_cast<unsigned>(byte(3)) << 8U | byte(4);
  const bool hello = byte(0) == kHandshake && byte(5) == kClientHello;
  const bool alert = byte(0) == kAlert && length == 2 && (byte(5) == 1 || byte(5) == 2);
  const bool change = byte(0) == kChangeCipherSpec && length == 1 && byte(5) == 1;
  return hello || alert || change || length == 0 ? Kind::malformed : Kind::not_tls;
}

Handshake gather(std::string_view bytes) {
  Handshake found;
  while (!bytes.empty()) {
    const Kind record = kind_of_record(bytes);
    if (record == Kind::need_more) break;
    if (record != Kind::named) return {.kind = found.body.empty() ? record : Kind::malformed};
    if (bytes.size() < 5) break;
    const std::size_t length = Cursor(bytes.substr(3)).number(2);
    if (length == 0 || length > kMostRecord) return {.kind = Kind::malformed};
    found.body += bytes.substr(5, length);
    if (found.body.empty()) break;
    if (static_cast<unsigned char>(found.body[0]) != kClientHello) return {.kind = Kind::malformed};
    Cursor head(std::string_view(found.body).substr(1));
    const std::size_t wanted = head.number(3);
    if (head.fits() && wanted > kMostBytes) return {.kind = Kind::malformed};
    const bool whole_record = bytes.size() >= 5 + length;
    if (head.fits() && found.body.size() >= wanted + 4) {
      // No client sends more in this record, except to hide a second ClientHello.
      if (!whole_record || found.body.size() > wanted + 4) return {.kind = Kind::malformed};
      found.kind = Kind::named;
      found.body = found.body.substr(4, wanted);
      found.size += 5 + length;
      return found;
    }
    if (!whole_record) break;
    bytes.remove_prefix(5 + length);
    found.size += 5 + length;
  }
  return {.kind = Kind::need_more};
}

// The single host name of the extension; nothing if it is malformed.
std::optional<std::string> read_server_name(std::string_view extension) {
  Cursor cursor(extension);
  Cursor list(cursor.counted(2));
  if (!cursor.fits() || !cursor.empty()) return std::nullopt;
  const unsigned type = list.number(1);
  const std::string_view name = list.counted(2);
  if (!list.fits() || !list.empty() || type != 0 || name.ends_with('.')) return std::nullopt;
  return policy::host_name(name);
}

ClientHello read_body(std::string_view body) {
  ClientHello hello{.kind = Kind::no_name};
  Cursor cursor(body);
  cursor.take(2 + 32);  // version, random
  cursor.counted(1);    // session id
  cursor.counted(2);    // cipher suites
  cursor.counted(1);    // compression
  if (!cursor.fits()) return {.kind = Kind::malformed};
  if (cursor.empty()) return hello;
  Cursor extensions(cursor.counted(2));
  if (!cursor.fits() || !cursor.empty()) return {.kind = Kind::malformed};
  while (!extensions.empty()) {
    const unsigned type = extensions.number(2);
    const std::string_view content = extensions.counted(2);
    if (!extensions.fits()) return {.kind = Kind::malformed};
    if (type == kEncryptedHello) hello.encrypted = true;
    if (type != kServerName) continue;
    const std::optional<std::string> name = read_server_name(content);
    // Two names: the server could use the other one.
    if (!name || hello.kind == Kind::named) return {.kind = Kind::malformed};
    hello.kind = Kind::named;
    hello.name = *name;
  }
  return hello;
}

}  // namespace

ClientHello read_second_hello(std::string_view bytes) {
  // For middlebox compatibility clients send a ChangeCipherSpec record first. After it comes early
  // data, which the server has skipped.
  constexpr std::string_view kChange("\x14\x03\x03\0\x01\x01", 6);
  constexpr std::string_view kData("\x17\x03\x03", 3);
  if (bytes.size() < kChange.size() && kChange.starts_with(bytes)) return {};
  std::size_t before = bytes.starts_with(kChange) ? kChange.size() : 0;
  while (before < kMostBytes) {
    const std::string_view rest = bytes.substr(before);
    if (rest.size() < kData.size() && kData.starts_with(rest)) return {};
    if (!rest.starts_with(kData)) break;
    Cursor record(rest.substr(kData.size()));
    const std::string_view content = record.counted(2);
    if (!record.fits()) return {};
    before += kData.size() + 2 + content.size();
  }
  if (before >= kMostBytes) return {.kind = Kind::malformed};
  ClientHello hello = read_client_hello(bytes.substr(before));
  if (hello.size > 0) hello.size += before;
  return hello;
}

bool asks_for_second_hello(std::string_view answer) {
  // The special random value of a HelloRetryRequest (RFC 8446, 4.1.3).
  constexpr std::string_view kRetry(
      "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
      "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
      32);
  constexpr std::size_t kRandom = 5 + 4 + 2;  // after the record header, type and length, version
  return answer.size() >= kServerHelloHead && static_cast<unsigned char>(answer[0]) == kHandshake &&
         static_cast<unsigned char>(answer[5]) == kServerHello &&
         answer.substr(kRandom, kRetry.size()) == kRetry;
}

ClientHello read_client_hello(std::string_view bytes) {
  const Handshake handshake = gather(bytes.substr(0, kMostBytes));
  if (handshake.kind == Kind::named) {
    ClientHello hello = read_body(handshake.body);
    hello.size = handshake.size;
    return hello;
  }
  if (handshake.kind == Kind::need_more && bytes.size() >= kMostBytes)
    return {.kind = Kind::malformed};
  return {.kind = handshake.kind};
}

}  // namespace coop::egress
