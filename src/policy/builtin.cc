#include "policy/builtin.h"

#include <algorithm>
#include <array>
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

namespace {

// FNV-1a.
constexpr std::size_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619;
  return hash ^ (hash >> 16);
}

// The place of each guard in the list, by its name: at each start every name is asked for several times.
class GuardPlaces {
 public:
  consteval GuardPlaces() {
    for (std::size_t place = 0; place < std::size(kGuards); ++place) {
      std::size_t slot = hash_of(kGuards[place].name) % kSlots;
      while (slots_[slot] != 0) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<std::uint16_t>(place + 1);
    }
  }
  const GuardEntry* find(std::string_view name) const {
    for (std::size_t slot = hash_of(name) % kSlots; slots_[slot] != 0; slot = (slot + 1) % kSlots)
      if (kGuards[slots_[slot] - 1].name == name) return &kGuards[slots_[slot] - 1];
    return nullptr;
  }

 private:
  static constexpr std::size_t kSlots = 2048;
  static_assert(std::size(kGuards) * 2 <= kSlots);
  std::array<std::uint16_t, kSlots> slots_{};  // 0: none, else the place and one
};

constexpr GuardPlaces kGuardPlaces;

}  // namespace

const GuardEntry* find_guard(std::string_view name) { return kGuardPlaces.find(name); }

GuardKind guard_kind(std::string_view name) {
  const GuardEntry* const found = find_guard(name);
  return found != nullptr ? found->kind : GuardKind::beside_git;
}

namespace {

// Whether `name`, one or several components, is anywhere in an absolute path.
bool has_components(std::string_view path, std::string_view name) {
  for (std::size_t at = path.find(name); at != std::string_view::npos;
       at = path.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at > 0 && path[at - 1] == '/' && (end == path.size() || path[end] == '/')) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> guard_around(const Path& path, std::span<const std::string> names,
                                        const Path& home) {
  for (const std::string& name : names) {
    const GuardKind kind = guard_kind(name);
    // ".git" and :file guards are about what is no directory.
    // Granted by its own path it is meant; in a larger tree of the home it is guarded.
    if (kind == GuardKind::home_path) continue;
    const bool found = kind == GuardKind::home ? !home.empty() && is_within(path, join(home, name))
                                               : name != ".git" && kind != GuardKind::file &&
                                                     has_components(path, name);
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

// Where the variables of this environment move parts of the home to.
struct Moved {
  std::string_view usual;
  Path directory;
};

std::vector<Moved> moved_by(const std::map<std::string, std::string>& environment) {
  std::vector<Moved> moved;
  for (const Relocated& relocated : kRelocated) {
    const auto set = environment.find(relocated.variable);
    if (set != environment.end() && set->second.starts_with('/'))
      moved.push_back({relocated.usual, normalize(set->second)});
  }
  return moved;
}

// Every path that an entry of the list may refer to, without duplicates.
std::vector<Path> places_of(std::string_view name, std::span<const Path> homes,
                            std::span<const Moved> moved, const MayExist& may_exist) {
  if (!name.starts_with("~/")) return {Path(name)};
  const auto below = [&](std::string_view rest, const Path& directory) {
    return normalize(rest, has_wildcard(name) ? as_wildcard(directory) : directory);
  };
  std::vector<Path> places;
  const auto add = [&](Path place) {
    if (!contains(places, place)) places.push_back(std::move(place));
  };
  for (const Path& home : homes)
    if (!home.empty() && (!may_exist || is_own(name) || may_exist(home, name.substr(2))))
      add(below(name.substr(2), home));
  for (const Moved& one : moved)
    if (name.starts_with(one.usual)) add(below(name.substr(one.usual.size()), one.directory));
  std::ranges::sort(places);
  return places;
}

}  // namespace

std::vector<PathRule> secret_rules(std::span<const Path> homes,
                                   const std::map<std::string, std::string>& environment,
                                   const MayExist& may_exist, SecretKind kind) {
  std::vector<PathRule> rules;
  const std::vector<Moved> moved = moved_by(environment);
  for (const SecretEntry& secret : kSecrets) {
    if (secret.kind != kind) continue;
    for (const Path& path : places_of(secret.name, homes, moved, may_exist)) {
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
