// The policy files that apply to a workspace, read and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/files/policy_files.h"
#include "policy/merge/merge.h"

namespace coop::request {

struct PolicySource {
  Scope scope = Scope::user;
  Path path{};
  std::optional<std::string> text{};  // nullopt: there is no such file
  policy::Settings settings{};
  policy::Findings findings{};
};

struct PolicySources {
  host::PolicyPlaces places{};
  std::vector<PolicySource> files{};  // organisation, user, project
  policy::Approval approval = policy::Approval::none;

  const PolicySource& of(Scope scope) const;
  std::vector<policy::Layer> layers() const;
};

// coop's state directory lies in the repository of the workspace, and the home does not: what is in it may have come with the
// repository.
bool is_state_in_repository(const HostFacts& facts, const Path& workspace);

// The facts that policy files need: no probing.
Result<HostFacts> surroundings();
policy::Surroundings surroundings_of(const HostFacts& facts, const Path& base);

// `workspace` canonical; empty when there is none. Errors in the files are in `findings`; a file
// that cannot be read or trusted is an error.
Result<PolicySources> read_policy_sources(const HostFacts& facts, const Path& workspace);

// `policy` within the organisation's ceiling: see policy::bounded(). Its paths must be absolute. Returned
// unchanged if there is no organisation file; an unreadable or untrusted file is an error.
Result<Policy> within_ceiling(Policy policy, const HostFacts& facts);

// The first finding as an error: nothing runs under a policy that was only partially understood.
Result<void> check_sources(const PolicySources& sources);

// Nothing named `workspace`: it is the current directory, canonical. A home directory, or one that contains it, is not
// taken unasked: the command could change everything the user has.
Result<void> check_unnamed_workspace(const HostFacts& facts, const Path& workspace);

// The canonical workspace; empty when it does not exist (the planner reports that).
Path real_workspace(const HostFacts& facts, const Path& wanted);

}  // namespace coop::request
