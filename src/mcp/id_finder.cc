#include "mcp/id_finder.h"

#include "mcp/protocol.h"

namespace coop::mcp {

namespace {

constexpr std::size_t kLongest = 256;  // of an id

}  // namespace

void IdFinder::feed(std::string_view piece) {
  for (const char c : piece) take(c);
}

void IdFinder::take(char c) {
  const bool separates = !in_string_ && (c == ':' || c == ',' || c == '}');
  if (depth_ == 1 && separates) {
    if (c == ':') {
      name_ = current_;
    } else if (is_value_ && name_ == "\"id\"") {
      found_ = current_;
    }
    is_value_ = c == ':';
    current_.clear();
  } else if (depth_ == 1 && current_.size() < kLongest && (in_string_ || c > ' ')) {
    current_ += c;
  }
  if (escaped_) {
    escaped_ = false;
  } else if (in_string_) {
    escaped_ = c == '\\';
    if (c == '"') in_string_ = false;
  } else if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    --depth_;
  }
}

Json IdFinder::id() const {
  const Json value = parse_json(found_);
  return is_id(value) ? value : Json();
}

}  // namespace coop::mcp
