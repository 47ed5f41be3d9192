#include "egress/proxy/response.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace coop::egress {

namespace {

constexpr std::size_t kLongestHead = 65536;
constexpr std::string_view kProtocol = "HTTP/1.";

// The size of the head with the empty line, by CR LF or LF alone; 0 when it is incomplete.
std::size_t size_of_head(std::string_view bytes) {
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos;
       end = bytes.find('\n', end + 1)) {
    if (bytes.substr(end + 1, 1) == "\n") return end + 2;
    if (bytes.substr(end + 1, 2) == "\r\n") return end + 3;
  }
  return 0;
}

// 100, 102 and 103: the answer proper follows. After 101 it does not.
bool is_interim(std::string_view head) {
  const std::string_view status = head.substr(std::min(head.find(' '), head.size()));
  return status.starts_with(" 1") && !status.starts_with(" 101");
}

bool is_about_the_connection(std::string_view line) {
  constexpr std::array<std::string_view, 3> kNames{"connection", "keep-alive", "proxy-connection"};
  const std::string name = lower(trimmed(line.substr(0, std::min(line.find(':'), line.size()))));
  return std::ranges::find(kNames, name) != kNames.end();
}

std::string rewritten(std::string_view head) {
  std::string result;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n') + 1);
    head.remove_prefix(line.size());
    if (head.empty()) return result + "Connection: close\r\n" + std::string(line);
    if (!is_about_the_connection(line)) result += line;
  }
  return result;
}

}  // namespace

HeadState pass_response_head(std::string& bytes, std::string& out) {
  while (true) {
    const std::string_view known = std::string_view(bytes).substr(0, kProtocol.size());
    if (!kProtocol.starts_with(known))
      return HeadState::passed;  // not HTTP/1: none of our business
    const std::size_t size = size_of_head(bytes);
    if (size == 0) return bytes.size() > kLongestHead ? HeadState::passed : HeadState::incomplete;
    const std::string head = bytes.substr(0, size);
    bytes.erase(0, size);
    if (!is_interim(head)) {
      out += rewritten(head);
      return HeadState::passed;
    }
    out += head;
  }
}

}  // namespace coop::egress
