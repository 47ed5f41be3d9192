#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/agents/preset_text.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/options_policy.h"
#include "cli/usage/usage.h"
#include "report/plan.h"
#include "run/prepare.h"

namespace coop::cli {

namespace {

// A preset is public, and its values are.
bool is_of_preset(const policy::Settings& settings, const std::string& name) {
  return std::ranges::any_of(policy::items_of(settings, policy::Key::env_set),
                             [&](const policy::Item& item) {
                               return item.text == name && item.origin.scope == Scope::preset;
                             });
}

std::string as_json(const Plan& plan, const Request& request) {
  const std::string text = report::plan_json(plan);
  if (!request.preset) return text;
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
  json["preset"] = preset_json(request);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// Equal input gives equal text, so that `diff` of two plans shows what a change of policy does. And plans are pasted into
// bug reports: values that the user gave or passed on may be keys.
void hide_values(Plan& plan, const Policy& policy, const policy::Settings& settings) {
  const auto replace = [&](const std::string& name, const char* text) {
    if (const auto found = plan.environment.find(name); found != plan.environment.end())
      found->second = text;
  };
  for (const auto& [name, value] : policy.set_environment)
    if (!is_of_preset(settings, name)) replace(name, "(not shown)");
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
  hide_values(prepared.plan, prepared.policy, request.effective.settings);
  const auto detail = parsed.has("--why") ? report::Detail::reasons : report::Detail::steps;
  TRY(print_all(options.json ? as_json(prepared.plan, request)
                             : report::plan_text(prepared.plan, detail) + preset_text(request)));
  return 0;
}

}  // namespace coop::cli
