#include "cli/options_policy.h"

#include "host/probe.h"
#include "policy/builtin.h"

namespace coop::cli {

Result<Policy> policy_of(const Options& options) {
  Policy policy = options.policy;
  if (options.caches.empty()) return policy;
  const HostFacts host = TRY(host::probe(host::Depth::quick));
  std::vector<PathRule> rules;
  for (const std::string& name : options.caches) {
    const std::vector<PathRule> cache = TRY(policy::cache_rules(name, host.home, host.environment));
    rules.insert(rules.end(), cache.begin(), cache.end());
  }
  // Caches first: a --ro or --hide of the same path on the command line wins.
  rules.insert(rules.end(), policy.rules.begin(), policy.rules.end());
  policy.rules = std::move(rules);
  return policy;
}

}  // namespace coop::cli
