#include "setup/toml/toml_scan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace coop::setup {

namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Statement> statements() {
    for (skip_lines(); at_ < text_.size(); skip_lines()) {
      const std::size_t begin = text_.rfind('\n', at_) + 1;
      Statement next = text_[at_] == '[' ? header() : value();
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
      next.line = {begin, at_};
      found_.push_back(std::move(next));
    }
    return std::move(found_);
  }

 private:
  bool is_at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void skip(std::string_view what) {
    at_ = std::min(text_.find_first_not_of(what, at_), text_.size());
  }

  void skip_lines() {
    for (skip(" \t\r\n"); is_at("#"); skip(" \t\r\n"))
      at_ = std::min(text_.find('\n', at_), text_.size());
  }

  Statement header() {
    const bool is_list = is_at("[[");
    at_ += is_list ? 2 : 1;
    table_ = keys();
    const auto is_inside = [&](const std::vector<std::string>& list) {
      return list.size() <= table_.size() &&
             std::ranges::equal(list, std::span(table_).first(list.size()));
    };
    if (is_list) lists_.push_back(table_);
    in_list_ = std::ranges::any_of(lists_, is_inside);
    return {.kind = is_list ? StatementKind::table_of_list : StatementKind::table,
            .path = table_,
            .table = table_.size(),
            .in_list = in_list_};
  }

  Statement value() {
    Statement statement{.path = table_, .table = table_.size(), .in_list = in_list_};
    for (std::string& key : keys()) statement.path.push_back(std::move(key));
    if (is_at("=")) ++at_;
    skip(" \t");
    statement.value.begin = at_;
    skip_value();
    const std::size_t last = text_.find_last_not_of(" \t\r", at_ == 0 ? 0 : at_ - 1);
    statement.value.end = std::max(statement.value.begin, last + 1);
    return statement;
  }

  // `a . "b c"`, up to the first character that belongs to no key.
  std::vector<std::string> keys() {
    std::vector<std::string> names;
    for (;;) {
      skip(" \t");
      names.push_back(key());
      skip(" \t");
      if (!is_at(".")) return names;
      ++at_;
    }
  }

  std::string key() {
    const std::size_t begin = at_;
    if (is_at("\"")) {
      skip_string();
      const std::string_view quoted = text_.substr(begin, at_ - begin);
      const Json name = Json::parse(quoted, nullptr, false);
      return name.is_string() ? name.get<std::string>() : std::string(quoted);
    }
    if (is_at("'")) {
      skip_string();
      return std::string(text_.substr(begin + 1, at_ - begin < 2 ? 0 : at_ - begin - 2));
    }
    at_ = std::min(text_.find_first_of(".=] \t\r\n", at_), text_.size());
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_string() {
    const char quote = text_[at_];
    const std::string three(3, quote);
    const bool is_long = is_at(three);
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (is_long && is_at(three)) {
        at_ += 3;
        while (at_ < text_.size() && text_[at_] == quote) ++at_;  // quotes before the closing ones
        return;
      } else if (!is_long && (text_[at_] == quote || text_[at_] == '\n')) {
        if (text_[at_] == quote) ++at_;
        return;
      } else {
        ++at_;
      }
    }
  }

  // Up to the end of the line, or the comment there, that is in no string and no bracket.
  void skip_value() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string();
        continue;
      }
      if (depth == 0 && (c == '\n' || c == '#')) return;
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && depth > 0) --depth;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> table_{};
  std::vector<std::vector<std::string>> lists_{};
  bool in_list_ = false;
  std::vector<Statement> found_{};
};

}  // namespace

std::vector<Statement> scan_toml(std::string_view text) { return Scanner(text).statements(); }

}  // namespace coop::setup
