// coop.toml: any text gives a configuration or findings, and trust follows from the configuration.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/people/config.h"
#include "policy/people/config_checks.h"

namespace {

using namespace coop::policy;
using coop::Conversation;

void check_findings(const Findings& findings) {
  for (const Finding& finding : findings) {
    if (finding.check.empty() || finding.message.empty()) std::abort();
    for (const char c : finding.message + finding.fix)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
  }
}

// In a file without errors each sender is the user who lists it, and a group never raises trust.
void check_people(const Config& config) {
  for (const User& user : config.users)
    for (const std::string& match : user.match) {
      const Principal direct = principal_of_sender(config, match, Conversation::direct);
      if (direct.user != &user || direct.trust != user.trust) std::abort();
      const Principal group = principal_of_sender(config, match, Conversation::group);
      if (group.trust < TrustLevel::familiar || group.trust < direct.trust) std::abort();
    }
  for (const CronJob& job : config.cron)
    if (!job.user.empty() && !principal_of_user(config, job.user, Conversation::direct))
      std::abort();
  if (principal_of_sender(config, "nobody", Conversation::direct).trust != TrustLevel::public_)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Surroundings surroundings{
      .home = "/home/ann", .environment = {{"V", "/v"}}, .base = "/srv"};
  Findings findings;
  const Config config = read_config(text, "coop.toml", surroundings, findings);
  check_findings(findings);
  if (!has_errors(findings)) check_people(config);
  for (const Agent& agent : config.agents)
    if (!agent.workspace.empty() && !agent.workspace.starts_with('/')) std::abort();
  for (const coop::Path& path : paths_to_check(config))
    if (!path.starts_with('/')) std::abort();
  check_findings(check_config(config, {}));
  return 0;
}
