// Errors in coop: a value that names the operation, the object and the errno.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "coop/grant.h"
#include "coop/origin.h"
#include "coop/rule.h"

namespace coop {

struct Error {
  enum class Kind : std::uint8_t {
    system,       // a system call failed, see `errno_value`
    invalid,      // the input is wrong; the user can correct it
    unsupported,  // this machine lacks something that the policy requires
    refused,      // a rule forbids it; `rule` names it, and `grant` what would allow it
    timed_out,
    unavailable,  // a server, a network or a helper program does not answer, or answers wrongly
    internal,     // a bug in coop
  };

  Kind kind = Kind::internal;
  int errno_value = 0;
  std::string operation{};             // "open", "parse --memory"; may be empty with an origin
  std::string subject{};               // the path or text it was done to
  std::vector<std::string> context{};  // outermost first
  std::string hint{};                  // what to do about it, one line
  std::optional<Rule> rule{};          // the rule that refused, if one did
  std::optional<Origin> origin{};      // of the rule or value that is wrong
  std::optional<Grant> grant{};        // what would allow what was refused

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = std::expected<T, Error>;

// `opening the workspace: open "/srv/x": EACCES (Permission denied)`; no newline, no hint.
std::string to_text(const Error& error);

// What to do about it, one line: the hint, or else the grant; empty where there is neither.
std::string hint_of(const Error& error);

}  // namespace coop
