#include "policy/builtin.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "base/path.h"
#include "base/text.h"
#include "base/wildcard.h"

namespace coop::policy {

namespace {

#include "builtin_lists.inc"

}  // namespace

std::span<const GuardEntry> guards() { return kGuards; }

GuardKind guard_kind(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kGuards, name, {}, &GuardEntry::name);
  const bool known = found != std::end(kGuards) && found->name == name;
  return known ? found->kind : GuardKind::beside_git;
}

std::optional<std::string> guard_around(const Path& path, std::span<const std::string> names,
                                        const Path& home) {
  for (const std::string& name : names) {
    const GuardKind kind = guard_kind(name);
    // ".git" and :file guards are about what is no directory.
    // Granted by its own path it is meant; in a larger tree of the home it is guarded.
    if (kind == GuardKind::home_path) continue;
    const bool found = kind == GuardKind::home ? !home.empty() && is_within(path, join(home, name))
                                               : name != ".git" && kind != GuardKind::file &&
                                                     (path + "/").contains("/" + name + "/");
    if (found) return name;
  }
  return std::nullopt;
}
std::span<const CacheEntry> caches() { return kCaches; }
std::span<const NamedReason> control_sockets() { return kControlSockets; }
std::span<const NamedReason> home_list() { return kHome; }
std::span<const NamedReason> etc_list() { return kEtc; }
std::span<const SecretPattern> workspace_secrets() { return kWorkspaceSecrets; }

std::vector<std::string_view> cache_names() {
  std::vector<std::string_view> names;
  for (const CacheEntry& cache : kCaches)
    if (!contains(names, cache.name)) names.push_back(cache.name);
  return names;
}

Path expand_home(std::string_view path, std::string_view home) {
  if (path == "~") return Path(home);
  if (path.starts_with("~/")) return normalize(path.substr(2), home);
  return Path(path);
}

namespace {

struct Relocated {
  std::string_view usual;
  const char* variable;
};

constexpr Relocated kRelocated[] = {{"~/.config/", "XDG_CONFIG_HOME"},
                                    {"~/.local/share/", "XDG_DATA_HOME"},
                                    {"~/.local/state/", "XDG_STATE_HOME"}};

// These cannot be granted: the planner refuses them, see check_special() in plan/view/rules.cc.
bool is_own(std::string_view secret) {
  return secret == "~/.local/state/coop" || secret == "~/.config/coop";
}

// Every path that an entry of the list may refer to, without duplicates.
std::set<Path> places_of(std::string_view name, std::span<const Path> homes,
                         const std::map<std::string, std::string>& environment,
                         const MayExist& may_exist) {
  if (!name.starts_with("~/")) return {Path(name)};
  const auto below = [&](std::string_view rest, const Path& directory) {
    return normalize(rest, has_wildcard(name) ? as_wildcard(directory) : directory);
  };
  std::set<Path> places;
  for (const Path& home : homes)
    if (!home.empty() && (!may_exist || is_own(name) || may_exist(home, name.substr(2))))
      places.insert(below(name.substr(2), home));
  for (const Relocated& relocated : kRelocated) {
    const auto set = environment.find(relocated.variable);
    if (!name.starts_with(relocated.usual) || set == environment.end()) continue;
    if (set->second.starts_with('/'))
      places.insert(below(name.substr(relocated.usual.size()), normalize(set->second)));
  }
  return places;
}

}  // namespace

std::vector<PathRule> secret_rules(std::span<const Path> homes,
                                   const std::map<std::string, std::string>& environment,
                                   const MayExist& may_exist, SecretKind kind) {
  std::vector<PathRule> rules;
  for (const SecretEntry& secret : kSecrets) {
    if (secret.kind != kind) continue;
    for (const Path& path : places_of(secret.name, homes, environment, may_exist)) {
      if (std::ranges::any_of(homes, [&](const Path& home) { return is_within(home, path); }))
        continue;
      rules.push_back(
          PathRule{.kind = RuleKind::hide,
                   .path = path,
                   .if_missing = Missing::skip,
                   .origin = Origin::of_coop(is_own(secret.name) ? Part::own_files : Part::secrets),
                   .reason = std::string(secret.reason),
                   .pattern = has_wildcard(secret.name)});
    }
  }
  return rules;
}

Path cache_base(const CacheEntry& cache, const Path& home,
                const std::map<std::string, std::string>& environment) {
  const auto variable = environment.find(std::string(cache.variable));
  const bool set = variable != environment.end() && variable->second.starts_with('/');
  return set ? normalize(variable->second) : expand_home(cache.path, home);
}

namespace {

RuleKind kind_of(CacheUse use, Sharing sharing) {
  if (use == CacheUse::fresh) return RuleKind::tmpfs;
  return use == CacheUse::checked && sharing == Sharing::with_host ? RuleKind::read_write
                                                                   : RuleKind::overlay;
}

}  // namespace

Result<std::vector<PathRule>> cache_rules(std::string_view name, const Path& home,
                                          const std::map<std::string, std::string>& environment,
                                          Sharing sharing) {
  const std::string_view flag = sharing == Sharing::with_host ? "--share-cache" : "--cache";
  std::vector<PathRule> rules;
  for (const CacheEntry& cache : kCaches) {
    if (cache.name != name) continue;
    rules.push_back(PathRule{.kind = kind_of(cache.use, sharing),
                             .path = join(cache_base(cache, home, environment), cache.below),
                             .if_missing = Missing::skip,
                             .origin = Origin::of_flag(flag, name, Part::cache),
                             .reason = std::string(cache.reason)});
  }
  if (rules.empty()) {
    const std::vector<std::string_view> names = cache_names();
    return invalid(flag, "\"" + printable(name) + "\" is not a known cache",
                   "one of: " + joined(std::set(names.begin(), names.end()), ", "));
  }
  if (sharing == Sharing::with_host && std::ranges::none_of(rules, [](const PathRule& rule) {
        return rule.kind == RuleKind::read_write;
      })) {
    std::set<std::string_view> names;
    for (const CacheEntry& cache : kCaches)
      if (cache.use == CacheUse::checked) names.insert(cache.name);
    return invalid(
        flag,
        "the host would run what is in the cache of " + std::string(name) + " without checking it",
        "take a private copy: --cache " + std::string(name) +
            ", or cache_volumes in a file; what can be shared: " + joined(names, ", "));
  }
  return rules;
}

std::string similar_guards(std::string_view name) {
  std::vector<std::string_view> all;
  for (const NamedReason& guard : kGuards) all.push_back(guard.name);
  const std::vector<std::string_view> near = nearest_few(name, all);
  return (near.empty() ? "" : "did you mean " + joined(near, " or ") + "? ") +
         "`coop plan --json` lists all names, under guards";
}

Result<std::vector<std::string>> guard_names(std::span<const std::string> allowed) {
  for (const std::string& name : allowed) {
    if (contains(kGuards, name, &NamedReason::name)) continue;
    return invalid("--allow-guarded", "\"" + printable(name) + "\" is not a guarded name",
                   similar_guards(name));
  }
  std::vector<std::string> names;
  for (const NamedReason& guard : kGuards)
    if (!contains(allowed, guard.name)) names.emplace_back(guard.name);
  return names;
}

}  // namespace coop::policy
