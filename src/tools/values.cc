#include "tools/values.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/path.h"

namespace coop::tools {

namespace {

constexpr std::size_t kLooked = 8192;

const Json* find(const Json& arguments, std::string_view name) {
  if (!arguments.is_object()) return nullptr;
  const auto found = arguments.find(name);
  return found == arguments.end() ? nullptr : &*found;
}

}  // namespace

std::string text_or(const Json& arguments, std::string_view name, std::string_view fallback) {
  const Json* const value = find(arguments, name);
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>()
                                                : std::string(fallback);
}

std::int64_t number_or(const Json& arguments, std::string_view name, std::int64_t fallback) {
  const Json* const value = find(arguments, name);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : fallback;
}

bool is_set(const Json& arguments, std::string_view name) {
  const Json* const value = find(arguments, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    std::size_t length = static_cast<unsigned char>(bytes.front()) < 0x80 ? 1 : 0;
    for (std::size_t wanted = 2; length == 0 && wanted <= std::min<std::size_t>(4, bytes.size());
         ++wanted)
      if (is_utf8(bytes.substr(0, wanted))) length = wanted;
    text += length == 0 ? std::string_view("\ufffd") : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

bool looks_binary(std::string_view bytes) { return bytes.substr(0, kLooked).contains('\0'); }

ToolOutput answer(Result<ToolOutput> result) {
  return result ? std::move(*result) : refusal(result.error());
}

Result<std::string> read_at_most(int fd, std::size_t most, std::string_view name) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= most) {
    const std::size_t wanted = std::min(buffer.size(), most + 1 - text.size());
    const ssize_t count = ::read(fd, buffer.data(), wanted);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", printable(name));
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace coop::tools
