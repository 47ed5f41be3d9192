// The patterns of policies/leaks.txt, compiled at build time (codegen/leakgen.cc).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coop::leaks {

struct LeakPattern {
  // What must follow a match; vectorscan has no lookahead.
  enum class Follows : std::uint8_t { anything, none_of, one_of, block };
  std::string_view name;
  std::string_view reason;
  bool begins_word;  // see begins_word() below
  Follows follows;
  std::array<std::uint64_t, 4> set;  // of bytes, for none_of and one_of
};

// A match of a pattern.
struct LeakHit {
  std::size_t pattern = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

enum class Scanned : std::uint8_t { whole, failed };

class LeakDatabase {
 public:
  static Result<LeakDatabase> create();
  LeakDatabase(LeakDatabase&&) noexcept;
  LeakDatabase& operator=(LeakDatabase&&) noexcept;
  ~LeakDatabase();

  // Appends matches, unordered. A PEM block's hit is its first line. Thread-safe. `failed`: out of
  // memory, or more than 2 GiB of text; the text is then unscanned.
  Scanned scan(std::string_view text, std::vector<LeakHit>& hits) const;

 private:
  struct State;
  explicit LeakDatabase(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

const LeakPattern& leak_pattern(std::size_t index);

// Whether a word begins at `place`: after anything that is no letter, digit or "_", and after an
// escape, whose last letter belongs to no word: "%3D", "\\n", "\\x20", "\\u003d", a terminal's
// colour.
bool begins_word(std::string_view text, std::size_t place);

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
