#include "cli/try_plan.h"

#include "run/prepare.h"

namespace coop::cli {

namespace {

constexpr std::string_view kCheck = "plan";

void add(policy::Findings& findings, policy::Severity severity, const Origin& origin,
         const std::string& whose, Error error) {
  const std::string hint = std::exchange(error.hint, {});
  add_finding(findings, severity, kCheck, origin,
              (whose.empty() ? "" : whose + ": ") + to_text(error), hint);
}

Result<void> plan(Policy policy) {
  run::Draft draft = TRY(run::begin_prepare(std::move(policy)));
  draft.looks.emplace();  // nothing runs by this plan: guards need not be looked for
  TRY(run::finish_prepare(std::move(draft)));
  return {};
}

// Of the current directory, where nothing names another one.
Result<void> check_workspace(const Path& named) {
  if (!named.empty()) return {};
  const HostFacts facts = TRY(request::surroundings());
  return request::check_unnamed_workspace(facts, request::real_workspace(facts, {}));
}

}  // namespace

void try_plan(Policy policy, const Origin& origin, const std::string& whose,
              policy::Findings& findings) {
  if (Result<void> unnamed = check_workspace(policy.workspace); !unnamed)
    return add(findings, policy::Severity::warning, origin, whose, std::move(unnamed).error());
  if (Result<void> planned = plan(std::move(policy)); !planned)
    add(findings, policy::Severity::error, origin, whose, std::move(planned).error());
}

void try_plan(const request::Wanted& wanted, request::Purpose purpose, const Origin& origin,
              const std::string& whose, policy::Findings& findings) {
  if (Result<void> unnamed = check_workspace(wanted.workspace); !unnamed)
    return add(findings, policy::Severity::warning, origin, whose, std::move(unnamed).error());
  Result<request::Resolved> resolved = request::resolve(wanted, purpose);
  if (!resolved)
    return add(findings, policy::Severity::error, origin, whose, std::move(resolved).error());
  try_plan(std::move(resolved->policy), origin, whose, findings);
}

}  // namespace coop::cli
