// From a policy to everything a start needs: gathers the facts, makes the plan.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "coop/policy.h"
#include "guards/walk.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "run/cleanup/cleanup.h"
#include "run/own_directories.h"

namespace coop::run {

struct Prepared {
  Policy policy{};  // completed: with built-in rules, and patterns replaced by their matches
  Plan plan{};
  std::vector<WorkspaceFacts> before{};      // one for each of plan.guards.roots
  Path quarantine{};                         // where guarded files of this sandbox are moved
  Path made_inside{};                        // the record of git directories that sandboxes made
  Path indexes{};                            // of looks at the writable trees
  std::shared_ptr<const HostFacts> facts{};  // what the plan was made from
  guards::GitUser git_user{};
  std::vector<MountBelow> mounts{};  // of the host
};

// Whether a look at the writable trees may leave something in coop's state for the next.
enum class Indexes : std::uint8_t { read, written };
using Learning = guards::TreeMemory::Learning;

// What is known before the file system is read.
struct Draft {
  Policy policy{};
  HostFacts host{};
  // The plan takes them as existing. start() creates them first; nothing else does.
  MissingDirectories missing{};
  bool unnamed = false;  // the workspace is the current directory because no other was named
  Indexes indexes = Indexes::read;
  TreeWatch* watch = nullptr;  // of a pool
  Learning learning = Learning::no;
  // What a walk for guards found in each writable tree. Unset: gather() walks.
  std::optional<std::vector<WorkspaceFacts>> looks{};
};

// Completes the policy (id, workspace, absolute paths, the built-in secrets) and matches patterns.
Result<Draft> begin_prepare(Policy policy);
// Whether the limits need a control group, which must exist before the child.
bool wants_group(const Draft& draft);
// Whether a tree of the host is writable inside.
bool writes(const Draft& draft);
// Whether git directories may have to be served: known before the walk that finds them.
bool may_serve(const Draft& draft);
// Gathers the facts that the file system has.
Result<void> gather(Draft& draft);
// From gathered facts.
Result<Prepared> compile(Draft draft);
// For each root of the plan's guards, the look at it.
std::vector<WorkspaceFacts> looks_of(const Plan& plan, const std::vector<WorkspaceFacts>& looks);
// Both.
Result<Prepared> finish_prepare(Draft draft);

// All of it. Changes nothing on the host.
Result<Prepared> prepare(Policy policy);

// Eight random letters and digits.
std::string new_id();

}  // namespace coop::run
