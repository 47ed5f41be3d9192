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

std::unexpected<Error> invalid(std::string_view operation, std::string_view subject,
                               std::string_view hint) {
  return std::unexpected(Error{Error::Kind::invalid,
                               0,
                               std::string(operation),
                               std::string(subject),
                               {},
                               std::string(hint)});
}

std::unexpected<Error> denied(std::string_view operation, std::string_view subject,
                              std::string_view rule, std::string_view grant) {
  std::unexpected<Error> error = invalid(operation, subject, grant);
  error.error().rule = rule;
  return error;
}

std::unexpected<Error> unsupported(std::string_view operation, std::string_view subject,
                                   std::string_view hint) {
  return std::unexpected(Error{Error::Kind::unsupported,
                               0,
                               std::string(operation),
                               std::string(subject),
                               {},
                               std::string(hint)});
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

std::string to_text(const Error& error) {
  std::string text;
  for (const std::string& doing : error.context) text += doing + ": ";
  text += error.operation;
  if (!error.subject.empty()) {
    // A system error's subject is an object (quoted); otherwise it is already a sentence.
    text += error.kind == Error::Kind::system ? " \"" + error.subject + "\"" : ": " + error.subject;
  }
  if (error.errno_value != 0) text += ": " + errno_text(error.errno_value);
  return text;
}

}  // namespace coop
