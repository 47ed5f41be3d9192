// The tool that fetches a page.
#pragma once

#include "tools/tool.h"
#include "tools/urls.h"

namespace coop::tools {

// {url, max_bytes?: 1..1048576}. The text is the status, the last URL and the content type, then the
// body: always UTF-8 without control characters; of what is not text, only type and size. Structured:
// status, url, content_type, truncated, size. An answer of the server is no failure, whatever its
// status. A refusal names its rule: "url guard" or "address guard".
ToolOutput fetch_url(const Json& arguments, const Resolver& resolver,
                     const Exceptions& exceptions = {});

}  // namespace coop::tools
