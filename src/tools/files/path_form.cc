#include "tools/files/path_form.h"

#include <algorithm>

#include "base/path.h"

namespace coop::tools {

namespace {

constexpr std::size_t kLongestPath = 4095;  // PATH_MAX counts the final NUL
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestQuote = 300;

// U+200B–200F, U+202A–202E, U+2060–2069 and U+FEFF, in a text that is UTF-8.
bool has_invisible(std::string_view text) {
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned char second = byte(at + 1);
    const unsigned char third = byte(at + 2);
    if (byte(at) == 0xe2 && second == 0x80 &&
        ((third >= 0x8b && third <= 0x8f) || (third >= 0xaa && third <= 0xae)))
      return true;
    if (byte(at) == 0xe2 && second == 0x81 && third >= 0xa0 && third <= 0xa9) return true;
    if (byte(at) == 0xef && second == 0xbb && third == 0xbf) return true;
  }
  return false;
}

bool has_long_name(std::string_view path) {
  std::size_t length = 0;
  for (const char c : path) {
    length = c == '/' ? 0 : length + 1;
    if (length > kLongestName) return true;
  }
  return false;
}

std::unexpected<Error> refused(std::string_view operation, const std::string& why) {
  return denied(operation, why, Rule::of_coop(Part::path_form));
}

bool hopes_for_shell(std::string_view path) {
  const auto begins = [&](std::string_view word) {
    return path == word || path.starts_with(std::string(word) + "/");
  };
  return begins("~") || begins("$HOME") || begins("${HOME}");
}

}  // namespace

std::string in_quotes(std::string_view path) {
  const bool cut = path.size() > kLongestQuote;
  return "\"" + printable(path.substr(0, kLongestQuote)) + (cut ? "…\"" : "\"");
}

Result<void> check_form(std::string_view operation, std::string_view path) {
  if (path.empty())
    return invalid(operation, "the path is empty", "name a file; \".\" is the workspace");
  if (path.size() > kLongestPath)
    return refused(operation, in_quotes(path) + " is too long for a path (at most 4095 bytes)");
  if (has_long_name(path))
    return refused(operation, in_quotes(path) + " has a name of over 255 bytes in it");
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(path, is_control))
    return refused(operation, in_quotes(path) + " has a control character in it");
  if (!is_utf8(path)) return refused(operation, in_quotes(path) + " is not UTF-8");
  if (has_invisible(path))
    return refused(
        operation,
        in_quotes(path) + " has an invisible character in it: it is not what it looks like");
  if (hopes_for_shell(path))
    return invalid(operation, in_quotes(path) + " would need a shell to be expanded",
                   "write it from / on, or relative to the workspace");
  return {};
}

}  // namespace coop::tools
