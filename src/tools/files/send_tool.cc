#include <sys/stat.h>

#include "base/base64.h"
#include "base/path.h"
#include "tools/files/file_tools.h"
#include "tools/files/path_form.h"
#include "tools/mime_type.h"
#include "tools/values.h"

namespace coop::tools {

namespace {

constexpr std::size_t kMostSentSize = std::size_t{25} << 20;

Result<ToolOutput> send(const FileView& view, const Json& arguments) {
  const OpenedFile file = TRY(view.open(text_or(arguments, "path", "")));
  if (S_ISDIR(file.status.st_mode))
    return invalid("send", in_quotes(file.shown) + " is a directory", "name a file");
  if (!is_within(file.inside, view.workspace_inside())) {
    auto error = denied("send", in_quotes(file.shown) + " is not in the workspace",
                        Rule::of_coop(Part::workspace));
    error.error().hint = "copy it into the workspace first";
    return error;
  }
  const std::string bytes = TRY(read_at_most(file.fd.get(), kMostSentSize, file.shown));
  if (bytes.size() > kMostSentSize)
    return invalid("send", in_quotes(file.shown) + " is too large to be sent (over 25 MB)");
  const std::string name = printable(name_of(file.inside));
  ToolOutput output{.text = "sending " + printable(file.shown) + ", " +
                            std::to_string(bytes.size()) + " bytes"};
  output.structured = {{"outcome", "ok"},
                       {"name", name},
                       {"size", bytes.size()},
                       {"mime_type", mime_type_of(name, bytes)},
                       {"data", base64(bytes)}};
  return output;
}

}  // namespace

ToolOutput send_file(const FileView& view, const Json& arguments) {
  return answer(send(view, arguments));
}

}  // namespace coop::tools
