// Whether a line matches a search.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "leaks/vectorscan.h"

namespace coop::tools {

enum class Syntax : std::uint8_t { literal, regex };
// Whether a text has carriage returns, which are no part of a line at its end.
enum class LineEnds : std::uint8_t { plain, mixed };
LineEnds line_ends_of(std::string_view text);
enum class Case : std::uint8_t { counts, ignored };

// Linear time, whatever the pattern (vectorscan; no back references).
class LineMatcher {
 public:
  static Result<LineMatcher> create(const std::string& pattern, Syntax syntax, Case letters);

  // For another thread.
  Result<LineMatcher> copy() const;

  bool matches(std::string_view line);
  // The first line of `text` that matches, without its end; one without an address when there is none. `text` begins at a
  // line. Looks at all of it in one go, and at single lines only where something was found.
  std::string_view find(std::string_view text, LineEnds ends);

 private:
  std::shared_ptr<hs_database_t> database_{};
  bool whole_text_ = false;  // the pattern finds in a text what it finds in its lines
  leaks::Scratch scratch_{};
};

}  // namespace coop::tools
