#include <cerrno>

#include "base/path.h"
#include "plan/show/explain.h"
#include "policy/builtin.h"
#include "report/words/words.h"
#include "tools/files/identity.h"
#include "tools/files/lookup.h"
#include "tools/files/path_form.h"

namespace coop::tools {

namespace {

std::string by_rule(const Origin& rule, std::string_view reason) {
  return " by " + report::in_words(rule) + (reason.empty() ? "" : ": " + printable(reason));
}

std::string_view reason_of(std::string_view guard) {
  for (const policy::NamedReason& known : policy::guards())
    if (known.name == guard) return known.reason;
  return {};
}

plan::Explanation explain(const FileView::State& view, const Path& inside) {
  return plan::explain_inside(view.prepared.plan, view.prepared.policy, inside);
}

// Private files, and the kernel's files about processes and terminals.
bool lasts_for_a_run(const plan::Explanation& found) {
  return found.path.empty() &&
         (found.reach == plan::Reach::scratch ||
          (found.reach == plan::Reach::readable &&
           (found.origin.part == Part::namespaces || found.origin.part == Part::devices)));
}

std::unexpected<Error> not_there(const Request& request, const plan::Explanation& found) {
  const report::Words origin = report::in_words(found.origin);
  std::string what = " is not in the sandbox's view";
  if (lasts_for_a_run(found))
    what += " outside of a command: what is there (" + origin + ") exists only while one runs";
  else if (!request.path.starts_with('/'))
    what = " leads out of the workspace, to what is not in the sandbox's view";
  else what += " (" + origin + ")";
  return denied(request.operation, in_quotes(request.path) + what, Rule{found.origin}, found.grant);
}

}  // namespace

Result<void> check_shown(const FileView::State& view, const Request& request, const Path& inside) {
  if (view.walls == Walls::none) return {};
  const plan::Explanation found = explain(view, inside);
  if (found.reach == plan::Reach::hidden)
    return denied(request.operation,
                  in_quotes(request.path) + " is hidden" + by_rule(found.origin, found.reason),
                  Rule{found.origin}, found.grant);
  return lasts_for_a_run(found) ? not_there(request, found) : Result<void>();
}

std::unexpected<Error> not_found(const FileView::State& view, const Request& request,
                                 const Found& found) {
  if (view.walls == Walls::sandbox) {
    const plan::Explanation explained = explain(view, found.inside);
    if (explained.reach == plan::Reach::absent) return not_there(request, explained);
  }
  return system_error_of(ENOENT, request.operation, printable(request.path));
}

Result<void> check_name(const FileView::State& view, const Request& request, const Path& inside,
                        std::size_t made) {
  const Path& workspace = view.workspace_inside();
  if (is_within(inside, workspace) && is_identity_file(relative_to(inside, workspace)))
    return denied(
        request.operation,
        in_quotes(request.path) +
            " is read-only by identity file: the agent must not change its identity files",
        Rule::of_coop(Part::identity_files));
  if (view.walls == Walls::none) return {};
  const Path host = explain(view, inside).path;
  if (host.empty()) return {};  // nothing of the host: the shared /tmp
  Path first_made = made == 0 ? Path() : host;
  for (std::size_t above = 1; above < made; ++above) first_made = parent_of(first_made);
  for (const guards::GuardMatcher& matcher : view.guards) {
    const std::optional<std::string> guard = matcher.guard_of(host, first_made);
    if (!guard) continue;
    const Origin rule = Origin::of_coop(Part::guard, *guard);
    return denied(request.operation,
                  "creating or changing " + in_quotes(request.path) + " is denied" +
                      by_rule(rule, reason_of(*guard)),
                  Rule{rule}, Grant{"--allow-guarded", *guard});
  }
  return {};
}

Result<void> check_writable(const FileView::State& view, const Request& request, const Path& inside,
                            std::size_t made) {
  TRY(check_shown(view, request, inside));
  TRY(check_name(view, request, inside, made));
  if (view.walls == Walls::none) return {};
  const plan::Explanation found = explain(view, inside);
  if (found.reach == plan::Reach::writable) return {};
  if (found.reach == plan::Reach::absent) return not_there(request, found);
  std::string_view reason = found.reason;
  if (found.reach == plan::Reach::scratch)
    reason = "the private layer exists only while a command runs";
  return denied(request.operation,
                in_quotes(request.path) + " is read-only" + by_rule(found.origin, reason),
                Rule{found.origin}, found.grant);
}

}  // namespace coop::tools
