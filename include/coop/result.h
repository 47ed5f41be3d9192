// How everything in coop fails: a value that names the operation, the object and the errno.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace coop {

struct Error {
  enum class Kind : std::uint8_t {
    system,       // a system call failed; `errno_value` says how
    invalid,      // the input is wrong; the user can mend it
    unsupported,  // this machine lacks something the policy requires
    internal,     // coop is wrong
  };

  Kind kind = Kind::internal;
  int errno_value = 0;
  std::string operation{};             // "open", "parse --memory"
  std::string subject{};               // the path or text it was done to
  std::vector<std::string> context{};  // outermost first
  std::string hint{};                  // what to do about it, one line
  std::string rule{};                  // by which something was refused, where it was one

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = std::expected<T, Error>;

// `opening the workspace: open "/srv/x": EACCES (Permission denied)`; no newline, no hint.
std::string to_text(const Error& error);

}  // namespace coop
