#include <array>
#include <nlohmann/json.hpp>

#include "cli/policy/policy_command.h"
#include "cli/usage/usage.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;
using policy::Difference;

// A scope, "effective", "built-in", or a file.
Result<policy::Settings> settings_named(const std::string& name, const std::string& workspace) {
  if (name == "built-in") return policy::Settings{};
  if (name == "effective") {
    const request::PolicySources sources = TRY(sources_for(workspace));
    TRY(request::check_sources(sources));
    return request::effective_of(sources).settings;
  }
  request::PolicySource file;
  if (const Result<Scope> scope = parse_scope(name)) {
    const request::PolicySources sources = TRY(sources_for(workspace));
    file = sources.of(*scope);
  } else {
    file = TRY(read_file(name));
  }
  if (policy::has_errors(file.findings)) return std::unexpected(to_error(file.findings));
  return file.settings;
}

std::string_view direction_text(Difference::Direction direction) {
  constexpr std::array<std::string_view, 3> kWords{"wider", "narrower", "other"};
  return kWords.at(static_cast<std::size_t>(direction));
}

std::string as_text(const std::vector<Difference>& differences) {
  std::string text;
  for (const Difference& difference : differences) {
    text +=
        change_text(difference) + "  (" + std::string(direction_text(difference.direction)) + ")\n";
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
