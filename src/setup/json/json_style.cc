#include "setup/json/json_style.h"

#include <nlohmann/json.hpp>

namespace coop::setup {

namespace {

// Behind the last thing inside that is no blank: a value, a comma or a comment.
std::size_t end_of_contents(std::string_view text, const JsonNode& container) {
  const std::size_t last = text.find_last_not_of(" \t\r\n", container.span.end - 2);
  return last + 1;
}

// Behind a comment that follows on the same line: it is about what stands before it.
std::size_t end_of_remark(std::string_view text, std::size_t at) {
  const std::size_t line_end = std::min(text.find_first_of("\r\n", at), text.size());
  const std::size_t first = text.find_first_not_of(" \t", at);
  if (first >= line_end || !text.substr(first).starts_with("//")) return at;
  return line_end;
}

Replacement into_empty(std::string_view text, const JsonNode& container, const JsonStyle& style,
                       std::string_view name, const Json& value) {
  const std::string base = indentation_at(text, container.span.begin);
  const std::size_t open = container.span.begin + 1;
  const std::size_t close = container.span.end - 1;
  const std::size_t contents = end_of_contents(text, container);  // a comment, or nothing
  const std::size_t begin = std::max(open, contents);
  if (style.flat) return {{begin, close}, std::string(name) + written(value, style, "")};
  const std::string inner = base + style.unit;
  const std::string item =
      style.line_end + inner + std::string(name) + written(value, style, inner);
  return {{begin, close}, item + style.line_end + base};
}

}  // namespace

JsonStyle style_of(std::string_view text, const JsonNode& root) {
  JsonStyle style;
  const std::size_t line_end = text.find('\n');
  if (line_end != std::string_view::npos && line_end > 0 && text[line_end - 1] == '\r')
    style.line_end = "\r\n";
  if (root.items.empty()) return style;
  style.flat = !piece(text, root.span).contains('\n');
  const std::size_t first = root.items.front().member.begin;
  const std::size_t line = text.rfind('\n', first) + 1;  // npos + 1 is 0
  if (line > root.span.begin && first > line &&
      text.substr(line, first - line).find_first_not_of(" \t") == std::string_view::npos)
    style.unit = text.substr(line, first - line);
  return style;
}

std::string written(const Json& value, const JsonStyle& style, std::string_view indentation) {
  const auto replace = Json::error_handler_t::replace;
  if (style.flat) return value.dump(-1, ' ', false, replace);
  const int width = static_cast<int>(style.unit.size());
  const std::string lines = value.dump(width, style.unit.front(), false, replace);
  std::string text;
  for (const char c : lines)
    if (c == '\n') text += style.line_end + std::string(indentation);
    else text += c;
  return text;
}

Replacement insertion(std::string_view text, const JsonNode& container, const JsonStyle& style,
                      std::string_view name, const Json& value) {
  if (container.items.empty()) return into_empty(text, container, style, name, value);
  const Span first = container.items.front().member;
  const Span last = container.items.back().member;
  const bool lines =
      text.substr(container.span.begin, first.begin - container.span.begin).contains('\n');
  const std::size_t next = skip_blanks(text, last.end);
  const bool has_comma = text[next] == ',';
  const std::size_t begin = has_comma ? next + 1 : last.end;
  const std::string comma = has_comma ? "" : ",";
  const std::string end = has_comma ? "," : "";
  if (!lines) {
    JsonStyle flat = style;
    flat.flat = true;
    return {{begin, begin}, comma + " " + std::string(name) + written(value, flat, "") + end};
  }
  const std::string indentation = indentation_at(text, first.begin);
  const std::size_t behind = end_of_remark(text, begin);
  return {{begin, behind},
          comma + std::string(text.substr(begin, behind - begin)) + style.line_end + indentation +
              std::string(name) + written(value, style, indentation) + end};
}

}  // namespace coop::setup
