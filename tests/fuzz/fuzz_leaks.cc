// Secrets in any bytes: places are sorted and inside the text, and a stream finds what a block does.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "leaks/leaks.h"

namespace {

using namespace coop::leaks;

const LeakScanner& scanner() {
  static const std::vector<LeakScanner::Known> known{{"SHORT", "hunter22"},
                                                     {"LINES", "one two\nthree"}};
  static const coop::Result<LeakScanner> made = LeakScanner::create(known);
  if (!made) std::abort();
  return *made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<Leak> leaks = scanner().find(text);
  std::size_t end = 0;
  for (const Leak& leak : leaks) {
    if (leak.begin < end || leak.end <= leak.begin || leak.end > size) std::abort();
    end = leak.end;
  }
  // Pieces of sizes that depend on the text.
  LeakStream stream(scanner());
  std::string out;
  for (std::size_t place = 0; place < size;) {
    const std::size_t piece = 1 + data[place] % 97U;
    out += stream.feed(text.substr(place, piece));
    place += piece;
  }
  out += stream.finish();
  if (stream.found() != leaks || out != redacted(text, leaks)) std::abort();
  return 0;
}
