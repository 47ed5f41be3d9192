// Netlink messages as bytes: built before the clone and sent by the child, or sent from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coop::netlink {

// Several messages in a row. Only the last one requests an acknowledgement; for the others the
// kernel reports errors only, and reports them first.
class NetlinkBatch {
 public:
  // `header` follows the netlink header: ifaddrmsg, rtmsg, nfgenmsg, as bytes.
  void begin(std::uint16_t type, std::uint16_t flags, std::string_view header);
  void end();

  void attribute(std::uint16_t type, std::string_view bytes);
  void text(std::uint16_t type, std::string_view text);      // with a terminating NUL
  void number(std::uint16_t type, std::uint32_t value);      // in host byte order
  void big_endian(std::uint16_t type, std::uint32_t value);  // network byte order
  void raw(std::string_view bytes);                          // a struct in front of attributes
  void open(std::uint16_t type);                             // a nested attribute, until close()
  void close();

  const std::string& bytes() const { return bytes_; }
  std::uint32_t acknowledgements() const { return acknowledged_ ? 1 : 0; }

  // The begin or end of a transaction, which is not acknowledged.
  void frame(std::uint16_t type, std::string_view header);

 private:
  void pad();
  void flip_acknowledgement(std::size_t message);
  void set_length(std::size_t at, std::size_t length, std::size_t width);

  std::string bytes_{};
  std::size_t message_ = 0;
  std::vector<std::size_t> nested_{};
  std::uint32_t sequence_ = 0;
  std::optional<std::size_t> acknowledged_{};  // offset of that message
};

// The bytes of a plain struct.
template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace coop::netlink
