#include "setup/json/json_scan.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/path.h"

namespace coop::setup {

namespace {

constexpr std::size_t kMostNesting = 64;
constexpr std::string_view kMark = "\xEF\xBB\xBF";  // a byte order mark

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Result<JsonNode> document() {
    if (text_.starts_with(kMark)) at_ = kMark.size();
    JsonNode node = TRY(value(0));
    skip();
    if (at_ != text_.size()) return error("more after the end of the value");
    return node;
  }

 private:
  std::unexpected<Error> error(std::string_view what) const {
    const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return invalid("line " + std::to_string(line) + ", column " + std::to_string(column), what);
  }

  void skip() { at_ = skip_blanks(text_, at_); }
  bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }

  Result<JsonNode> value(std::size_t depth) {
    skip();
    if (depth > kMostNesting) return error("nested too deeply");
    if (at_ >= text_.size()) return error("the file ends where a value is expected");
    if (is_at('{')) return list_of(JsonKind::object, '}', depth);
    if (is_at('[')) return list_of(JsonKind::list, ']', depth);
    const std::size_t begin = at_;
    if (is_at('"')) TRY(string());
    else TRY(word());
    const Span span{begin, at_};
    return JsonNode{.span = span, .member = span};
  }

  Result<JsonNode> list_of(JsonKind kind, char close, std::size_t depth) {
    JsonNode node{.kind = kind, .span = {at_, at_}};
    ++at_;
    for (skip(); !is_at(close); skip()) {
      JsonNode item = TRY(kind == JsonKind::object ? member(depth) : value(depth + 1));
      node.items.push_back(std::move(item));
      skip();
      if (is_at(',')) ++at_;
      else if (!is_at(close)) return error(std::string("expected , or ") + close);
    }
    ++at_;
    node.span.end = at_;
    node.member = node.span;
    return node;
  }

  Result<JsonNode> member(std::size_t depth) {
    const std::size_t begin = at_;
    if (!is_at('"')) return error("expected a name in double quotes, or }");
    std::string key = TRY(string());
    skip();
    if (!is_at(':')) return error("expected : after the name");
    ++at_;
    JsonNode node = TRY(value(depth + 1));
    node.key = std::move(key);
    node.member = {begin, node.span.end};
    return node;
  }

  Result<std::string> string() {
    const std::size_t begin = at_;
    for (++at_; !is_at('"'); ++at_) {
      if (is_at('\\')) ++at_;
      if (at_ >= text_.size() || text_[at_] == '\n') return error("a text without its closing \"");
    }
    ++at_;
    const Json parsed = Json::parse(text_.substr(begin, at_ - begin), nullptr, false);
    if (!parsed.is_string()) return error("not a valid text");
    return parsed.get<std::string>();
  }

  Result<void> word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  std::string_view("+-._").contains(text_[at_])))
      ++at_;
    const Json parsed = Json::parse(text_.substr(begin, at_ - begin), nullptr, false);
    if (!parsed.is_discarded()) return {};
    at_ = begin;
    return error("expected a value");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (is_blank(rest.front())) {
      ++at;
    } else if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = text.find("*/", at + 2);
      if (end == std::string_view::npos) return at;
      at = end + 2;
    } else {
      return at;
    }
  }
  return at;
}

Result<JsonNode> scan_json(std::string_view text) {
  if (!is_utf8(text)) return invalid("", "not valid UTF-8");
  return Scanner(text).document();
}

const JsonNode* find_member(const JsonNode& object, std::string_view key) {
  if (object.kind != JsonKind::object) return nullptr;
  const JsonNode* found = nullptr;
  for (const JsonNode& item : object.items)
    if (item.key == key) found = &item;
  return found;
}

Json json_of(const JsonNode& node, std::string_view text) {
  if (node.kind == JsonKind::scalar)
    return Json::parse(text.substr(node.span.begin, node.span.end - node.span.begin), nullptr,
                       false);
  Json json = node.kind == JsonKind::list ? Json::array() : Json::object();
  for (const JsonNode& item : node.items)
    if (node.kind == JsonKind::list) json.push_back(json_of(item, text));
    else json[item.key] = json_of(item, text);
  return json;
}

}  // namespace coop::setup
