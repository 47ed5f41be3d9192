#include "cli/command.h"
#include "cli/flags.h"
#include "cli/options_policy.h"
#include "plan/text.h"
#include "run/prepare.h"

namespace coop::cli {

Result<int> command_plan(Arguments arguments) {
  const Request request = TRY(read_request(arguments));
  const Options& options = request.options;
  if (options.help) {
    print(run_help_text("plan"));
    return 0;
  }
  const run::Prepared prepared = TRY(run::prepare(request.policy));
  TRY(print_all(options.json ? plan::to_json(prepared.plan)
                             : plan::to_text(prepared.plan, options.why ? plan::Detail::reasons
                                                                        : plan::Detail::steps)));
  return 0;
}

}  // namespace coop::cli
