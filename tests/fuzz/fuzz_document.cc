// TOML documents: whatever is accepted has places within the text and stays within its limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/settings/document.h"

namespace {

using namespace coop::policy;
using coop::Position;

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

class Checker {
 public:
  explicit Checker(std::string_view text)
      : lines_(static_cast<int>(std::ranges::count(text, '\n')) + 1),
        columns_(static_cast<int>(text.size()) + 1) {}

  void table(const Table& table, int depth) const {
    Position last{};
    for (const Entry& entry : table) {
      place(entry.at);
      if (entry.at < last || has_control(entry.key)) std::abort();
      if (find(table, entry.key) != &entry) std::abort();  // each key once
      last = entry.at;
      node(entry.value, depth);
    }
  }

 private:
  void place(const Position& at) const {
    if (at.line < 1 || at.line > lines_ || at.column < 1 || at.column > columns_) std::abort();
  }

  void node(const Node& node, int depth) const {
    place(node.at);
    if (depth > 32 || type_name(node).empty()) std::abort();
    if (node.list() != nullptr)
      for (const Node& item : *node.list()) this->node(item, depth + 1);
    if (node.table() != nullptr) table(*node.table(), depth + 1);
    if (node.text() != nullptr && node.text()->find('\0') != std::string::npos) std::abort();
  }

  int lines_;
  int columns_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_document(text, "f.toml");
  if (document) {
    Checker(text).table(*document, 1);
    if (parse_document(text, "f.toml") != document) std::abort();
    return 0;
  }
  const Finding& wrong = document.error();
  if (wrong.file != "f.toml" || wrong.message.empty()) std::abort();
  if (wrong.message.size() > 204 || has_control(to_text(to_error({&wrong, 1})))) std::abort();
  return 0;
}
