#include "plan/environment.h"

#include <algorithm>
#include <array>

#include "plan/view/layout.h"

namespace coop::plan {

namespace {

// Everything else is dropped: the caller's environment often contains keys.
constexpr std::array<std::string_view, 20> kPassed{"GIT_AUTHOR_NAME",
                                                   "GIT_AUTHOR_EMAIL",
                                                   "GIT_COMMITTER_NAME",
                                                   "GIT_COMMITTER_EMAIL",
                                                   "TERM",
                                                   "COLORTERM",
                                                   "NO_COLOR",
                                                   "FORCE_COLOR",
                                                   "CLICOLOR",
                                                   "LANG",
                                                   "LANGUAGE",
                                                   "TZ",
                                                   "COLUMNS",
                                                   "LINES",
                                                   "EDITOR",
                                                   "VISUAL",
                                                   "PAGER",
                                                   "LESS",
                                                   "CI",
                                                   "SOURCE_DATE_EPOCH"};

constexpr const char* kMinimalPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool is_passed(std::string_view name) {
  return name.starts_with("LC_") || std::ranges::find(kPassed, name) != kPassed.end();
}

}  // namespace

std::map<std::string, std::string> environment_for(const Policy& policy, const HostFacts& host) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : host.environment)
    if (is_passed(name)) result[name] = value;
  const bool minimal = policy.view == View::minimal;
  const auto path = host.environment.find("PATH");
  result["PATH"] = minimal || path == host.environment.end() ? kMinimalPath : path->second;
  result["HOME"] = home_target(policy, host);
  const std::string user = policy.identity == Identity::root ? "root" : host.user;
  if (!user.empty()) result["USER"] = result["LOGNAME"] = user;
  result["SHELL"] = "/bin/sh";
  if (const auto shell = host.environment.find("SHELL");
      !minimal && shell != host.environment.end())
    result["SHELL"] = shell->second;
  result.merge(cache_variables(policy, host));
  for (const std::string& name : policy.pass_environment)
    if (const auto found = host.environment.find(name); found != host.environment.end())
      result[name] = found->second;
  for (const auto& [name, value] : policy.set_environment) result[name] = value;
  // Last: programs inside trust them, and only coop knows their values.
  result["COOP_SESSION"] = policy.id;
  result["COOP_WORKSPACE"] = workspace_target(policy);
  if (has_profile(policy)) result["COOP_PATH"] = result["PATH"];
  if (!host.now.empty()) result[kCreatedVariable] = host.now;
  return result;
}

}  // namespace coop::plan
