// Files of the workspace as resources.
#pragma once

#include "tools/toolbox.h"

namespace coop::mcp {

// The URI of an absolute path inside.
std::string file_uri(std::string_view path);

// The files at the top of the workspace, as file URIs of the path inside.
Json list_resources(tools::Toolbox& toolbox);
// URI templates for the other files of the workspace.
Json resource_templates(const tools::Toolbox& toolbox);
// Uses read_file, with the same access checks.
Result<Json> read_resource(tools::Toolbox& toolbox, const std::string& uri);

}  // namespace coop::mcp
