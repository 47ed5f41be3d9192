// The tool that fetches a page.
#pragma once

#include "coop/policy.h"
#include "tools/tool.h"
#include "tools/web/urls.h"

namespace coop::tools {

// What the tool may reach for a sandbox with this policy. `neighbours`: the networks that this machine is in.
FetchRules fetch_rules(const Policy& policy, const std::vector<Prefix>& neighbours);

// {url, max_bytes?: 1..1048576}. The text is the status, the last URL and the content type, then the
// body: always UTF-8 without control characters; of what is not text, only type and size. Structured:
// outcome, status, url, content_type, truncated, size. An answer of the server is no failure, whatever its
// status. A refusal names its rule: "url guard", "address guard", or one of the policy's, with the grant.
ToolOutput fetch_url(const Json& arguments, const Resolver& resolver, const FetchRules& rules = {},
                     FetchLimits limits = {});

}  // namespace coop::tools
