#include "tools/open_tools.h"

#include "base/path.h"

namespace coop::tools {

namespace {

// Disabled only if a file says so.
bool is_enabled(const policy::Effective& effective) {
  const auto mode = effective.settings.find(policy::Key::mode);
  return mode == effective.settings.end() ||
         mode->second.value == policy::Scalar(std::string("enabled"));
}

}  // namespace

Result<OnLeak> parse_on_leak(const std::string& word) {
  if (word == "redact") return OnLeak::redact;
  if (word == "block") return OnLeak::block;
  if (word == "terminate") return OnLeak::terminate;
  return invalid("", "\"" + printable(word) + "\" is unknown", "redact, block or terminate");
}

Result<OpenedTools> open_tools(const ToolsRequest& request) {
  const request::Resolved resolved = TRY(request::resolve(request.wanted, request::Purpose::tools));
  ToolboxOptions options{.policy = resolved.policy,
                         .sandbox_enabled = is_enabled(resolved.effective),
                         .owner_bypass = policy::owner_may_bypass(resolved.effective),
                         .on_leak = request.on_leak,
                         .first = request.first,
                         .calls = request.calls,
                         .log = request.log,
                         .tmp = request.tmp,
                         .shared = request.shared};
  if (resolved.acting_as && resolved.acting_as->someone) {
    const policy::Principal& principal = resolved.acting_as->principal;
    options.trust = principal.trust;
    if (principal.user != nullptr) options.user = principal.user->name;
  }
  const HostFacts facts = TRY(request::surroundings());
  options.policy.workspace = request::real_workspace(facts, resolved.policy.workspace);
  if (options.policy.workspace.empty())
    return invalid("--workspace",
                   "\"" + printable(resolved.policy.workspace) + "\" does not exist");
  OpenedTools opened{.files = resolved.files, .project_file = resolved.project_file};
  opened.toolbox = TRY(Toolbox::open(std::move(options)));
  return opened;
}

}  // namespace coop::tools
