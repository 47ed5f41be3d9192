// The patterns of policies/leaks.txt, compiled while building (tools/leakgen).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coop::tools {

struct LeakPattern {
  // What must come after a match; vectorscan has no word for it.
  enum class Follows : std::uint8_t { anything, none_of, one_of, block };
  std::string_view name;
  std::string_view reason;
  bool begins_word;  // see begins_word() below
  Follows follows;
  std::array<std::uint64_t, 4> set;  // of bytes, for none_of and one_of
};

// A place where a pattern matches.
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

  // Appends what is found, in no order. A PEM block's hit is its first line. Many threads may call at
  // once. `failed`: no memory, or more than 2 GiB of text; then nothing is known about it.
  Scanned scan(std::string_view text, std::vector<LeakHit>& hits) const;

 private:
  struct State;
  explicit LeakDatabase(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

const LeakPattern& leak_pattern(std::size_t index);

// Whether a word begins at `place`: behind anything that is no letter, digit or "_", and behind an escape, whose last
// letter belongs to no word: "%3D", "\\n", "\\x20", "\\u003d", a terminal's colour.
bool begins_word(std::string_view text, std::size_t place);

// What follows the first line of a PEM block.
struct PemBlock {
  enum class Kind : std::uint8_t {
    no_key,     // it only looks like one: text about keys
    undecided,  // as far as the text goes; more of it may bring a key
    open,       // a key, and more text may change where it ends
    closed,
  };
  Kind kind = Kind::no_key;
  std::size_t end = 0;  // in the text, of an open or closed one
};

inline constexpr std::size_t kMostPem = 16384;

// The block whose first line is [begin, header_end) of the text. One without an END line ends with the
// text or after kMostPem bytes.
PemBlock pem_block(std::string_view text, std::size_t begin, std::size_t header_end);

}  // namespace coop::tools
