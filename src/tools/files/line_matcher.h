// Whether a line matches a search.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "leaks/vectorscan.h"

namespace coop::tools {

enum class Syntax : std::uint8_t { literal, regex };
enum class Case : std::uint8_t { counts, ignored };

// Linear time, whatever the pattern (vectorscan; no back references).
class LineMatcher {
 public:
  static Result<LineMatcher> create(const std::string& pattern, Syntax syntax, Case letters);

  bool matches(std::string_view line);

 private:
  leaks::Database database_{};
  leaks::Scratch scratch_{};
};

}  // namespace coop::tools
