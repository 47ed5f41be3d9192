#include "sys/dbus/message.h"

#include <algorithm>
#include <array>

namespace coop::dbus {

namespace {

constexpr std::size_t kFixed = 16;  // of every header; then the length of the fields has been read
constexpr std::size_t kMost = std::size_t{1} << 20;
constexpr std::uint8_t kVersion = 1;

// Codes of header fields.
enum Field : std::uint8_t {
  field_path = 1,
  field_interface = 2,
  field_member = 3,
  field_error = 4,
  field_reply_to = 5,
  field_destination = 6,
  field_signature = 8,
};

struct TextField {
  Field code;
  std::string_view type;
  std::string Message::* member;
};
constexpr std::array kTextFields{
    TextField{field_path, "o", &Message::path},
    TextField{field_interface, "s", &Message::interface},
    TextField{field_member, "s", &Message::member},
    TextField{field_error, "s", &Message::error},
    TextField{field_destination, "s", &Message::destination},
    TextField{field_signature, "g", &Message::signature},
};

std::size_t aligned(std::size_t size, std::size_t boundary) {
  return (size + boundary - 1) / boundary * boundary;
}

std::unexpected<Error> malformed(std::string_view what) {
  return invalid("read a D-Bus message", what);
}

template <typename Number>
void append(std::string& bytes, Number value) {
  for (std::size_t index = 0; index < sizeof value; ++index)
    bytes += static_cast<char>(value >> (8 * index));
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t index = 0; index < 4; ++index)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + index])} << (8 * index);
  return value;
}

Result<void> read_field(Reader& reader, Message& message) {
  TRY(reader.align(8));
  const std::uint8_t code = TRY(reader.byte());
  const std::string type = TRY(reader.signature());
  if (type == "u") {
    const std::uint32_t value = TRY(reader.number());
    if (code == field_reply_to) message.reply_to = value;
    return {};
  }
  if (type != "s" && type != "o" && type != "g")
    return malformed("a header field has an unknown type");
  std::string value = TRY(type == "g" ? reader.signature() : reader.text());
  const auto field = std::ranges::find(kTextFields, code, &TextField::code);
  if (field == kTextFields.end()) return {};
  if (field->type != type) return malformed("a header field has a wrong type");
  message.*field->member = std::move(value);
  return {};
}

}  // namespace

void Writer::align(std::size_t boundary) { bytes_.resize(aligned(bytes_.size(), boundary)); }

void Writer::number(std::uint32_t value) {
  align(4);
  append(bytes_, value);
}

void Writer::large(std::uint64_t value) {
  align(8);
  append(bytes_, value);
}

void Writer::text(std::string_view value) {
  number(static_cast<std::uint32_t>(value.size()));
  bytes_ += value;
  bytes_ += '\0';
}

void Writer::signature(std::string_view value) {
  byte(static_cast<std::uint8_t>(value.size()));
  bytes_ += value;
  bytes_ += '\0';
}

// The length does not count the padding before the first element.
Writer::Array Writer::begin_array(std::size_t alignment) {
  number(0);
  const std::size_t length_at = bytes_.size() - 4;
  align(alignment);
  return {length_at, bytes_.size()};
}

void Writer::end_array(const Array& array) {
  std::string length;
  append(length, static_cast<std::uint32_t>(bytes_.size() - array.start));
  bytes_.replace(array.length_at, length.size(), length);
}

Result<std::string_view> Reader::take(std::size_t count) {
  if (at_ > bytes_.size() || bytes_.size() - at_ < count) return malformed("it ends too early");
  at_ += count;
  return bytes_.substr(at_ - count, count);
}

Result<void> Reader::align(std::size_t boundary) {
  TRY(take(aligned(at_, boundary) - at_));
  return {};
}

Result<std::uint8_t> Reader::byte() {
  const std::string_view taken = TRY(take(1));
  return static_cast<std::uint8_t>(taken[0]);
}

Result<std::uint32_t> Reader::number() {
  TRY(align(4));
  const std::string_view taken = TRY(take(4));
  return number_at(taken, 0);
}

Result<std::string> Reader::text() {
  const std::uint32_t size = TRY(number());
  const std::string_view taken = TRY(take(std::size_t{size} + 1));
  if (taken.find('\0') != size) return malformed("a text has a NUL in it, or none after it");
  return std::string(taken.substr(0, size));
}

Result<std::string> Reader::signature() {
  const std::uint8_t size = TRY(byte());
  const std::string_view taken = TRY(take(std::size_t{size} + 1));
  if (taken.find('\0') != size) return malformed("a signature has a NUL in it, or none after it");
  return std::string(taken.substr(0, size));
}

std::string encode(const Message& message) {
  Writer writer;
  writer.byte('l');
  writer.byte(static_cast<std::uint8_t>(message.kind));
  writer.byte(0);  // an answer is wanted
  writer.byte(kVersion);
  writer.number(static_cast<std::uint32_t>(message.body.size()));
  writer.number(message.serial);
  const Writer::Array fields = writer.begin_array(8);
  for (const TextField& field : kTextFields) {
    const std::string& value = message.*field.member;
    if (value.empty()) continue;
    writer.align(8);
    writer.byte(field.code);
    writer.signature(field.type);
    if (field.type == "g") writer.signature(value);
    else writer.text(value);
  }
  if (message.reply_to != 0) {
    writer.align(8);
    writer.byte(field_reply_to);
    writer.signature("u");
    writer.number(message.reply_to);
  }
  writer.end_array(fields);
  writer.align(8);
  return writer.take() + message.body;
}

Result<std::optional<Message>> take_message(std::string& bytes) {
  if (bytes.size() < kFixed) return std::nullopt;
  const auto at = [&](std::size_t index) { return static_cast<std::uint8_t>(bytes[index]); };
  if (at(0) != 'l' || at(3) != kVersion) return malformed("not little endian, or another version");
  if (at(1) < 1 || at(1) > 4) return malformed("it is of no known kind");
  const std::size_t body = number_at(bytes, 4);
  const std::size_t fields = number_at(bytes, 12);
  if (body > kMost || fields > kMost) return malformed("it is too long");
  const std::size_t header = aligned(kFixed + fields, 8);
  if (bytes.size() < header + body) return std::nullopt;
  Message message{.kind = static_cast<Kind>(at(1)), .serial = number_at(bytes, 8)};
  Reader reader(std::string_view(bytes).substr(0, kFixed + fields), kFixed);
  while (!reader.at_end()) TRY(read_field(reader, message));
  message.body = bytes.substr(header, body);
  bytes.erase(0, header + body);
  return message;
}

}  // namespace coop::dbus
