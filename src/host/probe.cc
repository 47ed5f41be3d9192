#include "host/probe.h"

#include <unistd.h>

#include "host/environment.h"
#include "host/machine/kernel_features.h"
#include "host/machine/nesting.h"
#include "host/machine/tools.h"

namespace coop::host {
namespace {

void name_outer(HostFacts& facts) {
  facts.nested_in = name_nesting(gather_nesting_clues(facts.environment));
}

// A start does not test what it is about to do anyway. An outer filter is the exception: the plan can go without what it
// refuses, or say what is missing and which setting of the container helps.
void assume_the_rest(HostFacts& facts) {
  facts.seccomp = {.available = true};
  facts.overlay = {.available = true};
  facts.proc = ProcMount::full;
  if (!under_filter()) return assume_namespaces(facts);
  name_outer(facts);
  try_namespaces(facts, Extent::cloned);
}

}  // namespace

Result<HostFacts> probe(Depth depth) {
  HostFacts facts;
  TRY(read_surroundings(facts));
  facts.landlock_abi = landlock_abi();
  inspect_shared_limits(facts);
  facts.ipv6 = ::access("/proc/net/if_inet6", F_OK) == 0;
  if (depth == Depth::quick) {
    assume_the_rest(facts);
    find_fuse(facts);
    return facts;
  }
  TRY(inspect_mounts(facts));
  name_outer(facts);
  try_namespaces(facts, Extent::everything);
  try_seccomp(facts);
  inspect_cgroups(facts);
  find_tools(facts);
  return facts;
}

}  // namespace coop::host
