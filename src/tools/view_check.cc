#include "tools/view_check.h"

#include "policy/builtin.h"
#include "tools/path_form.h"
#include "tools/write_rules.h"

namespace coop::tools {

namespace {

std::string by_rule(std::string_view rule, std::string_view reason) {
  return " by " + printable(rule) + (reason.empty() ? "" : ": " + printable(reason));
}

std::string_view reason_of(std::string_view guard) {
  for (const policy::NamedReason& known : policy::guards())
    if (known.name == guard) return known.reason;
  return {};
}

std::unexpected<Error> not_shown(const Request& request, const plan::Explanation& found) {
  const std::string what =
      found.reach == plan::Reach::hidden
          ? " is hidden" + by_rule(found.origin, found.reason)
          : " is not in the sandbox's view" +
                (found.origin.empty() ? "" : " (" + printable(found.origin) + ")");
  return denied(request.operation, in_quotes(request.path) + what,
                found.origin.empty() ? "view" : found.origin, found.grant);
}

bool is_shown(plan::Reach reach) {
  return reach != plan::Reach::absent && reach != plan::Reach::hidden;
}

// What exists and is guarded is read-only by the plan; this is for what appeared since, and for what
// the call would create.
Result<void> check_guards(const FileView::State& view, const Request& request, const Path& host) {
  const GuardPlan& guards = view.prepared.plan.guards;
  for (const Path& root : guards.roots) {
    if (!is_within(host, root)) continue;
    const std::optional<std::string> guard = guard_of(root, host, guards.names);
    if (guard)
      return denied(
          request.operation,
          in_quotes(request.path) + " is read-only" + by_rule("guard " + *guard, reason_of(*guard)),
          "guard " + *guard, "--allow-guarded " + *guard);
  }
  return {};
}

}  // namespace

Result<void> check_readable(const FileView::State& view, const Request& request, const Path& host) {
  if (view.walls == Walls::none) return {};
  const plan::Explanation found = plan::explain(view.prepared.plan, view.prepared.policy, host);
  if (!is_shown(found.reach)) return not_shown(request, found);
  return {};
}

Result<void> check_name(const FileView::State& view, const Request& request, const Path& host) {
  if (is_within(host, view.workspace()) && is_identity_file(relative_to(host, view.workspace())))
    return denied(request.operation,
                  in_quotes(request.path) +
                      " is read-only by identity file: who the agent is, is not its own to write",
                  "identity file");
  return view.walls == Walls::none ? Result<void>() : check_guards(view, request, host);
}

Result<void> check_writable(const FileView::State& view, const Request& request, const Path& host) {
  TRY(check_readable(view, request, host));
  TRY(check_name(view, request, host));
  if (view.walls == Walls::none) return {};
  const plan::Explanation found = plan::explain(view.prepared.plan, view.prepared.policy, host);
  if (found.reach == plan::Reach::writable) return {};
  std::string_view reason = found.reason;
  if (found.reach == plan::Reach::scratch)
    reason = "the private layer exists only while a command runs";
  return denied(request.operation,
                in_quotes(request.path) + " is read-only" + by_rule(found.origin, reason),
                found.origin, found.grant);
}

}  // namespace coop::tools
