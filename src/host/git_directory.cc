#include "host/git_directory.h"

#include <cctype>

namespace coop::host {

namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}
bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }
bool is_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '.';
}

class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  std::optional<std::string> last_value(std::string_view section, std::string_view key) {
    std::optional<std::string> found;
    while (skip_to_something()) {
      if (peek() == '[') {
        if (!read_section()) return std::nullopt;
        continue;
      }
      const std::optional<std::string> name = read_key();
      if (!name) return std::nullopt;
      std::optional<std::string> value = read_assignment();
      if (!value) return std::nullopt;
      if (section_ == section && *name == key) found = std::move(value);
    }
    return found;
  }

 private:
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return text_[position_]; }
  char next() { return text_[position_++]; }

  void skip_line() {
    while (!at_end() && next() != '\n') {
    }
  }

  // Passes over blanks, empty lines and comments; false at the end.
  bool skip_to_something() {
    while (!at_end()) {
      if (peek() == '#' || peek() == ';') {
        skip_line();
      } else if (is_blank(peek()) || peek() == '\n') {
        ++position_;
      } else {
        return true;
      }
    }
    return false;
  }

  bool read_section() {
    ++position_;
    section_.clear();
    while (!at_end() && is_name(peek())) section_ += lower(next());
    while (!at_end() && is_blank(peek())) ++position_;
    if (!at_end() && peek() == '"' && !read_subsection()) return false;
    return !at_end() && next() == ']';
  }

  bool read_subsection() {
    ++position_;
    section_ += ' ';  // no section we are asked for has a space: it can no longer match
    while (!at_end()) {
      char letter = next();
      if (letter == '"') return true;
      if (letter == '\n') return false;
      if (letter == '\\') {
        if (at_end()) return false;
        letter = next();
      }
      section_ += letter;
    }
    return false;
  }

  std::optional<std::string> read_key() {
    if (std::isalpha(static_cast<unsigned char>(peek())) == 0) return std::nullopt;
    std::string key;
    while (!at_end() && is_name(peek())) key += lower(next());
    while (!at_end() && is_blank(peek())) ++position_;
    return key;
  }

  // What follows a key up to the end of its line: nothing (git's "true") or "= value".
  std::optional<std::string> read_assignment() {
    if (at_end() || peek() == '\n' || peek() == '#' || peek() == ';') {
      skip_line();
      return std::string();
    }
    if (next() != '=') return std::nullopt;
    return read_value();
  }

  std::optional<std::string> read_value() {
    std::string value;
    std::size_t kept = 0;  // trailing blanks outside quotes do not count
    bool quoted = false;
    while (!at_end() && is_blank(peek())) ++position_;
    while (!at_end() && peek() != '\n') {
      const char letter = next();
      if (letter == '\0') return std::nullopt;
      if (letter == '"') {
        quoted = !quoted;
        kept = value.size();
      } else if (letter == '\\') {
        if (!read_escape(value)) return std::nullopt;
        kept = value.size();
      } else if (!quoted && (letter == '#' || letter == ';')) {
        skip_line();
        value.resize(kept);
        return value;
      } else {
        value += letter;
        if (quoted || !is_blank(letter)) kept = value.size();
      }
    }
    if (quoted) return std::nullopt;
    if (!at_end()) ++position_;
    value.resize(kept);
    return value;
  }

  bool read_escape(std::string& value) {
    if (at_end()) return false;
    char letter = next();
    if (letter == '\r' && !at_end() && peek() == '\n') letter = next();
    switch (letter) {
      case '\n': return true;  // the value goes on in the next line
      case 'n': value += '\n'; return true;
      case 't': value += '\t'; return true;
      case 'b': value += '\b'; return true;
      case '"':
      case '\\': value += letter; return true;
      default: return false;
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::string section_{};
};

}  // namespace

std::optional<std::string> parse_pointer(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  // git takes the text as a C string: what we would check behind a NUL, git would not see.
  if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> parse_gitfile(std::string_view text) {
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  return parse_pointer(text.substr(kPrefix.size()));
}

std::optional<std::string> config_value(std::string_view text, std::string_view section,
                                        std::string_view key) {
  return ConfigReader(text).last_value(section, key);
}

}  // namespace coop::host
