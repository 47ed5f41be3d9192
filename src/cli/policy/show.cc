#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"
#include "report/settings.h"
#include "report/text.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string state_of(const request::PolicySource& file, policy::Approval approval) {
  if (!file.text) return "absent";
  if (file.scope != Scope::project) return "read";
  return approval == policy::Approval::given ? "read, approved" : "read, not approved";
}

std::string as_text(const request::PolicySources& sources, const policy::Effective& effective,
                    report::Origins origins) {
  std::string text;
  for (const request::PolicySource& file : sources.files)
    if (!file.path.empty())
      text += "# " + std::string(report::to_text(file.scope)) + ": " + printable(file.path) + " (" +
              state_of(file, sources.approval) + ")\n";
  text += report::settings_text(effective.settings, origins, report::Defaults::shown);
  for (const policy::Refusal& refusal : effective.refused)
    text += "# refused: " + to_text(refusal) + "\n";
  return text;
}

std::string as_json(const request::PolicySources& sources, const policy::Effective& effective) {
  Json files = Json::array();
  for (const request::PolicySource& file : sources.files)
    files.push_back({{"scope", report::to_text(file.scope)},
                     {"path", file.path},
                     {"present", file.text.has_value()},
                     {"approved", file.scope == Scope::project &&
                                      sources.approval == policy::Approval::given}});
  const Json json{{"files", files},
                  {"sandbox", report::settings_json(effective.settings, report::Defaults::shown)},
                  {"refused", report::refusals_json(effective.refused)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> policy_show(const Parsed& flags) {
  const request::PolicySources sources = TRY(sources_for(flags.get("--workspace")));
  TRY(request::check_sources(sources));
  const policy::Effective effective = request::effective_of(sources);
  TRY(print_all(flags.has("--json") ? as_json(sources, effective)
                                    : as_text(sources, effective,
                                              flags.has("--origin") ? report::Origins::shown
                                                                    : report::Origins::left_out)));
  return 0;
}

}  // namespace coop::cli
