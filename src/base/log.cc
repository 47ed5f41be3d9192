#include "base/log.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/path.h"
#include "base/redact.h"

namespace coop {

namespace {

constexpr std::size_t kShortestSecret = 6;

constexpr std::array<const char*, 4> kLevelNames{"debug", "info", "warn", "error"};

const char* level_name(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

// One write() for each line: lines of several processes on one descriptor do not mix.
void write_line(int fd, std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // a log that cannot be written must not stop the work
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

struct Now {
  tm calendar{};
  int milliseconds = 0;
};

enum class Zone : std::uint8_t { local, utc };

Now now_in(Zone zone) {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  const auto seconds = static_cast<time_t>(milliseconds / 1000);
  Now now{.milliseconds = static_cast<int>(milliseconds % 1000)};
  if (zone == Zone::utc) ::gmtime_r(&seconds, &now.calendar);
  else ::localtime_r(&seconds, &now.calendar);
  return now;
}

std::string clock_text(const char* format, const Now& now) {
  std::array<char, 32> seconds{};
  const std::size_t length = ::strftime(seconds.data(), seconds.size(), format, &now.calendar);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d", now.milliseconds);
  return std::string(seconds.data(), length) + fraction.data();
}

// One record with its secrets removed, not escaped yet.
struct Record {
  LogLevel level = LogLevel::debug;
  std::string id{};
  std::string span{};
  std::string message{};
  std::vector<std::pair<std::string, LogValue>> fields{};
};

// printable() leaves no backslash except its own, so \" is unambiguous.
std::string value_text(std::string_view value) {
  const std::string text = printable(value);
  if (!text.empty() && text.find_first_of(" \"=") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string value_text(const LogValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return value_text(std::string_view(std::get<std::string>(value)));
}

std::string as_text(const Record& record) {
  std::string line = "coop: " + clock_text("%H:%M:%S", now_in(Zone::local)) + " ";
  line += level_name(record.level);
  if (!record.id.empty()) line += " [" + printable(record.id) + "]";
  if (!record.span.empty()) line += " " + printable(record.span) + ":";
  line += " " + printable(record.message);
  for (const auto& [name, value] : record.fields)
    line += " " + printable(name) + "=" + value_text(value);
  return line;
}

std::string as_json(const Record& record) {
  nlohmann::ordered_json fields = nlohmann::ordered_json::object();
  for (const auto& field : record.fields)
    std::visit([&](const auto& plain) { fields[field.first] = plain; }, field.second);
  nlohmann::ordered_json object;
  object["time"] = clock_text("%Y-%m-%dT%H:%M:%S", now_in(Zone::utc)) + "Z";
  object["level"] = level_name(record.level);
  object["pid"] = ::getpid();
  object["session"] = record.id;
  object["span"] = record.span;
  object["message"] = record.message;
  object["fields"] = std::move(fields);
  // ASCII only: JSON would pass DEL and the C1 controls through, and a log is read on terminals.
  constexpr int kOneLine = -1;
  return object.dump(kOneLine, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

std::string in_json(const std::string& value) {
  using Json = nlohmann::json;
  const std::string text = Json(value).dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

}  // namespace

struct Logger::State {
  std::string clean(std::string_view text) const { return redact(text, secrets); }
  LogValue clean_value(const LogValue& value) const {
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? value : LogValue(clean(*text));
  }

  int fd;
  LogFormat format;
  LogLevel least;
  std::mutex mutex{};  // guards the members below and keeps records whole
  std::string id{};
  std::vector<std::string> secrets{};
};

Logger::Logger(int fd, LogFormat format, LogLevel least)
    : state_(new State{.fd = fd, .format = format, .least = least}) {}

Logger::~Logger() = default;

bool Logger::wants(LogLevel level) const { return level >= state_->least; }

void Logger::set_id(std::string id) {
  const std::scoped_lock lock(state_->mutex);
  state_->id = std::move(id);
}

void Logger::add_secret(std::string value) {
  if (value.size() < kShortestSecret) return;
  const std::scoped_lock lock(state_->mutex);
  // The caller may have escaped the value already.
  for (std::string escaped : {printable(value), in_json(value)})
    if (escaped != value) state_->secrets.push_back(std::move(escaped));
  state_->secrets.push_back(std::move(value));
}

void Logger::write(LogLevel level, std::string_view span, std::string_view message,
                   std::span<const LogField> fields) {
  if (!wants(level)) return;
  const std::scoped_lock lock(state_->mutex);
  // Remove secrets before quoting: an escape in the middle of one would hide it.
  Record record{.level = level,
                .id = state_->clean(state_->id),
                .span = state_->clean(span),
                .message = state_->clean(message)};
  record.fields.reserve(fields.size());
  for (const LogField& field : fields)
    record.fields.emplace_back(state_->clean(field.name), state_->clean_value(field.value));
  write_line(state_->fd, state_->format == LogFormat::json ? as_json(record) : as_text(record));
}

}  // namespace coop
