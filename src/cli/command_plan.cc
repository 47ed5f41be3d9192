#include "cli/command.h"
#include "cli/flags.h"
#include "cli/options_policy.h"
#include "cli/usage/usage.h"
#include "report/plan.h"
#include "run/prepare.h"

namespace coop::cli {

Result<int> command_plan(const Parsed& parsed) {
  const Request request = TRY(read_request(parsed));
  const Options& options = request.options;
  const run::Prepared prepared = TRY(run::prepare(request.policy));
  const auto detail = parsed.has("--why") ? report::Detail::reasons : report::Detail::steps;
  TRY(print_all(options.json ? report::plan_json(prepared.plan)
                             : report::plan_text(prepared.plan, detail)));
  return 0;
}

}  // namespace coop::cli
