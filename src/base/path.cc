#include "base/path.h"

#include <algorithm>
#include <cstdio>

namespace coop {

namespace {

void append_components(std::vector<std::string_view>& parts, std::string_view path) {
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    start = end + 1;
  }
}

// The length of the valid UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t index = 1; index < length; ++index)
    if ((byte(index) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
  if (first == 0xed && byte(1) > 0x9f) return 0;  // surrogates
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  if (first == 0xc2 && byte(1) < 0xa0) return 0;  // C1 controls: terminals interpret them
  return length;
}

}  // namespace

Path normalize(std::string_view path, std::string_view base) {
  std::vector<std::string_view> parts;
  if (!path.starts_with('/')) append_components(parts, base);
  append_components(parts, path);
  if (parts.empty()) return "/";
  Path result;
  for (const std::string_view part : parts) {
    result += '/';
    result += part;
  }
  return result;
}

Path join(std::string_view directory, std::string_view name) {
  Path result(directory);
  if (name.empty()) return result;
  if (!result.ends_with('/')) result += '/';
  result += name;
  return result;
}

Path parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return "/";
  return Path(path.substr(0, slash));
}

std::string_view name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_within(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return path.starts_with('/');
  // The end of the component first: it decides nearly always, without comparing text.
  if (path.size() < ancestor.size()) return false;
  if (path.size() > ancestor.size() && path[ancestor.size()] != '/') return false;
  return path.starts_with(ancestor);
}

std::string_view relative_to(std::string_view path, std::string_view ancestor) {
  if (path.size() <= ancestor.size()) return {};
  path.remove_prefix(ancestor == "/" ? 1 : ancestor.size() + 1);
  return path;
}

std::size_t depth_of(std::string_view path) {
  if (path == "/") return 0;
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

std::vector<Path> ancestors_below(std::string_view path, std::string_view top) {
  std::vector<Path> result;
  for (Path up = parent_of(path); up.size() > top.size() && is_within(up, top); up = parent_of(up))
    result.push_back(up);
  std::reverse(result.begin(), result.end());
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const bool ascii = static_cast<unsigned char>(text.front()) < 0x80;
    const std::size_t length = ascii ? 1 : utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_deceptive(std::string_view text) {
  const auto byte = [&](std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  if (byte(0) == 0xc2) return byte(1) < 0xa0 || byte(1) == 0xad;  // C1 controls, soft hyphen
  if (byte(0) == 0xd8) return byte(1) == 0x9c;                    // U+061C
  if (byte(0) == 0xe2 && byte(1) == 0x80)
    return (byte(2) >= 0x8b && byte(2) <= 0x8f) || (byte(2) >= 0xa8 && byte(2) <= 0xae);
  if (byte(0) == 0xe2 && byte(1) == 0x81) return byte(2) >= 0xa0 && byte(2) <= 0xaf;
  return byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf;  // U+FEFF
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t index = 0; index < text.size();) {
    const auto byte = static_cast<unsigned char>(text[index]);
    if (byte >= 0x20 && byte < 0x7f && byte != '\\') {
      result += text[index++];
      continue;
    }
    const std::size_t length = byte < 0x80 ? 0 : utf8_length(text.substr(index));
    if (length > 0 && !is_deceptive(text.substr(index))) {
      result += text.substr(index, length);
      index += length;
      continue;
    }
    // All bytes of a character, or one invalid byte.
    for (std::size_t end = index + std::max<std::size_t>(length, 1); index < end; ++index) {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text[index]));
      result += escaped;
    }
  }
  return result;
}

std::string in_quotes(std::string_view text) { return '"' + printable(text) + '"'; }

}  // namespace coop
