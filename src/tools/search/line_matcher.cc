#include "tools/search/line_matcher.h"

#include <hs/hs_compile.h>

#include "base/path.h"

namespace coop::tools {

namespace {

constexpr std::size_t kLongestPattern = 1000;
constexpr std::size_t kLongestLine = 1 << 16;  // searched; the rest is treated as data, not text

int found_one(unsigned /*id*/, unsigned long long /*from*/, unsigned long long /*to*/,
              unsigned /*flags*/, void* found) {
  *static_cast<bool*>(found) = true;
  return 1;  // no more
}

constexpr unsigned long long kNowhere = ~0ULL;

int found_end(unsigned /*id*/, unsigned long long /*from*/, unsigned long long to,
              unsigned /*flags*/, void* found) {
  *static_cast<unsigned long long*>(found) = to;
  return 1;  // no more
}

}  // namespace

LineEnds line_ends_of(std::string_view text) {
  return text.contains('\r') ? LineEnds::mixed : LineEnds::plain;
}

Result<LineMatcher> LineMatcher::create(const std::string& pattern, Syntax syntax, Case letters) {
  if (pattern.empty()) return invalid("search", "the pattern is empty");
  if (pattern.size() > kLongestPattern)
    return invalid("search", "the pattern is too long (at most 1000 bytes)");
  if (pattern.contains('\n') || pattern.contains('\0'))
    return invalid("search", "the pattern has a line end or NUL in it",
                   "lines are searched one by one");
  hs_database_t* database = nullptr;
  hs_scratch_t* scratch = nullptr;
  const unsigned flags = HS_FLAG_SINGLEMATCH | (letters == Case::ignored ? HS_FLAG_CASELESS : 0U);
  hs_compile_error_t* problem = nullptr;
  const hs_error_t compiled =
      syntax == Syntax::literal
          ? hs_compile_lit(pattern.c_str(), flags, pattern.size(), HS_MODE_BLOCK, nullptr,
                           &database, &problem)
          : hs_compile(pattern.c_str(), flags | HS_FLAG_ALLOWEMPTY | HS_FLAG_MULTILINE,
                       HS_MODE_BLOCK, nullptr, &database, &problem);
  if (compiled != HS_SUCCESS) {
    const std::string why = problem != nullptr ? printable(problem->message) : "no reason given";
    hs_free_compile_error(problem);
    return invalid("search", "\"" + printable(pattern) + "\" is not a regular expression: " + why,
                   "leave \"regex\" out to search for the text itself");
  }
  LineMatcher matcher;
  matcher.database_ = leaks::Database(database);
  // These are about the beginning and the end of what is looked at.
  matcher.whole_text_ =
      syntax == Syntax::literal || (!pattern.contains("\\A") && !pattern.contains("\\z") &&
                                    !pattern.contains("\\Z") && !pattern.contains("(?"));
  if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS) return system_error_of(ENOMEM, "search");
  matcher.scratch_.reset(scratch);
  return matcher;
}

bool LineMatcher::matches(std::string_view line) {
  bool found = false;
  line = line.substr(0, kLongestLine);
  // An empty line may have no address; the scanner wants one.
  const char* const text = line.empty() ? "" : line.data();
  hs_scan(database_.get(), text, static_cast<unsigned>(line.size()), 0, scratch_.get(), found_one,
          &found);
  return found;
}

Result<LineMatcher> LineMatcher::copy() const {
  LineMatcher other;
  other.database_ = database_;
  other.whole_text_ = whole_text_;
  hs_scratch_t* scratch = nullptr;
  if (hs_clone_scratch(scratch_.get(), &scratch) != HS_SUCCESS)
    return system_error_of(ENOMEM, "search");
  other.scratch_.reset(scratch);
  return other;
}

// Matches come in the order of their ends. A line that matches by itself matches as a part of the text too, so the first
// end is in that line or in an earlier one: in a match of several lines, which is none.
std::string_view LineMatcher::find(std::string_view text, LineEnds ends) {
  const bool whole = whole_text_ && ends == LineEnds::plain;
  while (!text.empty()) {
    std::size_t end = 0;
    if (whole) {
      unsigned long long found = kNowhere;
      hs_scan(database_.get(), text.data(), static_cast<unsigned>(text.size()), 0, scratch_.get(),
              found_end, &found);
      if (found == kNowhere || found >= text.size()) {
        if (found == kNowhere || text.ends_with('\n')) return {};
        found = text.size();
      }
      const std::size_t before = found == 0 ? std::string_view::npos : text.rfind('\n', found - 1);
      text.remove_prefix(before == std::string_view::npos ? 0 : before + 1);
    }
    end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (matches(line)) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

}  // namespace coop::tools
