#include "policy/builtin.h"

#include <algorithm>
#include <set>

#include "base/path.h"

namespace coop::policy {

namespace {

#include "builtin_lists.inc"

std::string list_of(const std::set<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

std::span<const NamedReason> guards() { return kGuards; }
std::span<const NamedReason> secrets() { return kSecrets; }
std::span<const CacheEntry> caches() { return kCaches; }
std::span<const NamedReason> control_sockets() { return kControlSockets; }

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
                         const std::map<std::string, std::string>& environment) {
  if (!name.starts_with('~')) return {Path(name)};
  std::set<Path> places;
  for (const Path& home : homes)
    if (!home.empty()) places.insert(expand_home(name, home));
  for (const Relocated& relocated : kRelocated) {
    const auto set = environment.find(relocated.variable);
    if (!name.starts_with(relocated.usual) || set == environment.end()) continue;
    if (set->second.starts_with('/'))
      places.insert(normalize(name.substr(relocated.usual.size()), normalize(set->second)));
  }
  return places;
}

}  // namespace

std::vector<PathRule> secret_rules(std::span<const Path> homes,
                                   const std::map<std::string, std::string>& environment) {
  std::vector<PathRule> rules;
  rules.reserve(std::size(kSecrets));
  for (const NamedReason& secret : kSecrets) {
    for (const Path& path : places_of(secret.name, homes, environment)) {
      if (std::ranges::any_of(homes, [&](const Path& home) { return is_within(home, path); }))
        continue;
      rules.push_back(
          PathRule{.kind = RuleKind::hide,
                   .path = path,
                   .if_missing = Missing::skip,
                   .origin = Origin::of_coop(is_own(secret.name) ? Part::own_files : Part::secrets),
                   .reason = std::string(secret.reason)});
    }
  }
  return rules;
}

Result<std::vector<PathRule>> cache_rules(std::string_view name, const Path& home,
                                          const std::map<std::string, std::string>& environment) {
  std::vector<PathRule> rules;
  std::set<std::string_view> known;
  for (const CacheEntry& cache : kCaches) {
    known.insert(cache.name);
    if (cache.name != name) continue;
    const auto variable = environment.find(std::string(cache.variable));
    const bool set = variable != environment.end() && variable->second.starts_with('/');
    const Path base = set ? normalize(variable->second) : expand_home(cache.path, home);
    rules.push_back(PathRule{.kind = RuleKind::read_write,
                             .path = join(base, cache.below),
                             .if_missing = Missing::skip,
                             .origin = Origin::of_flag("--cache", name, Part::cache),
                             .reason = std::string(cache.reason)});
  }
  if (rules.empty())
    return invalid("--cache", "\"" + printable(name) + "\" is not a known cache",
                   "one of: " + list_of(known));
  return rules;
}

Result<std::vector<std::string>> guard_names(std::span<const std::string> allowed) {
  for (const std::string& name : allowed) {
    const auto known = [&](const NamedReason& guard) { return guard.name == name; };
    if (std::ranges::none_of(kGuards, known)) {
      std::set<std::string_view> names;
      for (const NamedReason& guard : kGuards) names.insert(guard.name);
      return invalid("--allow-guarded", "\"" + printable(name) + "\" is not a guarded name",
                     "one of: " + list_of(names));
    }
  }
  std::vector<std::string> names;
  for (const NamedReason& guard : kGuards)
    if (std::ranges::find(allowed, guard.name) == allowed.end()) names.emplace_back(guard.name);
  return names;
}

}  // namespace coop::policy
