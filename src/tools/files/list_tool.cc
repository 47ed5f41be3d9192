#include <sys/stat.h>

#include <algorithm>

#include "base/path.h"
#include "tools/files/file_tools.h"
#include "tools/files/path_form.h"
#include "tools/files/walk.h"
#include "tools/shown.h"
#include "tools/values.h"

namespace coop::tools {

namespace {

constexpr std::size_t kMostEntries = 1000;
constexpr std::int64_t kMostDepth = 5;

Result<ToolOutput> list(const FileView& view, const Json& arguments) {
  const OpenedFile top = TRY(view.open(text_or(arguments, "path", ".")));
  if (!S_ISDIR(top.status.st_mode))
    return invalid("list", in_quotes(top.shown) + " is not a directory", "use read_file");
  const auto depth =
      static_cast<int>(std::clamp<std::int64_t>(number_or(arguments, "depth", 1), 1, kMostDepth));
  const bool dots = is_set(arguments, "hidden");
  ToolOutput output;
  std::size_t count = 0;
  std::size_t size = 0;
  bool cut = false;
  const Walked walked = walk(view, top, depth, [&](const WalkEntry& entry) {
    if (!dots && entry.name.starts_with('.')) return Next::pass;
    const bool directory = S_ISDIR(entry.status.st_mode);
    const std::string line = printable(entry.shown) + (directory ? "/\n" : "\n");
    size += json_characters_of(line);
    if (count == kMostEntries || size > kMostShownText) {
      cut = true;
      return Next::stop;
    }
    ++count;
    output.text += line;
    const bool enters = directory && depth > 1;
    return enters ? Next::enter : Next::pass;
  });
  if (count == 0) output.text = "[nothing is there]\n";
  if (cut) output.text += "[cut: only the first " + std::to_string(count) + " entries are shown]\n";
  output.structured = {{"outcome", "ok"},
                       {"path", printable(top.shown)},
                       {"count", count},
                       {"truncated", cut},
                       {"hidden", walked.hidden}};
  return output;
}

}  // namespace

ToolOutput list_files(const FileView& view, const Json& arguments) {
  return answer(list(view, arguments));
}

}  // namespace coop::tools
