#include "host/probe.h"

#include <unistd.h>

#include "host/environment.h"
#include "host/machine/kernel_features.h"
#include "host/machine/nesting.h"
#include "host/machine/tools.h"

namespace coop::host {
namespace {

// A start does not test what it is about to do anyway.
void assume_the_rest(HostFacts& facts) {
  assume_namespaces(facts);
  facts.seccomp = {.available = true};
  facts.overlay = {.available = true};
  facts.proc = ProcMount::full;
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
  facts.nested_in = name_nesting(gather_nesting_clues(facts.environment));
  try_namespaces(facts);
  try_seccomp(facts);
  inspect_cgroups(facts);
  find_tools(facts);
  return facts;
}

}  // namespace coop::host
