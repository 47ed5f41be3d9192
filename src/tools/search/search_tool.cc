#include "base/path.h"
#include "base/wildcard.h"
#include "tools/files/file_tools.h"
#include "tools/search/tree_search.h"
#include "tools/values.h"

namespace coop::tools {

namespace {

ToolOutput shown(SearchResult found) {
  ToolOutput output{.text = std::move(found.text)};
  if (found.lines == 0) output.text = "[no line matches]\n";
  if (found.cut)
    output.text +=
        "[cut: only the first " + std::to_string(found.lines) + " matching lines are shown]\n";
  if (found.late) output.text += "[stopped after 10 seconds: search in a smaller directory]\n";
  if (found.incomplete) output.text += "[some directories were not searched]\n";
  if (found.passed > 0)
    output.text +=
        "[" + std::to_string(found.passed) + " binary, huge or hidden files passed over]\n";
  if (found.ignored > 0)
    output.text +=
        "[" + std::to_string(found.ignored) +
        " entries that .gitignore or .ignore name were left out; \"all\" searches them]\n";
  output.structured = {
      {"outcome", "ok"},          {"matches", found.lines},
      {"files", found.files},     {"passed_over", found.passed},
      {"ignored", found.ignored}, {"truncated", found.cut || found.late || found.incomplete}};
  return output;
}

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
  SearchResult found = TRY(search_tree(
      view, top,
      {.matcher = std::move(matcher),
       .glob = glob,
       .ignore = is_set(arguments, "all") ? IgnoreFiles::disregarded : IgnoreFiles::respected}));
  return shown(std::move(found));
}

}  // namespace

ToolOutput search_files(const FileView& view, const Json& arguments) {
  return answer(search(view, arguments));
}

}  // namespace coop::tools
