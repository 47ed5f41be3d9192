#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace coop {

std::unexpected<Error> system_error_of(int errno_value, std::string_view operation,
                                       std::string_view subject) {
  return std::unexpected(
      Error{Error::Kind::system, errno_value, std::string(operation), std::string(subject)});
}

std::unexpected<Error> system_error(std::string_view operation, std::string_view subject) {
  return system_error_of(errno, operation, subject);
}

namespace {

std::unexpected<Error> error_of(Error::Kind kind, std::string_view operation,
                                std::string_view subject, std::string_view hint = {}) {
  return std::unexpected(
      Error{kind, 0, std::string(operation), std::string(subject), {}, std::string(hint)});
}

std::unexpected<Error> at(const Origin& origin, std::unexpected<Error> error) {
  error.error().origin = origin;
  return error;
}

}  // namespace

std::unexpected<Error> invalid(std::string_view operation, std::string_view subject,
                               std::string_view hint) {
  return error_of(Error::Kind::invalid, operation, subject, hint);
}

std::unexpected<Error> invalid(const Origin& origin, std::string_view subject,
                               std::string_view hint) {
  return at(origin, error_of(Error::Kind::invalid, {}, subject, hint));
}

std::unexpected<Error> denied(std::string_view operation, std::string_view subject, Rule rule,
                              std::optional<Grant> grant) {
  std::unexpected<Error> error = error_of(Error::Kind::refused, operation, subject);
  error.error().rule = std::move(rule);
  error.error().grant = std::move(grant);
  return error;
}

std::unexpected<Error> timed_out(std::string_view operation, std::string_view subject) {
  return error_of(Error::Kind::timed_out, operation, subject);
}

std::unexpected<Error> unavailable(std::string_view operation, std::string_view subject) {
  return error_of(Error::Kind::unavailable, operation, subject);
}

std::unexpected<Error> unsupported(std::string_view operation, std::string_view subject,
                                   std::string_view hint) {
  return error_of(Error::Kind::unsupported, operation, subject, hint);
}

std::unexpected<Error> unsupported(const Origin& origin, std::string_view subject,
                                   std::string_view hint) {
  return at(origin, error_of(Error::Kind::unsupported, {}, subject, hint));
}

std::string errno_text(int errno_value) {
  const char* name = ::strerrorname_np(errno_value);
  const char* description = ::strerrordesc_np(errno_value);
  if (name == nullptr || description == nullptr) return "errno " + std::to_string(errno_value);
  return std::string(name) + " (" + description + ")";
}

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  if (name == nullptr) return "signal " + std::to_string(signal);
  return std::string("SIG") + name;
}

}  // namespace coop
