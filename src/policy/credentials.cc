#include "policy/credentials.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace coop::policy {

namespace {

// "auth" is in authorization, _auth and oauth, "pass" in password and passphrase, "key" in apiKey and privateKey.
constexpr std::array<std::string_view, 9> kWords{"pass", "pwd",        "token",  "secret", "auth",
                                                 "key",  "credential", "bearer", "cookie"};

std::string without_comments(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    const std::size_t start = std::min(text.find("<!--"), text.size());
    rest += text.substr(0, start);
    const std::size_t end = text.find("-->", start);
    // A comment without an end is read as text.
    if (end == std::string_view::npos) rest += text.substr(start);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 3);
  }
  std::string lines;
  for (std::string_view all = rest; !all.empty();) {
    const std::size_t end = std::min(all.find('\n'), all.size() - 1);
    const std::string_view line = all.substr(0, end + 1);
    const std::string_view content = trimmed(line);
    if (!content.starts_with('#') && !content.starts_with(';')) lines += line;
    all.remove_prefix(end + 1);
  }
  return lines;
}

// "scheme://user:password@host", "scheme://token@host".
bool has_user_in_url(std::string_view text) {
  for (std::size_t at = text.find("://"); at != std::string_view::npos;
       at = text.find("://", at + 3)) {
    const std::string_view authority =
        text.substr(at + 3, text.find_first_of("/ \t\r\n\"'<>", at + 3) - at - 3);
    if (authority.contains('@')) return true;
  }
  return false;
}

// A private feed or channel may have its token in the path of a URL.
bool has_long_word(std::string_view text) {
  constexpr std::size_t kLong = 30;
  std::size_t length = 0;
  return std::ranges::any_of(text, [&](char letter) {
    const bool belongs = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                         letter == '-' || letter == '_';
    length = belongs ? length + 1 : 0;
    return length >= kLong;
  });
}

}  // namespace

bool holds_credentials(std::string_view text) {
  const std::string content = lower(without_comments(text));
  return has_user_in_url(content) || has_long_word(content) ||
         std::ranges::any_of(kWords, [&](std::string_view word) { return content.contains(word); });
}

}  // namespace coop::policy
