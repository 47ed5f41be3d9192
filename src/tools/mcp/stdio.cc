// Messages on two descriptors, one a line.
#include <unistd.h>

#include <array>
#include <mutex>

#include "sys/fd.h"
#include "tools/mcp/server.h"

namespace coop::tools::mcp {

namespace {

constexpr std::size_t kLongestLine = 64 << 20;

}  // namespace

Result<void> serve_stdio(Server& server, int input, int output) {
  std::mutex writing;
  const Send send = [&](const Json& message) {
    const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const std::lock_guard lock(writing);
    // A client that has gone away shows at the input.
    [[maybe_unused]] const Result<void> ignored = write_all(output, line, "standard output");
  };
  std::string held;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", "standard input");
    if (count == 0) break;
    held.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t start = 0;
    for (std::size_t end = 0; (end = held.find('\n', start)) != std::string::npos;
         start = end + 1) {
      const std::string_view line(held.data() + start, end - start);
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) server.receive(line, send);
    }
    held.erase(0, start);
    if (held.size() > kLongestLine)
      return invalid("standard input", "a message is longer than 64 MiB");
  }
  server.stop();
  return {};
}

}  // namespace coop::tools::mcp
