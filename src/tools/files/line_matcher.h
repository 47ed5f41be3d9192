// Whether a line matches a search.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coop::tools {

enum class Syntax : std::uint8_t { literal, regex };
enum class Case : std::uint8_t { counts, ignored };

// Linear time, whatever the pattern (vectorscan; no back references).
class LineMatcher {
 public:
  static Result<LineMatcher> create(const std::string& pattern, Syntax syntax, Case letters);
  LineMatcher(LineMatcher&&) noexcept;
  LineMatcher& operator=(LineMatcher&&) noexcept;
  ~LineMatcher();

  bool matches(std::string_view line);

 private:
  struct State;
  explicit LineMatcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace coop::tools
