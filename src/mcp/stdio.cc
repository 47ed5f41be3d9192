// Messages on two descriptors, one per line.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "mcp/id_finder.h"
#include "mcp/line_writer.h"
#include "mcp/protocol.h"
#include "mcp/server.h"
#include "sys/fd.h"

namespace coop::mcp {

namespace {

constexpr int kIdleMilliseconds = 1000;

// Splits what comes into lines. A longer one than a message may be is dropped as it comes, but for its id.
class Lines {
 public:
  struct Takers {
    std::function<void(std::string_view line)> line{};
    std::function<void(const Json& id)> too_long{};
  };
  explicit Lines(Takers takers) : takers_(std::move(takers)) {}

  void feed(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      add(piece.substr(0, end));
      if (end == std::string_view::npos) return;
      finish();
      piece.remove_prefix(end + 1);
    }
  }

 private:
  void add(std::string_view part) {
    if (!dropped_) held_.append(part);
    else dropped_->feed(part);
    if (held_.size() <= kLargestMessage) return;
    dropped_.emplace().feed(held_);
    held_ = {};
  }
  void finish() {
    if (dropped_) takers_.too_long(dropped_->id());
    else if (held_.find_first_not_of(" \t\r") != std::string::npos) takers_.line(held_);
    dropped_.reset();
    held_.clear();
  }

  Takers takers_;
  std::string held_{};
  std::optional<IdFinder> dropped_{};
};

// Until the input ends. `idle` is called while nothing comes. One descriptor, and the reads must stay blocking: standard input
// may be shared with the client.
Result<void> read_lines(int input, Lines lines, const std::function<void()>& idle) {
  std::array<char, 65536> buffer;
  while (true) {
    pollfd watched{input, POLLIN, 0};
    if (::poll(&watched, 1, kIdleMilliseconds) == 0) {
      idle();
      continue;
    }
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", "standard input");
    if (count == 0) return {};
    lines.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace

Result<void> serve_stdio(Server& server, int input, int output) {
  LineWriter writer(output);
  const Send send = [&](const Json& message) {
    if (message.is_null()) return;
    std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (message.contains("method")) writer.write_if_read(std::move(line));
    else writer.write(std::move(line));
  };
  Lines lines({.line = [&](std::string_view line) { server.receive_text(line, send); },
               .too_long =
                   [&](const Json& id) {
                     send(failure(id, kInvalidRequest, "the message is larger than 64 MiB"));
                   }});
  Result<void> ended = read_lines(input, std::move(lines), [&] { server.look_around(send); });
  server.stop();  // in any case: running calls would send to a closed client
  return ended;
}

}  // namespace coop::mcp
