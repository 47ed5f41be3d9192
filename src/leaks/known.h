// Finds exact values in a text: many at once, known only at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leaks/leaks.h"

namespace coop::leaks {

class KnownValues {
 public:
  static constexpr std::size_t kLeast = 8;

  explicit KnownValues(std::span<const LeakScanner::Known> known);

  struct Hit {
    std::size_t value = 0;  // index of the given value
    Encoding encoding = Encoding::plain;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Appends matches by position. In decoded text only the values themselves are searched; in the
  // original text also base64 and hexadecimal forms of the short ones.
  void find_in_text(std::string_view text, std::vector<Hit>& hits) const;
  void find_in_decoded(std::string_view text, std::vector<Hit>& hits) const;

  // The length of the longest value that contains a line break; 0 if there is none.
  std::size_t longest_over_lines() const { return longest_over_lines_; }

 private:
  struct Needle {
    std::string bytes{};
    std::size_t value = 0;
    Encoding encoding = Encoding::plain;
  };
  // Searches for the first eight bytes of each needle. The last two bytes of an eight-byte window
  // determine the shift: mostly seven bytes (Wu-Manber).
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

}  // namespace coop::leaks
