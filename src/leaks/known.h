// Finds exact values in a text: many at once, known only at run time.
#pragma once

#include <cstddef>
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

  // Appends matches by position. In decoded text only the values themselves are searched; in the
  // original text also base64 and hexadecimal forms of the short ones.
  void find_in_text(std::string_view text, std::vector<Leak>& leaks) const;
  void find_in_decoded(std::string_view text, std::vector<Leak>& leaks) const;

  // The length of the longest value that contains a line break; 0 if there is none.
  std::size_t longest_over_lines() const { return longest_over_lines_; }

 private:
  struct Needle {
    std::string bytes{};
    std::string name{};
    Encoding encoding = Encoding::plain;
  };
  void add(Needle needle);
  void find(std::string_view text, bool (*wanted)(const Needle&), std::vector<Leak>& leaks) const;

  std::vector<Needle> needles_{};
  std::vector<bool> pairs_ =
      std::vector<bool>(std::size_t{1} << 16U);  // with which a needle begins
  std::size_t longest_over_lines_ = 0;
};

}  // namespace coop::leaks
