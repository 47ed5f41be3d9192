// The patterns of policies/leaks.txt, compiled at build time (codegen/leakgen.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "leaks/leaks.h"
#include "leaks/vectorscan.h"

namespace coop::leaks {

class LeakDatabase {
 public:
  static Result<LeakDatabase> create();

  Result<Scratch> make_scratch() const;
  // Appends matches, unordered. Thread-safe. An error: out of memory, or more than 2 GiB of text.
  Result<void> scan(std::string_view text, const Scratch& scratch, std::vector<Leak>& leaks) const;

 private:
  explicit LeakDatabase(Database database) : database_(std::move(database)) {}
  Database database_;
};

// The classification of a PEM block.
struct PemBlock {
  enum class Kind : std::uint8_t {
    no_key,     // no key in it: text about keys
    undecided,  // the text ends here; later text may contain a key
    open,       // a key whose end may still move with later text
    closed,
  };
  Kind kind = Kind::no_key;
  std::size_t end = 0;  // in the text, for open and closed
};

inline constexpr std::size_t kMostPem = 16384;

// The block whose first line is [begin, header_end) of the text. One without an END line ends at
// the end of the text or after kMostPem bytes.
PemBlock pem_block(std::string_view text, std::size_t begin, std::size_t header_end);

}  // namespace coop::leaks
