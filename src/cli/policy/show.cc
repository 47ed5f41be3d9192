#include <array>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/plain_flags.h"
#include "cli/policy/policy_command.h"
#include "cli/policy/settings_text.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kFlags{PlainFlag{"--origin"}, PlainFlag{"--json"}, PlainFlag{"-w", "DIR"},
                            PlainFlag{"--workspace", "DIR"}};

std::string state_of(const PolicySource& file, policy::Approval approval) {
  if (!file.text) return "absent";
  if (file.scope != policy::Scope::project) return "read";
  return approval == policy::Approval::given ? "read, approved" : "read, not approved";
}

std::string as_text(const PolicySources& sources, const policy::Effective& effective,
                    Origins origins) {
  std::string text;
  for (const PolicySource& file : sources.files)
    if (!file.path.empty())
      text += "# " + std::string(to_text(file.scope)) + ": " + printable(file.path) + " (" +
              state_of(file, sources.approval) + ")\n";
  text += settings_text(effective.settings, origins, Defaults::shown);
  for (const policy::Refusal& refusal : effective.refused)
    text += "# refused: " + to_text(refusal) + "\n";
  return text;
}

std::string as_json(const PolicySources& sources, const policy::Effective& effective) {
  Json files = Json::array();
  for (const PolicySource& file : sources.files)
    files.push_back({{"scope", to_text(file.scope)},
                     {"path", file.path},
                     {"present", file.text.has_value()},
                     {"approved", file.scope == policy::Scope::project &&
                                      sources.approval == policy::Approval::given}});
  const Json json{{"files", files},
                  {"sandbox", settings_json(effective.settings, Defaults::shown)},
                  {"refused", refusals_json(effective.refused)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> policy_show(Arguments arguments) {
  const PlainFlags flags = TRY(parse_plain("policy show", arguments, kFlags, 0));
  const PolicySources sources = TRY(sources_for(flags.get("--workspace", flags.get("-w"))));
  TRY(check_sources(sources));
  const policy::Effective effective = policy::merge(sources.layers(), sources.approval);
  TRY(print_all(flags.has("--json")
                    ? as_json(sources, effective)
                    : as_text(sources, effective,
                              flags.has("--origin") ? Origins::shown : Origins::left_out)));
  return 0;
}

}  // namespace coop::cli
