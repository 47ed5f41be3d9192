#include <cstdio>

#include "base/path.h"
#include "base/text.h"
#include "plan/landlock/rights.h"
#include "plan/seccomp/profile.h"
#include "plan/show/steps.h"
#include "policy/builtin.h"
#include "policy/policy.h"
#include "report/plan.h"
#include "report/text.h"

namespace coop::report {

namespace {

void add_reasons(std::string& text, const Step& step) {
  text += "        " + to_text(step.origin) + ": " + step.why + "\n";
  if (const auto* restrict = std::get_if<RestrictLandlock>(&step.action))
    for (const LandlockRule& rule : restrict->rules)
      text += "          " + printable(rule.path) + ": " + landlock::names_of(rule.rights) + "\n";
  const auto* install = std::get_if<InstallSeccomp>(&step.action);
  const seccomp::Profile* profile = install == nullptr ? nullptr : seccomp::find(install->profile);
  if (profile == nullptr) return;
  for (const seccomp::SyscallReason& reason : profile->reasons)
    text += "          " + std::string(reason.verdict) + " " + std::string(reason.name) + ": " +
            std::string(reason.reason) + "\n";
}

// The destinations, rule by rule.
std::string network_text(const NetworkPlan& network) {
  std::string text;
  const auto add = [&](const std::string& line, const Origin& origin) {
    text += "  " + line + " (" + to_text(origin) + ")\n";
  };
  const auto add_all = [&](const std::string& verb, const std::vector<DestinationRule>& rules) {
    for (const DestinationRule& rule : rules)
      add(verb + coop::to_text(rule.destination), rule.origin);
  };
  add_all("deny ", network.deny);
  add_all("allow ", network.allow);
  add_all("allow UDP to ", network.allow_udp);
  for (const PublishedPort& port : network.publish)
    add("publish port " + std::to_string(port.sandbox) + " at " + port.address + " port " +
            std::to_string(port.host) + " of the host",
        port.origin);
  if (network.mode == NetworkMode::allowlist && network.allow.empty() && network.allow_udp.empty())
    text += "  nothing is allowed\n";
  return text.empty() ? text : "network " + std::string(coop::to_text(network.mode)) + ":\n" + text;
}

// The list has hundreds of names; --json has them all.
std::string guarded_names(const GuardPlan& guards) {
  std::vector<std::string_view> allowed;
  for (const policy::NamedReason& guard : policy::guards())
    if (!contains(guards.names, guard.name)) allowed.push_back(guard.name);
  return "the names of policies/guards.txt and home_guards.txt" +
         (allowed.empty() ? "" : ", but not " + joined(allowed, " "));
}

}  // namespace

std::string plan_text(const Plan& plan, Detail detail) {
  std::string text = "sandbox " + plan.id + ", view " + std::string(coop::to_text(plan.view)) +
                     ", workspace at " + printable(plan.workspace) + "\n";
  text += "namespaces: " + joined(plan.namespaces, " ") + "\nsteps:\n";
  int number = 0;
  for (const Step& step : plan.steps) {
    char prefix[16];
    std::snprintf(prefix, sizeof prefix, "  %3d  ", ++number);
    text += prefix + plan::sentence(step.action) + "\n";
    if (detail == Detail::reasons) add_reasons(text, step);
  }
  if (!plan.group.limits.empty()) {
    text += "control group " + plan.group.name + ":\n";
    for (const GroupLimit& limit : plan.group.limits)
      text += "  " + limit.file + " = " + limit.value + " in " + limit.parent + "\n";
  }
  if (!plan.guards.names.empty() && !plan.guards.roots.empty())
    text +=
        "watched for new files, quarantined at the end:\n  " + guarded_names(plan.guards) + "\n";
  text += network_text(plan.network);
  text += "environment:\n";
  for (const auto& [name, value] : plan.environment)
    text += "  " + printable(name) + "=" + printable(value) + "\n";
  if (!plan.guards.unserved.empty())
    text +=
        "note: git directories are guarded by mounts, which are lost for a moment when a program "
        "of "
        "the host replaces a guarded file during the run: " +
        plan.guards.unserved + "\n";
  for (const std::string& note : plan.notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace coop::report
