// The file tools, on a view. Arguments are checked against their schema before.
#pragma once

#include "tools/files/view.h"
#include "tools/tool.h"

namespace coop::tools {

// {path, offset?: first line (from 1), limit?: lines}. Text with line numbers left out; at most 2000
// lines or kMostShownText characters, the cut marked. Binary files: the text says what they are, and
// structured["data"] has the bytes as base64, up to 10 MB, beside "mime_type".
ToolOutput read_file(const FileView& view, const Json& arguments);
// {path, content}. All or nothing (a temporary file, then rename); the mode is kept.
ToolOutput write_file(const FileView& view, const Json& arguments);
// {path, old, new, all?: boolean}. `old` must be there exactly once unless `all`.
ToolOutput edit_file(const FileView& view, const Json& arguments);
// {path?, depth?: 1..5, hidden?: boolean}. At most 1000 entries that fit into kMostShownText, directories with a slash.
ToolOutput list_files(const FileView& view, const Json& arguments);
// {pattern, path?, glob?, regex?: boolean, ignore_case?: boolean}. At most 200 matching lines, within kMostShownText, as
// "path:line: text"; binary, huge (over 10 MB) and hidden files are passed over, and counted.
ToolOutput search_files(const FileView& view, const Json& arguments);
// {path}. For the gateway to send: only from the workspace, at most 25 MB. The bytes are in
// structured["data"] as base64, with "name", "size" and "mime_type".
ToolOutput send_file(const FileView& view, const Json& arguments);

}  // namespace coop::tools
