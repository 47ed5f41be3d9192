#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "base/path.h"
#include "base/wildcard.h"
#include "tools/files/file_tools.h"
#include "tools/files/line_matcher.h"
#include "tools/files/lookup.h"
#include "tools/files/walk.h"
#include "tools/shown.h"
#include "tools/values.h"

namespace coop::tools {

namespace {

constexpr std::size_t kMostMatches = 200;
constexpr std::size_t kLongestShown = 300;
constexpr std::size_t kMostSearchedSize = std::size_t{10} << 20;
constexpr int kDeepestSearch = 64;
constexpr std::chrono::seconds kMostTime{10};

class Search {
 public:
  Search(LineMatcher matcher, std::string glob)
      : matcher_(std::move(matcher)), glob_(std::move(glob)) {}

  Next visit(const WalkEntry& entry) {
    if (std::chrono::steady_clock::now() > deadline_) {
      late_ = true;
      return Next::stop;
    }
    // Skip git's own files, which repeat the tree.
    if (S_ISDIR(entry.status.st_mode)) return entry.name == ".git" ? Next::pass : Next::enter;
    if (!S_ISREG(entry.status.st_mode)) return Next::pass;
    if (!glob_.empty() && !matches_wildcard(glob_, entry.name)) return Next::pass;
    look_in(entry);
    return cut_ ? Next::stop : Next::pass;
  }

  ToolOutput finish(const Walked& walked) {
    ToolOutput output{.text = std::move(text_)};
    const std::size_t passed = passed_ + walked.hidden;
    if (lines_ == 0) output.text = "[no line matches]\n";
    if (cut_)
      output.text +=
          "[cut: only the first " + std::to_string(lines_) + " matching lines are shown]\n";
    if (late_) output.text += "[stopped after 10 seconds: search in a smaller directory]\n";
    if (walked.incomplete) output.text += "[some directories were not searched]\n";
    if (passed > 0)
      output.text += "[" + std::to_string(passed) + " binary, huge or hidden files passed over]\n";
    output.structured = {{"outcome", "ok"},
                         {"matches", lines_},
                         {"files", files_},
                         {"passed_over", passed},
                         {"truncated", cut_ || late_ || walked.incomplete}};
    return output;
  }

 private:
  void look_in(const WalkEntry& entry) {
    const bool huge = static_cast<std::size_t>(entry.status.st_size) > kMostSearchedSize;
    Result<std::string> text = std::string();
    if (!huge) {
      const Result<UniqueFd> fd = reopen(entry.fd, entry.status, Request{"open", entry.shown});
      text = fd ? read_at_most(fd->get(), kMostSearchedSize, entry.shown)
                : Result<std::string>(std::unexpected(fd.error()));
    }
    if (huge || !text || text->size() > kMostSearchedSize || looks_binary(*text)) {
      ++passed_;
      return;
    }
    ++files_;
    look_through(*text, printable(entry.shown));
  }

  void look_through(std::string_view text, const std::string& shown) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!matcher_.matches(line)) continue;
      const std::string found = shown + ":" + std::to_string(number) + ": " +
                                as_utf8(line.substr(0, kLongestShown)) +
                                (line.size() > kLongestShown ? "…\n" : "\n");
      size_ += json_characters_of(found);
      if (lines_ == kMostMatches || size_ > kMostShownText) {
        cut_ = true;
        return;
      }
      ++lines_;
      text_ += found;
    }
  }

  LineMatcher matcher_;
  std::string glob_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + kMostTime;
  std::string text_{};
  std::size_t size_ = 0;  // of the text, as the model sees it
  std::size_t lines_ = 0;
  std::size_t files_ = 0;
  std::size_t passed_ = 0;
  bool cut_ = false;
  bool late_ = false;
};

Result<ToolOutput> search(const FileView& view, const Json& arguments) {
  const Syntax syntax = is_set(arguments, "regex") ? Syntax::regex : Syntax::literal;
  const Case letters = is_set(arguments, "ignore_case") ? Case::ignored : Case::counts;
  LineMatcher matcher =
      TRY(LineMatcher::create(text_or(arguments, "pattern", ""), syntax, letters));
  const std::string glob = text_or(arguments, "glob", "");
  if (glob.contains('/'))
    return invalid("search", "the glob \"" + printable(glob) + "\" has a slash in it",
                   "it is for names, like \"*.cc\"; set \"path\" to search in one directory");
  TRY(with_context("glob", check_wildcard(glob)));
  const OpenedFile top = TRY(view.open(text_or(arguments, "path", ".")));
  Search search(std::move(matcher), glob);
  Walked walked;
  if (S_ISDIR(top.status.st_mode)) {
    walked = walk(view, top, kDeepestSearch,
                  [&](const WalkEntry& entry) { return search.visit(entry); });
  } else {
    search.visit(WalkEntry{top.fd, top.status, name_of(top.shown), top.shown});
  }
  return search.finish(walked);
}

}  // namespace

ToolOutput search_files(const FileView& view, const Json& arguments) {
  return answer(search(view, arguments));
}

}  // namespace coop::tools
