// Whatever a command writes: the filter's output is a fixed point (filtering it again changes nothing), does not depend on
// where the input was split, and has none of what must never reach a terminal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "run/terminal/filter.h"

using coop::run::TerminalEncoding;
using coop::run::TerminalFilter;

namespace {

std::string filtered(std::string_view bytes, std::size_t part, TerminalEncoding encoding) {
  TerminalFilter filter(encoding);
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += part) filter.feed(bytes.substr(at, part), out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const TerminalEncoding encoding : {TerminalEncoding::utf8, TerminalEncoding::single_byte}) {
    const std::string whole = filtered(bytes, size + 1, encoding);
    if (whole != filtered(bytes, 1, encoding) || whole != filtered(bytes, 3, encoding))
      std::abort();
    if (whole != filtered(whole, whole.size() + 1, encoding)) std::abort();
    for (const std::string_view never : {"\x1b]52", "\x1b]50", "\x1b]1337", "\x1b[21t", "\x05",
                                         "\x1b_", "\x1bPtmux", "\x1b%", "\x18"})
      if (whole.find(never) != std::string::npos) std::abort();
    // What is written at the end leaves nothing that would have to be undone, but what is always undone once it was used.
    TerminalFilter filter(encoding);
    std::string out;
    filter.feed(bytes, out);
    const std::string undo = filter.end();
    if (!filter.end().empty() || undo.size() > 2048) std::abort();
    if (filtered(undo, undo.size() + 1, encoding).size() > undo.size()) std::abort();
  }
  return 0;
}
