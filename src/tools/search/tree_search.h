// Finds lines in all files below a directory: several threads, results in the order of names.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "tools/files/view.h"
#include "tools/search/line_matcher.h"

namespace coop::tools {

enum class IgnoreFiles : std::uint8_t { respected, disregarded };

struct SearchRequest {
  LineMatcher matcher;
  std::string glob{};  // empty: all names
  IgnoreFiles ignore = IgnoreFiles::respected;
};

// What was found up to the last line that is shown: the same however the threads were scheduled, unless time ran out.
struct SearchResult {
  std::string text{};
  std::size_t lines = 0;
  std::size_t files = 0;    // searched
  std::size_t passed = 0;   // binary, huge, unreadable or hidden
  std::size_t ignored = 0;  // files and directories
  bool cut = false;         // there is more
  bool late = false;
  bool incomplete = false;  // too deep, too many in one directory, or not readable
};

// `top` is a file or a directory. No symlink is followed.
Result<SearchResult> search_tree(const FileView& view, const OpenedFile& top,
                                 SearchRequest request);

}  // namespace coop::tools
