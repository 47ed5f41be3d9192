// Caches of toolchains: copy-on-write over the host's, at the path where the toolchain looks for it. Writes go to memory and vanish: a
// cache that a later sandbox or the host reads again would carry code from one to the other.
#include <algorithm>
#include <map>

#include "base/path.h"
#include "base/text.h"
#include "plan/view/layout.h"
#include "policy/builtin.h"

namespace coop::plan {

namespace {

std::map<std::string, const PathRule*> caches_in_use(const Policy& policy) {
  std::map<std::string, const PathRule*> used;
  for (const PathRule& rule : policy.rules)
    if (rule.origin.part == Part::cache && contains(policy::cache_names(), rule.origin.name))
      used.try_emplace(rule.origin.name, &rule);
  return used;
}

Path base_of(const policy::CacheEntry& cache, const HostFacts& host) {
  return policy::cache_base(cache, host.home, host.environment);
}

// Writable and private: the home of the host view.
bool is_in_private_tree(const std::vector<Entry>& entries, const Path& path) {
  const Entry* outer = deciding_entry(entries, path);
  return outer != nullptr && outer->kind == Entry::Kind::tmpfs && !outer->sealed;
}

// The minimal view has neither the cache nor the directories above it.
void make_room(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
               const PathRule& rule, const policy::CacheEntry& cache) {
  const Path base = base_of(cache, host);
  if (is_within(base, policy.workspace)) return;
  const auto add = [&](const Path& target) {
    entries.push_back(Entry{.kind = Entry::Kind::tmpfs,
                            .target = target,
                            .flags = {.access = Access::read_write},
                            .size = policy.limits.tmp_size,
                            .inodes = inodes_for(policy.limits),
                            .origin = rule.origin,
                            .why = "the toolchain writes beside its cache, too"});
  };
  if (!cache.below.empty()) add(base);
  else if (!host.has(base)) add(base);
}

}  // namespace

Result<void> add_caches(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host) {
  for (const auto& [name, rule] : caches_in_use(policy)) {
    bool found = false;  // by the toolchain
    bool there = policy.view == View::minimal;
    for (const policy::CacheEntry& cache : policy::caches()) {
      if (cache.name != name) continue;
      found = found || policy.view == View::host || !cache.variable.empty();
      const Path path = join(base_of(cache, host), cache.below);
      if (policy.view == View::minimal) make_room(entries, policy, host, *rule, cache);
      else there = there || host.has(path) || is_in_private_tree(entries, path);
    }
    if (!found)
      return invalid(rule->origin,
                     printable(name) +
                         " looks for its cache only below $HOME, which the minimal "
                         "view does not have",
                     rule->origin.flag.empty() ? "write view = \"host\", or leave the cache out"
                                               : "add --view host");
    if (!there)
      return invalid(rule->origin, "there is no cache of " + printable(name) + " on this machine",
                     "run the toolchain outside once, or leave this out");
  }
  return {};
}

std::map<std::string, std::string> cache_variables(const Policy& policy, const HostFacts& host) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, rule] : caches_in_use(policy))
    for (const policy::CacheEntry& cache : policy::caches()) {
      if (cache.name != name || cache.variable.empty()) continue;
      Path base = base_of(cache, host);
      // Where the rule is mounted: in the host view at the canonical path.
      const Path below = cache.below.empty() ? Path{} : "/" + Path(cache.below);
      const Path& canonical = host.fact(base + below).canonical;
      if (policy.view == View::host && canonical.ends_with(below) && !canonical.empty())
        base = canonical.substr(0, canonical.size() - below.size());
      if (is_within(base, policy.workspace))
        base = join(workspace_target(policy), relative_to(base, policy.workspace));
      variables.try_emplace(std::string(cache.variable), base);
    }
  return variables;
}

}  // namespace coop::plan
