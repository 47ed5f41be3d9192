// Checks about the owner.
#include <algorithm>

#include "policy/people/check_list.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::size_t kMostNamed = 5;

Origin origin_of(const Config& config, const User& user) {
  return {.scope = Scope::config, .file = config.file, .at = user.at};
}

std::string names_of(const Config& config, const std::vector<const User*>& users) {
  std::string text;
  for (std::size_t i = 0; i < std::min(users.size(), kMostNamed); ++i)
    text += (text.empty() ? "" : ", ") + quote(users[i]->name) + " (" +
            line_of(config.file, users[i]->at) + ")";
  if (users.size() > kMostNamed)
    text += " and " + std::to_string(users.size() - kMostNamed) + " more";
  return text;
}

void check_without_owner(const Config& config, Findings& findings) {
  const Principal terminal = principal_of_sender(config, "terminal:default", Conversation::direct);
  if (terminal.user == nullptr) {
    add_finding(
        findings, Severity::warning, "sandbox_no_owner", origin_of_mode(config),
        "no user has trust \"owner\": terminal:default, which matches no user, is the owner, and "
        "all others are sandboxed",
        "add a user with trust = \"owner\" and match = [\"terminal:default\"]");
    return;
  }
  add_finding(findings, Severity::warning, "sandbox_no_owner", origin_of(config, *terminal.user),
              "no user has trust \"owner\", and terminal:default is " + quote(terminal.user->name) +
                  " with trust \"" + std::string(to_text(terminal.user->trust)) +
                  "\": the person at the terminal is sandboxed too",
              "give " + quote(terminal.user->name) + " trust = \"owner\", or remove the match");
}

}  // namespace

void check_owners(const Config& config, Findings& findings) {
  std::vector<const User*> owners;
  for (const User& user : config.users)
    if (user.trust == TrustLevel::owner) owners.push_back(&user);
  if (owners.empty() && enabled_anywhere(config)) check_without_owner(config, findings);
  if (owners.size() > 1)
    add_finding(findings, Severity::warning, "sandbox_multiple_owners",
                origin_of(config, *owners[1]),
                std::to_string(owners.size()) +
                    " users are owners, and none of them is sandboxed: " + names_of(config, owners),
                "keep one owner, and give the others trust = \"full\"");
}

}  // namespace coop::policy
