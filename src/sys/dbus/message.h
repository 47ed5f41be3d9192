// The wire form of D-Bus messages, as far as coop speaks it: little endian, without descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::dbus {

enum class Kind : std::uint8_t { call = 1, reply = 2, error = 3, signal = 4 };

struct Message {
  Kind kind = Kind::call;
  std::uint32_t serial = 0;
  std::uint32_t reply_to = 0;
  std::string destination{};
  std::string path{};
  std::string interface{};
  std::string member{};
  std::string error{};      // the name of an error
  std::string signature{};  // of the body
  std::string body{};
  bool operator==(const Message&) const = default;
};

// Values one after another, each at its alignment.
class Writer {
 public:
  struct Array {
    std::size_t length_at;
    std::size_t start;
  };

  void align(std::size_t boundary);
  void byte(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void number(std::uint32_t value);
  void large(std::uint64_t value);
  void text(std::string_view value);       // also a path
  void signature(std::string_view value);  // also what a variant begins with
  // `alignment` of its elements.
  Array begin_array(std::size_t alignment);
  void end_array(const Array& array);

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_{};
};

// The other way, for bytes of a stranger: every read is checked.
class Reader {
 public:
  explicit Reader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  bool at_end() const { return at_ >= bytes_.size(); }
  Result<void> align(std::size_t boundary);
  Result<std::uint8_t> byte();
  Result<std::uint32_t> number();
  Result<std::string> text();
  Result<std::string> signature();

 private:
  Result<std::string_view> take(std::size_t count);

  std::string_view bytes_;
  std::size_t at_;
};

std::string encode(const Message& message);

// Removes the first message from `bytes`; nothing while it is incomplete. A message of more than a megabyte is an error.
Result<std::optional<Message>> take_message(std::string& bytes);

}  // namespace coop::dbus
