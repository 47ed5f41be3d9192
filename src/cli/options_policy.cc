#include "cli/options_policy.h"

namespace coop::cli {

Result<Request> read_request(const Parsed& parsed, const Path& workspace) {
  Request request;
  request.options = TRY(options_of(parsed));
  if (!workspace.empty()) {
    request.options.wanted.workspace = workspace;
    request.options.wanted.unkeyed.workspace_access = Access::read_only;
  }
  // The people of a coop.toml have settings and a home of their own.
  request::Wanted& wanted = request.options.wanted;
  if (!request.options.chose_preset && !wanted.role.any())
    wanted.preset.how = request::PresetChoice::How::by_program;
  wanted.command = request.options.command;
  static_cast<request::Resolved&>(request) = TRY(request::resolve(request.options.wanted));
  TRY(check_lists(request.options, request.policy.network));
  if (request.preset) request.options.command = request.preset->command;
  if (request.options.command.empty() && request.acting_as && request.acting_as->cron != nullptr &&
      !request.acting_as->cron->command.empty())
    request.options.command = {"/bin/sh", "-c", "--", request.acting_as->cron->command};
  return request;
}

}  // namespace coop::cli
