#include "tools/files/line_matcher.h"

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

}  // namespace

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
  const hs_error_t compiled = syntax == Syntax::literal
                                  ? hs_compile_lit(pattern.c_str(), flags, pattern.size(),
                                                   HS_MODE_BLOCK, nullptr, &database, &problem)
                                  : hs_compile(pattern.c_str(), flags | HS_FLAG_ALLOWEMPTY,
                                               HS_MODE_BLOCK, nullptr, &database, &problem);
  if (compiled != HS_SUCCESS) {
    const std::string why = problem != nullptr ? printable(problem->message) : "no reason given";
    hs_free_compile_error(problem);
    return invalid("search", "\"" + printable(pattern) + "\" is not a regular expression: " + why,
                   "leave \"regex\" out to search for the text itself");
  }
  LineMatcher matcher;
  matcher.database_.reset(database);
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

}  // namespace coop::tools
