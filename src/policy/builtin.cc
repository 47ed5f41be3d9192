#include "policy/builtin.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
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

std::span<const std::string_view> interesting_names(char first) {
  const auto letter = static_cast<unsigned char>(first);
  if (letter + 1U >= std::size(kInterestingBegins)) return {};
  return std::span(kInteresting)
      .subspan(kInterestingBegins[letter],
               kInterestingBegins[letter + 1U] - std::size_t{kInterestingBegins[letter]});
}

std::string_view interesting_digest() { return kInterestingDigest; }

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
  GuardFinder finder;
  for (const std::string& name : names) {
    const GuardEntry* const entry = finder.find(name);
    const GuardKind kind = entry != nullptr ? entry->kind : GuardKind::beside_git;
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
std::span<const HostEntry> host_list() { return kHosts; }

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
constexpr bool is_own(std::string_view secret) {
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

// Where an entry of the list is looked for in a home.
struct SecretPlace {
  std::size_t directory = 0;  // of kSettingsDirectories
  std::string_view name{};    // the first component below it
};

constexpr std::string_view kHomePrefix = "~/";

constexpr SecretPlace secret_place(std::string_view secret) {
  secret.remove_prefix(kHomePrefix.size());
  SecretPlace place;
  for (std::size_t directory = 1; directory < kSettingsDirectories.size(); ++directory) {
    const std::string_view prefix = kSettingsDirectories[directory];
    if (!secret.starts_with(prefix) || !secret.substr(prefix.size()).starts_with('/')) continue;
    place.directory = directory;
    secret.remove_prefix(prefix.size() + 1);
    break;
  }
  place.name = secret.substr(0, secret.find('/'));
  return place;
}

// The entries of the list by their places in a home, so that the few names of a home find theirs.
class SecretPlaces {
 public:
  consteval SecretPlaces() {
    for (std::size_t number = std::size(kSecrets); number-- > 0;) {
      if (!kSecrets[number].name.starts_with(kHomePrefix)) continue;
      const SecretPlace place = secret_place(kSecrets[number].name);
      if (place.name.find_first_of("*?[") != std::string_view::npos)
        throw "a wildcard is too early";
      std::uint16_t& head = heads_[slot_of(place.directory, place.name)];
      next_[number] = head;
      head = static_cast<std::uint16_t>(number + 1);
    }
  }

  template <typename Visit>
  void find(std::size_t directory, std::string_view name, Visit visit) const {
    for (std::uint16_t at = heads_[slot_of(directory, name)]; at != 0; at = next_[at - 1]) {
      const SecretPlace place = secret_place(kSecrets[at - 1].name);
      if (place.directory == directory && place.name == name) visit(at - 1U);
    }
  }

 private:
  static constexpr std::size_t kSlots = 4096;
  static_assert(std::size(kSecrets) < 0xffff);
  static constexpr std::size_t slot_of(std::size_t directory, std::string_view name) {
    return (hash_of(name) + directory * 977) % kSlots;
  }
  std::array<std::uint16_t, kSlots> heads_{};  // 0: none, else the number of an entry and one
  std::array<std::uint16_t, std::size(kSecrets)> next_{};
};

constexpr SecretPlaces kSecretPlaces;

using Chosen = std::bitset<std::size(kSecrets)>;

// The entries that may exist in this home.
Chosen chosen_in(const Path& home, const NamesIn& names_in) {
  Chosen chosen;
  for (std::size_t directory = 0; directory < kSettingsDirectories.size(); ++directory) {
    const std::vector<std::string>* names = names_in ? names_in(home, directory) : nullptr;
    if (names != nullptr) {
      for (const std::string& name : *names)
        kSecretPlaces.find(directory, name, [&](std::size_t number) { chosen.set(number); });
      continue;
    }
    for (std::size_t number = 0; number < std::size(kSecrets); ++number)
      if (kSecrets[number].name.starts_with(kHomePrefix) &&
          secret_place(kSecrets[number].name).directory == directory)
        chosen.set(number);
  }
  return chosen;
}

// Those of which a home says nothing.
consteval auto numbers_outside_homes() {
  constexpr auto is_outside = [](const SecretEntry& secret) {
    return !secret.name.starts_with(kHomePrefix) || is_own(secret.name);
  };
  std::array<std::uint16_t, static_cast<std::size_t>(std::ranges::count_if(kSecrets, is_outside))>
      numbers{};
  std::size_t count = 0;
  for (std::size_t number = 0; number < std::size(kSecrets); ++number)
    if (is_outside(kSecrets[number])) numbers[count++] = static_cast<std::uint16_t>(number);
  return numbers;
}

constexpr auto kOutsideHomes = numbers_outside_homes();

struct ChosenOfHome {
  const Path& home;
  Chosen chosen;
};

// Every path that an entry of the list may refer to, without duplicates.
std::vector<Path> places_of(std::size_t number, std::span<const ChosenOfHome> homes,
                            std::span<const Moved> moved) {
  const std::string_view name = kSecrets[number].name;
  if (!name.starts_with(kHomePrefix)) return {Path(name)};
  const auto below = [&](std::string_view rest, const Path& directory) {
    return normalize(rest, has_wildcard(name) ? as_wildcard(directory) : directory);
  };
  std::vector<Path> places;
  const auto add = [&](Path place) {
    if (!contains(places, place)) places.push_back(std::move(place));
  };
  for (const auto& [home, chosen] : homes)
    if (!home.empty() && (is_own(name) || chosen.test(number)))
      add(below(name.substr(kHomePrefix.size()), home));
  for (const Moved& one : moved)
    if (name.starts_with(one.usual)) add(below(name.substr(one.usual.size()), one.directory));
  std::ranges::sort(places);
  return places;
}

}  // namespace

std::vector<PathRule> secret_rules(std::span<const Path> homes,
                                   const std::map<std::string, std::string>& environment,
                                   const NamesIn& names_in, SecretKind kind) {
  const std::vector<Moved> moved = moved_by(environment);
  Chosen wanted;
  std::vector<ChosenOfHome> chosen;
  for (const Path& home : homes) {
    chosen.push_back({home, chosen_in(home, names_in)});
    wanted |= chosen.back().chosen;
  }
  for (const std::uint16_t number : kOutsideHomes) wanted.set(number);
  for (std::size_t number = 0; !moved.empty() && number < wanted.size(); ++number)
    for (const Moved& one : moved)
      if (kSecrets[number].name.starts_with(one.usual)) wanted.set(number);
  std::vector<PathRule> rules;
  for (std::size_t number = 0; number < wanted.size(); ++number) {
    const SecretEntry& secret = kSecrets[number];
    if (!wanted.test(number) || secret.kind != kind) continue;
    for (const Path& path : places_of(number, chosen, moved)) {
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
