#include "guards/git/config.h"

#include <cctype>
#include <utility>

namespace coop::guards {

namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}
// Whitespace as git defines it: neither vertical tabs nor form feeds.
bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }
bool is_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '.';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  Syntax read(const std::function<void(const GitSetting&)>& visit) {
    while (skip_to_something()) {
      if (peek() == '[') {
        if (!read_section()) return Syntax::malformed;
        continue;
      }
      if (!read_key() || !read_assignment()) return Syntax::malformed;
      visit(setting_);
    }
    return syntax_;
  }

 private:
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return text_[position_]; }
  char next() { return text_[position_++]; }

  void skip_line() {
    while (!at_end() && next() != '\n') {
    }
  }
  void skip_blanks() {
    while (!at_end() && is_blank(peek())) ++position_;
  }

  // Skips blanks, empty lines and comments; false at the end.
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
    setting_.section.clear();
    setting_.subsection.reset();
    while (!at_end() && is_name(peek())) setting_.section += lower(next());
    skip_blanks();
    if (!at_end() && peek() == '"' && !read_subsection()) return false;
    return !at_end() && next() == ']';
  }

  bool read_subsection() {
    ++position_;
    std::string& subsection = setting_.subsection.emplace();
    while (!at_end()) {
      char letter = next();
      if (letter == '"') return true;
      if (letter == '\\' && !at_end()) letter = next();
      if (letter == '\n') return false;
      subsection += letter;
    }
    return false;
  }

  bool read_key() {
    if (std::isalpha(static_cast<unsigned char>(peek())) == 0) return false;
    setting_.key.clear();
    while (!at_end() && is_name(peek())) setting_.key += lower(next());
    skip_blanks();
    return true;
  }

  // What follows a key up to the end of its line: nothing or "= value".
  bool read_assignment() {
    setting_.value.reset();
    if (at_end() || peek() == '\n' || peek() == '#' || peek() == ';') {
      skip_line();
      return true;
    }
    return next() == '=' && read_value();
  }

  bool read_value() {
    std::string value;
    std::size_t kept = 0;  // trailing blanks outside quotes do not count
    bool quoted = false;
    while (!at_end() && peek() != '\n') {
      const char letter = next();
      if (letter == '"') {
        quoted = !quoted;
        kept = value.size();
      } else if (letter == '\\') {
        if (!read_escape(value)) return false;
        kept = value.size();
      } else if (!quoted && (letter == '#' || letter == ';')) {
        break;
      } else if (quoted || !is_blank(letter)) {
        value += letter;
        kept = value.size();
      } else if (!value.empty()) {
        value += letter;
      }
    }
    skip_line();
    value.resize(kept);
    setting_.value = cut_at_nul(std::move(value));
    return !quoted;
  }

  // Git treats a value as a C string.
  std::string cut_at_nul(std::string value) {
    const std::size_t nul = value.find('\0');
    if (nul == std::string::npos) return value;
    syntax_ = Syntax::malformed;
    value.resize(nul);
    return value;
  }

  bool read_escape(std::string& value) {
    if (at_end()) return true;  // git sees the end of the line there
    char letter = next();
    if (letter == '\r' && !at_end() && peek() == '\n') letter = next();
    switch (letter) {
      case '\n': return true;  // line continuation
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
  GitSetting setting_{};
  Syntax syntax_ = Syntax::good;
};

}  // namespace

Syntax for_each_setting(std::string_view text,
                        const std::function<void(const GitSetting&)>& visit) {
  return Parser(text).read(visit);
}

}  // namespace coop::guards
