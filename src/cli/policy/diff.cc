#include <nlohmann/json.hpp>

#include "base/path.h"
#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;
using policy::Difference;

Result<policy::Settings> settings_of_file(const std::string& name) {
  const HostFacts facts = TRY(request::surroundings());
  const Path path = name.starts_with('/') ? name : join(facts.working_directory, name);
  const std::optional<std::string> text =
      TRY(host::read_policy_file(path, host::RequiredOwner::anyone));
  if (!text) return system_error_of(ENOENT, "open", name);
  policy::Findings findings;
  policy::Settings settings = policy::read_policy(
      *text, {.file = name, .surroundings = request::surroundings_of(facts, parent_of(path))},
      findings);
  if (policy::has_errors(findings)) return std::unexpected(to_error(findings));
  return settings;
}

// A scope, "effective", "built-in", or a file.
Result<policy::Settings> settings_named(const std::string& name, const std::string& workspace) {
  if (name == "built-in") return policy::Settings{};
  if (name != "effective" && !parse_scope(name)) return settings_of_file(name);
  const request::PolicySources sources = TRY(sources_for(workspace));
  if (name == "effective") {
    TRY(request::check_sources(sources));
    return merge(sources.layers(), sources.approval).settings;
  }
  const Scope scope = TRY(parse_scope(name));
  const request::PolicySource& file = sources.of(scope);
  if (policy::has_errors(file.findings)) return std::unexpected(to_error(file.findings));
  return file.settings;
}

std::string_view direction_text(Difference::Direction direction) {
  switch (direction) {
    case Difference::Direction::wider: return "wider";
    case Difference::Direction::narrower: return "narrower";
    case Difference::Direction::other: return "other";
  }
  return "?";
}

std::string as_text(const std::vector<Difference>& differences) {
  std::string text;
  for (const Difference& difference : differences) {
    const std::string name(policy::info(difference.key).name);
    if (!difference.before.empty()) text += "- " + name + " = " + difference.before + "\n";
    if (!difference.after.empty()) text += "+ " + name + " = " + difference.after + "\n";
    text += "  (" + std::string(direction_text(difference.direction)) + ")\n";
  }
  return text;
}

std::string as_json(const std::vector<Difference>& differences) {
  Json list = Json::array();
  for (const Difference& difference : differences)
    list.push_back({{"key", policy::info(difference.key).name},
                    {"before", difference.before},
                    {"after", difference.after},
                    {"direction", direction_text(difference.direction)}});
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> policy_diff(const Parsed& flags) {
  if (flags.arguments.size() != 2)
    return invalid("policy diff", "two things to compare are expected",
                   "each a file, a scope (organisation, user, project), effective or built-in");
  const std::string workspace = flags.get("--workspace");
  const policy::Settings before = TRY(settings_named(flags.arguments[0], workspace));
  const policy::Settings after = TRY(settings_named(flags.arguments[1], workspace));
  const std::vector<Difference> found = policy::differences(before, after);
  TRY(print_all(flags.has("--json") ? as_json(found) : as_text(found)));
  return found.empty() ? 0 : 1;
}

}  // namespace coop::cli
