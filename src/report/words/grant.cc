#include <cstdio>

#include "base/path.h"
#include "report/text.h"

namespace coop::report {

namespace {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%=";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string plain(text);
  std::erase(plain, '\\');
  const bool harmless = printable(plain) == plain;
  std::string word = harmless ? "'" : "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    if (harmless) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    else if (c == '\'' || c == '\\' || byte < 0x20 || byte >= 0x7f) word += escaped;
    else word += c;
  }
  return word + "'";
}

}  // namespace

std::string to_text(const Grant& grant) {
  return grant.value.empty() ? grant.flag : grant.flag + " " + shell_word(grant.value);
}

std::string plain_text(const std::optional<Grant>& grant) {
  return grant ? grant->flag + " " + grant->value : std::string();
}

}  // namespace coop::report

namespace coop {

std::string hint_of(const Error& error) {
  return error.hint.empty() && error.grant ? report::to_text(*error.grant) : error.hint;
}

}  // namespace coop
