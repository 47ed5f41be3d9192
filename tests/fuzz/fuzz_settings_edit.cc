// Settings files of MCP clients: what was changed and taken back is as it was, letter by letter, and two changes can be taken
// back in either order.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "setup/edit.h"

namespace {

using namespace coop::setup;

const std::array<Change, 3> kJsonChanges{
    Change{ChangeKind::set, {"a", "coop"}, coop::Json{{"c", {"x", 1}}}},
    Change{ChangeKind::add, {"p", "deny"}, "Bash"}, Change{ChangeKind::set, {"s"}, "read"}};
const std::array<Change, 3> kTomlChanges{Change{ChangeKind::set, {"a", "coop", "c"}, "x"},
                                         Change{ChangeKind::set, {"f", "shell"}, false},
                                         Change{ChangeKind::set, {"s"}, "read"}};

std::string undone(Format format, const std::string& text, const Done& done) {
  const auto result = undo(format, text, done);
  if (!result) return text;  // refused: nothing was changed
  if (!check_syntax(format, result->text)) std::abort();
  return result->text;
}

// A second change on top, and the first one taken back below it.
void try_second(Format format, const Edited& first, const Change& change) {
  const auto second = edit(format, first.text, change);
  if (!second || second->done.empty()) return;
  if (undone(format, second->text, second->done.front()) != first.text) std::abort();
  const std::string without = undone(format, second->text, first.done.front());
  const auto again = edit(format, without, change);
  if (!again || !again->done.empty()) std::abort();  // the second change is still there
}

void try_changes(Format format, std::string_view text, const std::array<Change, 3>& changes) {
  const bool is_valid = check_syntax(format, text).has_value();
  for (std::size_t at = 0; at < changes.size(); ++at) {
    const auto edited = edit(format, text, changes[at]);
    if (!edited) continue;
    if (!is_valid || !check_syntax(format, edited->text)) std::abort();
    if (edited->done.empty() != (edited->text == text)) std::abort();
    if (edited->done.empty()) continue;
    if (undone(format, edited->text, edited->done.front()) != text) std::abort();
    const auto again = edit(format, edited->text, changes[at]);
    if (!again || !again->done.empty()) std::abort();
    try_second(format, *edited, changes[(at + 1) % changes.size()]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((data[0] & 1) != 0) try_changes(Format::json, text, kJsonChanges);
  else try_changes(Format::toml, text, kTomlChanges);
  return 0;
}
