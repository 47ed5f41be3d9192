#include "cli/command.h"
#include "cli/flags.h"
#include "cli/options_policy.h"
#include "plan/text.h"
#include "run/prepare.h"

namespace coop::cli {

Result<int> command_plan(Arguments arguments) {
  const Options options = TRY(parse(arguments));
  if (options.help) {
    print(run_help_text("plan"));
    return 0;
  }
  const Policy policy = TRY(policy_of(options));
  const run::Prepared prepared = TRY(run::prepare(policy));
  TRY(print_all(options.json ? plan::to_json(prepared.plan)
                             : plan::to_text(prepared.plan, options.why ? plan::Detail::reasons
                                                                        : plan::Detail::steps)));
  return 0;
}

}  // namespace coop::cli
