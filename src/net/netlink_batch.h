// Messages to the kernel's network parts, as bytes: made before the clone, sent by the child, or sent here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coop::net {

// Some messages one after the other. The last one asks to be acknowledged; of those before it the kernel tells only errors,
// and tells them first.
class NetlinkBatch {
 public:
  // `header` is what follows the common header: ifaddrmsg, rtmsg, nfgenmsg, as bytes.
  void begin(std::uint16_t type, std::uint16_t flags, std::string_view header);
  void end();

  void attribute(std::uint16_t type, std::string_view bytes);
  void text(std::uint16_t type, std::string_view text);      // with its zero
  void number(std::uint16_t type, std::uint32_t value);      // as this machine has it
  void big_endian(std::uint16_t type, std::uint32_t value);  // as nftables wants it
  void raw(std::string_view bytes);  // a struct that stands before attributes
  void open(std::uint16_t type);     // attributes until close() lie in it
  void close();

  const std::string& bytes() const { return bytes_; }
  std::uint32_t acknowledgements() const { return acknowledged_ ? 1 : 0; }

  // The frame of a transaction, which nobody acknowledges.
  void frame(std::uint16_t type, std::string_view header);

 private:
  void pad();
  void flip_acknowledgement(std::size_t message);
  void set_length(std::size_t at, std::size_t length, std::size_t width);

  std::string bytes_{};
  std::size_t message_ = 0;
  std::vector<std::size_t> nested_{};
  std::uint32_t sequence_ = 0;
  std::optional<std::size_t> acknowledged_{};  // where that message begins
};

// The bytes of a plain struct.
template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace coop::net
