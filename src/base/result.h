// Creating, wrapping and passing on errors. The types are public: coop/result.h.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "coop/result.h"

namespace coop {

// Takes errno before anything else can change it.
std::unexpected<Error> system_error(std::string_view operation, std::string_view subject = {});
std::unexpected<Error> system_error_of(int errno_value, std::string_view operation,
                                       std::string_view subject = {});
std::unexpected<Error> invalid(std::string_view operation, std::string_view subject,
                               std::string_view hint = {});
// An error with the origin of a rule or value: "/etc/coop/policy.toml:3: …".
std::unexpected<Error> invalid(const Origin& origin, std::string_view subject,
                               std::string_view hint = {});
// Refused by a rule; `grant` is the smallest that would allow it.
std::unexpected<Error> denied(std::string_view operation, std::string_view subject, Rule rule,
                              std::optional<Grant> grant = {});
// A timeout, or a failure of a server, a network or a helper program.
std::unexpected<Error> timed_out(std::string_view operation, std::string_view subject);
std::unexpected<Error> unavailable(std::string_view operation, std::string_view subject);
std::unexpected<Error> unsupported(std::string_view operation, std::string_view subject,
                                   std::string_view hint = {});
std::unexpected<Error> unsupported(const Origin& origin, std::string_view subject,
                                   std::string_view hint = {});

// "ENOENT (No such file or directory)"
std::string errno_text(int errno_value);

// The symbolic name, "SIGTERM"; a number for a signal without one.
std::string signal_text(int signal);

template <typename T>
Result<T> with_context(std::string_view doing, Result<T> result) {
  if (!result) result.error().context.insert(result.error().context.begin(), std::string(doing));
  return result;
}

template <typename T>
Result<T> with_context(const Origin& origin, Result<T> result) {
  if (!result) result.error().origin = origin;
  return result;
}

template <typename T>
Result<T> with_hint(std::string_view hint, Result<T> result) {
  if (!result && result.error().hint.empty()) result.error().hint = hint;
  return result;
}

namespace detail {
// `void` results have no value to move out.
template <typename T>
T take(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace detail

}  // namespace coop

// Stands alone: `T x = TRY(f());` or `TRY(g());`. docs/style.md says why never inside braces.
#define TRY(expression)                                                     \
  __extension__({                                                           \
    auto try_result = (expression);                                         \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
    ::coop::detail::take(std::move(try_result));                            \
  })
