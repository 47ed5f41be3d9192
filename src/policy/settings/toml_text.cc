#include "policy/settings/toml_text.h"

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

// Length of the character at the front, in bytes; 0 if it is invalid.
std::size_t character_length(std::string_view text) {
  for (std::size_t length = 2; length <= std::min<std::size_t>(4, text.size()); ++length)
    if (is_utf8(text.substr(0, length))) return length;
  return 0;
}

// The code point of a character of two or three bytes.
unsigned code_of(std::string_view character) {
  unsigned code =
      static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1fU : 0x0fU);
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
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
    } else if (byte == 0xc2 && text.size() > 1 && is_deceptive(text)) {
      result += escape(code_of(text.substr(0, 2)));  // a C1 control, or a soft hyphen
      used = 2;
    } else if (const std::size_t length = character_length(text); length > 0) {
      const std::string_view character = text.substr(0, length);
      result += is_deceptive(character) ? escape(code_of(character)) : std::string(character);
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
