#include "cli/command.h"
#include "cli/flags.h"
#include "cli/options_policy.h"
#include "cli/usage/usage.h"
#include "report/plan.h"
#include "run/prepare.h"

namespace coop::cli {

namespace {

// Equal input gives equal text, so that `diff` of two plans shows what a change of policy does. And plans are pasted into
// bug reports: values that the user gave or passed on may be keys.
void hide_values(Plan& plan, const Policy& policy) {
  const auto replace = [&](const std::string& name, const char* text) {
    if (const auto found = plan.environment.find(name); found != plan.environment.end())
      found->second = text;
  };
  for (const auto& [name, value] : policy.set_environment) replace(name, "(not shown)");
  for (const std::string& name : policy.pass_environment) replace(name, "(not shown)");
  replace("COOP_CREATED", "TIME");
  replace("COOP_SESSION", plan.id.c_str());
  replace("COOP_WORKSPACE", plan.workspace.c_str());
}

}  // namespace

Result<int> command_plan(const Parsed& parsed) {
  Request request = TRY(read_request(parsed));
  const Options& options = request.options;
  request.policy.id = "ID";
  run::Prepared prepared = TRY(run::prepare(request.policy));
  hide_values(prepared.plan, prepared.policy);
  const auto detail = parsed.has("--why") ? report::Detail::reasons : report::Detail::steps;
  TRY(print_all(options.json ? report::plan_json(prepared.plan)
                             : report::plan_text(prepared.plan, detail)));
  return 0;
}

}  // namespace coop::cli
