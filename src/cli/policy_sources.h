// The policy files that hold for a workspace, read and judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/policy_files.h"
#include "policy/merge.h"

namespace coop::cli {

struct PolicySource {
  policy::Scope scope = policy::Scope::user;
  Path path{};
  std::optional<std::string> text{};  // nullopt: there is no such file
  policy::Settings settings{};
  policy::Findings findings{};
};

struct PolicySources {
  host::PolicyPlaces places{};
  std::vector<PolicySource> files{};  // organisation, user, project
  policy::Approval approval = policy::Approval::none;

  bool any() const;
  const PolicySource& of(policy::Scope scope) const;
  std::vector<policy::Layer> layers() const;
};

// The machine as far as policy files care: no probing.
Result<HostFacts> surroundings();
policy::Surroundings surroundings_of(const HostFacts& facts, const Path& base);

// `workspace` canonical; empty when there is none. Mistakes in the files are in `findings`; a file that
// cannot be read or believed is an error.
Result<PolicySources> read_policy_sources(const HostFacts& facts, const Path& workspace);

// The first mistake as an error: nothing runs under a policy that was not understood whole.
Result<void> check_sources(const PolicySources& sources);

// The workspace as the kernel names it; empty when it is not there (the planner will say so).
Path real_workspace(const HostFacts& facts, const Path& wanted);

}  // namespace coop::cli
