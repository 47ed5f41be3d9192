#include "policy/toml_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/path.h"

namespace coop::policy {

namespace {

std::string escape(unsigned code) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04X", code);
  return text.data();
}

// How many bytes the character at the front has; 0 when it is none, or a control of two bytes.
std::size_t character_length(std::string_view text) {
  for (std::size_t length = 2; length <= std::min<std::size_t>(4, text.size()); ++length)
    if (is_utf8(text.substr(0, length))) return length;
  return 0;
}

bool is_c1_control(std::string_view text) {
  return text.size() >= 2 && static_cast<unsigned char>(text[0]) == 0xc2 &&
         static_cast<unsigned char>(text[1]) >= 0x80 && static_cast<unsigned char>(text[1]) < 0xa0;
}

}  // namespace

std::string toml_text(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    std::size_t used = 1;
    if (byte == '"' || byte == '\\') {
      result += '\\';
      result += text.front();
    } else if (byte < 0x20 || byte == 0x7f) {
      result += escape(byte);
    } else if (byte < 0x80) {
      result += text.front();
    } else if (is_c1_control(text)) {
      result += escape(static_cast<unsigned char>(text[1]));
      used = 2;
    } else if (const std::size_t length = character_length(text); length > 0) {
      result += text.substr(0, length);
      used = length;
    } else {
      result += escape(0xfffd);
    }
    text.remove_prefix(used);
  }
  return result + "\"";
}

std::string toml_key(std::string_view key) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!key.empty() && std::ranges::all_of(key, bare)) return std::string(key);
  return toml_text(key);
}

}  // namespace coop::policy
