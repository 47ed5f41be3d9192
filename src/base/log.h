// Structured records of what coop does: a line for people, or an object for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coop {

enum class LogLevel : std::uint8_t { debug, info, warn, error };
enum class LogFormat : std::uint8_t { text, json };

// Numbers and truth values stay such in JSON.
using LogValue = std::variant<std::string, std::int64_t, bool>;

struct LogField {
  std::string_view name;
  LogValue value;
};

// One record is one line on the descriptor, whatever is in it: control characters are escaped, and
// values of secrets are replaced (base/redact.h) before anything is written.
class Logger {
 public:
  // Writes records of at least `least` to `fd`, which stays the caller's.
  Logger(int fd, LogFormat format, LogLevel least);
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  ~Logger();

  bool wants(LogLevel level) const;

  // Every record from now on carries this id, of the sandbox or of the server.
  void set_id(std::string id);
  // Never to be written, whatever its form of quoting: an environment's secrets, a token. Short ones
  // (under 6 bytes) are not taken: they would be found everywhere.
  void add_secret(std::string value);

  // `span` is where in the work this happens, outermost first: "tool_execute/sandbox_exec".
  void write(LogLevel level, std::string_view span, std::string_view message,
             std::span<const LogField> fields = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace coop
