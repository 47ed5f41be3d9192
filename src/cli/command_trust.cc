#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "base/text.h"
#include "cli/usage/usage.h"
#include "report/settings.h"
#include "report/text.h"
#include "request/resolve.h"

namespace coop::cli {

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string_view> tools_of(policy::TrustLevel trust) {
  std::vector<std::string_view> names;
  for (const policy::ToolAccess& access : policy::kTools)
    if (policy::may_use(trust, access.tool)) names.push_back(access.tool);
  return names;
}

std::string words_or_none(std::span<const std::string_view> words) {
  return words.empty() ? "none" : joined(words, " ");
}

struct Report {
  std::string subject{};
  const request::ActingAs& acting_as;
  policy::Effective effective{};
  bool enabled = false;
  bool sandboxed = true;  // if it is enabled
};

// Where the tools of this principal run.
std::string place_text(const Report& report) {
  if (!report.enabled)
    return "no: it is disabled by " +
           report::to_text(report.effective.settings.at(policy::Key::mode).origin);
  return report.sandboxed ? "yes" : "no: the owner works on the host directly";
}

std::string as_text(const Report& report) {
  const policy::Principal& principal = report.acting_as.principal;
  const policy::User* user = principal.user;
  std::string text;
  const auto row = [&](std::string name, const std::string& value) {
    name.resize(10, ' ');
    text += name + value + "\n";
  };
  row("for", printable(report.subject));
  row("user", user == nullptr
                  ? "none"
                  : printable(user->name) + " (" +
                        policy::place_of(report.acting_as.config->file, user->at) + ")");
  row("trust", std::string(to_text(principal.trust)) + ": " + printable(principal.reason));
  row("tools", words_or_none(tools_of(principal.trust)));
  row("stores", words_or_none(policy::memory_stores(principal.trust)));
  row("sandbox", place_text(report));
  text += "\n" + report::settings_text(report.effective.settings, report::Origins::shown,
                                       report::Defaults::shown);
  for (const policy::Refusal& refusal : report.effective.refused)
    text += "# refused: " + to_text(refusal) + "\n";
  return text;
}

std::string as_json(const Report& report) {
  const policy::Principal& principal = report.acting_as.principal;
  const policy::User* user = principal.user;
  const Json json{
      {"for", report.subject},
      {"user", user == nullptr ? Json(nullptr) : Json(user->name)},
      {"user_trust", to_text(principal.user_trust)},
      {"ceiling", to_text(principal.ceiling)},
      {"trust", to_text(principal.trust)},
      {"reason", principal.reason},
      {"tools", tools_of(principal.trust)},
      {"stores", policy::memory_stores(principal.trust)},
      {"sandbox_enabled", report.enabled},
      {"sandboxed", report.enabled && report.sandboxed},
      {"sandbox", report::settings_json(report.effective.settings, report::Defaults::shown)},
      {"refused", report::refusals_json(report.effective.refused)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Role> role_of(const Parsed& flags) {
  Role role{.config = flags.get("--config"),
            .agent = flags.get("--agent"),
            .user = flags.get("--as"),
            .sender = flags.arguments.empty() ? "" : flags.arguments.front(),
            .cron = flags.get("--cron")};
  if (flags.has("--group")) role.conversation = Conversation::group;
  if (role.sender.empty() && role.user.empty() && role.cron.empty())
    return invalid("trust", "no sender is named", "coop trust SENDER, like terminal:default");
  return role;
}

}  // namespace

Result<int> command_trust(const Parsed& flags) {
  const Role role = TRY(role_of(flags));
  const HostFacts facts = TRY(request::surroundings());
  const std::unique_ptr<request::ActingAs> acting_as = TRY(request::act_as(facts, role));
  std::string workspace = flags.get("--workspace");
  if (workspace.empty()) workspace = acting_as->workspace();
  const request::PolicySources sources =
      TRY(request::read_policy_sources(facts, request::real_workspace(facts, workspace)));
  TRY(request::check_sources(sources));
  policy::Effective effective = request::effective_of(sources, acting_as.get());
  // Tools bypass the sandbox only if the configuration says so.
  effective.settings.try_emplace(policy::Key::mode, policy::Setting{.value = "enabled"});
  const bool enabled = word_of(effective.settings, policy::Key::mode) == "enabled";
  const bool sandboxed =
      policy::is_sandboxed(acting_as->principal.trust) || !policy::owner_may_bypass(effective);
  const Report report{.subject = !role.sender.empty() ? role.sender
                                 : !role.user.empty() ? "user " + role.user
                                                      : "cron job " + role.cron,
                      .acting_as = *acting_as,
                      .effective = std::move(effective),
                      .enabled = enabled,
                      .sandboxed = sandboxed};
  TRY(print_all(flags.has("--json") ? as_json(report) : as_text(report)));
  return 0;
}

}  // namespace coop::cli
