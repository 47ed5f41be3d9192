// Exact values in a text: many at once, none of them known before the program runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/leaks.h"

namespace coop::tools {

class KnownValues {
 public:
  static constexpr std::size_t kLeast = 8;

  explicit KnownValues(std::span<const LeakScanner::Known> known);

  struct Hit {
    std::size_t value = 0;  // which of those given
    Encoding encoding = Encoding::plain;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Appends what is found, in the order of places. Decoded text has the values themselves only; in a
  // text as it came, base64 and hexadecimal forms of the short ones are found too.
  void find_in_text(std::string_view text, std::vector<Hit>& hits) const;
  void find_in_decoded(std::string_view text, std::vector<Hit>& hits) const;

  // The longest value that has a line break in it; 0 when none has.
  std::size_t longest_over_lines() const { return longest_over_lines_; }

 private:
  struct Needle {
    std::string bytes{};
    std::size_t value = 0;
    Encoding encoding = Encoding::plain;
  };
  // Looks for the first eight bytes of each needle. The two bytes that end a window of eight say how
  // far it can move: mostly by seven bytes (Wu and Manber's search).
  class Search {
   public:
    void add(Needle needle);
    void prepare();
    void find(std::string_view text, std::vector<Hit>& hits) const;

   private:
    std::vector<Needle> needles_{};
    std::vector<std::uint8_t> shift_{};
  };

  Search text_{};
  Search decoded_{};
  std::size_t longest_over_lines_ = 0;
};

}  // namespace coop::tools
