#include "request/sources.h"

#include <algorithm>

#include "base/path.h"
#include "host/environment.h"
#include "policy/merge/bounded.h"
#include "report/words/words.h"
#include "request/program.h"
#include "sys/real_path.h"

namespace coop::request {

namespace {

// "~" in the organisation's file is the account's home directory, not $HOME: the caller could
// otherwise move the ceiling.
policy::Surroundings surroundings_in(Scope scope, const HostFacts& facts, const Path& base) {
  if (scope != Scope::organisation || facts.account_home.empty())
    return surroundings_of(facts, base);
  return {.home = facts.account_home, .environment = {{"HOME", facts.account_home}}, .base = base};
}

Result<PolicySource> read_source(Scope scope, const Path& path, const HostFacts& facts,
                                 Result<std::optional<std::string>> text, const Path& base) {
  PolicySource source{.scope = scope, .path = path};
  source.text =
      TRY(with_context("reading the " + report::in_words(scope) + " policy", std::move(text)));
  if (source.text)
    source.settings = policy::read_policy(
        *source.text,
        {.file = path, .scope = scope, .surroundings = surroundings_in(scope, facts, base)},
        source.findings);
  return source;
}

Result<PolicySource> read_organisation(const host::PolicyPlaces& places, const HostFacts& facts) {
  return read_source(Scope::organisation, places.organisation, facts,
                     host::read_policy_file(places.organisation, host::RequiredOwner::root), {});
}

}  // namespace

const PolicySource& PolicySources::of(Scope scope) const {
  return *std::ranges::find(files, scope, &PolicySource::scope);
}

std::vector<policy::Layer> PolicySources::layers() const {
  std::vector<policy::Layer> layers;
  for (const PolicySource& file : files)
    if (file.text) layers.push_back({file.scope, file.settings});
  return layers;
}

Result<HostFacts> surroundings() {
  HostFacts facts;
  TRY(host::read_surroundings(facts));
  return facts;
}

policy::Surroundings surroundings_of(const HostFacts& facts, const Path& base) {
  return {.home = facts.home, .environment = facts.environment, .base = base};
}

Result<PolicySources> read_policy_sources(const HostFacts& facts, const Path& workspace) {
  PolicySources sources;
  sources.places = host::policy_places(facts, workspace);
  const host::PolicyPlaces& places = sources.places;
  sources.files.push_back(TRY(read_organisation(places, facts)));
  sources.files.push_back(
      TRY(read_source(Scope::user, places.user, facts,
                      host::read_policy_file(places.user, host::RequiredOwner::self), {})));
  Result<std::optional<std::string>> project{std::nullopt};
  if (!workspace.empty()) project = host::read_project_policy(workspace);
  sources.files.push_back(
      TRY(read_source(Scope::project, places.project, facts, std::move(project), workspace)));
  if (const std::optional<std::string>& text = sources.of(Scope::project).text) {
    const bool approved = TRY(host::is_approved(places, *text));
    // An approval there may have come with the repository.
    const bool given = approved && !is_state_in_repository(facts, workspace);
    sources.approval = given ? policy::Approval::given : policy::Approval::none;
  }
  return sources;
}

bool is_state_in_repository(const HostFacts& facts, const Path& workspace) {
  if (workspace.empty()) return false;
  const Path home = resolved_path(facts.home);
  const Path around = repository_around(workspace, home);
  const Path& tree = around.empty() ? workspace : around;
  return is_within(resolved_path(facts.state_directory), tree) && !is_within(home, tree);
}

Result<void> check_sources(const PolicySources& sources) {
  for (const PolicySource& file : sources.files)
    if (policy::has_errors(file.findings)) return std::unexpected(to_error(file.findings));
  return {};
}

Result<Policy> within_ceiling(Policy policy, const HostFacts& facts) {
  const PolicySource file = TRY(read_organisation(host::policy_places(facts, {}), facts));
  if (!file.text) return policy;
  if (policy::has_errors(file.findings)) return std::unexpected(to_error(file.findings));
  const policy::Surroundings surroundings = surroundings_of(facts, policy.workspace);
  return policy::bounded(std::move(policy), file.settings, surroundings);
}

Result<void> check_unnamed_workspace(const HostFacts& facts, const Path& workspace) {
  for (const Path& home : {facts.home, facts.account_home}) {
    const Path real = home.empty() ? Path{} : real_workspace(facts, home);
    if (real.empty() || workspace.empty() || !is_within(real, workspace)) continue;
    return invalid("--workspace",
                   "the current directory " + in_quotes(workspace) +
                       (real == workspace ? " is" : " contains") + " your home directory",
                   "go to a project first, or say --workspace " + printable(workspace) +
                       " if you intend this");
  }
  return {};
}

Path real_workspace(const HostFacts& facts, const Path& wanted) {
  const Path whole = wanted.empty()            ? facts.working_directory
                     : wanted.starts_with('/') ? wanted
                                               : join(facts.working_directory, wanted);
  return real_path(whole).value_or(Path{});
}

}  // namespace coop::request
