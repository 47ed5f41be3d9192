// Files of the workspace as resources.
#pragma once

#include "tools/session.h"

namespace coop::tools::mcp {

// The files at the top of the workspace, as file URIs of the path inside.
Json list_resources(Session& session);
// How the other files of the workspace are named.
Json resource_templates(const Session& session);
// By the same tool as read_file: the same walls.
Result<Json> read_resource(Session& session, const std::string& uri);

}  // namespace coop::tools::mcp
