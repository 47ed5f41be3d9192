// Messages on two descriptors, one per line.
#include <poll.h>
#include <unistd.h>

#include <array>

#include "mcp/line_writer.h"
#include "mcp/server.h"
#include "sys/fd.h"

namespace coop::mcp {

namespace {

constexpr int kIdleMilliseconds = 1000;

// Until the input ends. `idle` is called while nothing comes.
Result<void> read_lines(int input, const std::function<void(std::string_view)>& take,
                        const std::function<void()>& idle) {
  std::string held;
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
    std::size_t searched = held.size();  // no line ends before that
    held.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t start = 0;
    for (std::size_t end = 0; (end = held.find('\n', searched)) != std::string::npos;) {
      const std::string_view line(held.data() + start, end - start);
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) take(line);
      start = searched = end + 1;
    }
    held.erase(0, start);
    if (held.size() > kLargestMessage)
      return invalid("standard input", "a message is longer than 64 MiB");
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
  Result<void> ended = read_lines(
      input, [&](std::string_view line) { server.receive_text(line, send); },
      [&] { server.look_around(send); });
  server.stop();  // in any case: running calls would send to a closed client
  return ended;
}

}  // namespace coop::mcp
