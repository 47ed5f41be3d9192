#include "policy/settings/toml_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/path.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

std::string escape(unsigned code) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04X", code);
  return text.data();
}

// Length of the character at the front, in bytes; 0 if it is invalid. is_utf8() refuses C1 controls.
std::size_t character_length(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return 1;
  if (text.size() > 1 && text.front() == '\xc2' && is_deceptive(text)) return 2;
  for (std::size_t length = 2; length <= std::min<std::size_t>(4, text.size()); ++length)
    if (is_utf8(text.substr(0, length))) return length;
  return 0;
}

// The code point of a character of at most three bytes.
unsigned code_of(std::string_view character) {
  constexpr std::array<unsigned, 4> kFirst{0, 0x7f, 0x1f, 0x0f};
  unsigned code = static_cast<unsigned char>(character[0]) & kFirst.at(character.size());
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

}  // namespace

std::string toml_text(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length);
    if (length == 0) result += escape(0xfffd);
    else if (has_control(character) || is_deceptive(character))
      result += escape(code_of(character));
    else if (character == "\"" || character == "\\") result += "\\" + std::string(character);
    else result += character;
    text.remove_prefix(std::max<std::size_t>(length, 1));
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
