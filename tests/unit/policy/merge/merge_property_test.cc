// For any layers: a restriction never grants, an unapproved project never grants, and nothing
// exceeds the ceiling. Checked against a second, simpler interpretation of settings.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <tuple>

#include "policy/merge/compare.h"
#include "policy/merge/merge.h"
#include "report/text.h"
#include "settings_literals.h"

namespace coop::policy {
namespace {

using namespace testing_literals;

constexpr int kRounds = 5000;

// --- What settings mean ------------------------------------------------------------------------

struct Reach {
  bool read = false;
  bool write = false;
  bool operator==(const Reach&) const = default;
};

constexpr std::array kPathLists{Key::readable_paths, Key::writable_paths, Key::overlay_paths,
                                Key::hidden_paths, Key::protected_paths};
const std::vector<std::string> kPlaces{"/a", "/a/b", "/a/b/c", "/a/x", "/d", "/d/e"};

// The only pattern in these tests is "/a/*".
bool speaks_of(const std::string& rule, const std::string& place) {
  if (rule == "/") return true;
  if (rule == "/a/*") return place.starts_with("/a/");
  return place == rule || place.starts_with(rule + "/");
}

std::string word(const Settings& settings, Key key) {
  const auto found = settings.find(key);
  return std::get<std::string>(found == settings.end() ? built_in(key) : found->second.value);
}

Reach reach(const Settings& settings, const std::string& place) {
  using Rule = std::tuple<long, Scope, std::size_t>;  // depth, scope, place in kPathLists
  std::vector<Rule> rules;
  bool never_read = false;
  bool never_write = false;
  for (std::size_t list = 0; list < kPathLists.size(); ++list) {
    const auto found = settings.find(kPathLists[list]);
    if (found == settings.end()) continue;
    for (const Item& item : found->second.items) {
      if (!speaks_of(item.path, place)) continue;
      const long depth = item.path == "/" ? 0 : std::ranges::count(item.path, '/');
      rules.emplace_back(depth, item.origin.scope, list);
      const bool final = item.origin.scope == Scope::organisation;
      never_read = never_read || (final && kPathLists[list] == Key::hidden_paths);
      never_write = never_write || (final && kPathLists[list] == Key::protected_paths);
    }
  }
  std::ranges::sort(rules);
  Reach result{.read = word(settings, Key::view) == "host"};
  for (const auto& [depth, scope, list] : rules) {
    if (kPathLists[list] == Key::protected_paths) result.write = false;
    else
      result = {.read = kPathLists[list] != Key::hidden_paths,
                .write = kPathLists[list] == Key::writable_paths};
  }
  if (never_read) return {};
  if (never_write) result.write = false;
  return result;
}

struct Target {
  std::string name;
  bool nearby;
  std::vector<std::string> allowed_by;
  std::vector<std::string> denied_by;
};
const std::vector<Target> kTargets{
    {"a.com:443", false, {"a.com"}, {"a.com"}},
    {"a.com:22", false, {"a.com:22"}, {"a.com", "a.com:22"}},
    {"x.a.com:443", false, {"*.a.com", "x.a.com"}, {"*.a.com", "x.a.com"}},
    {"10.0.0.1:443", true, {"10.0.0.1", "10.0.0.0/8"}, {"10.0.0.1", "10.0.0.0/8"}},
    {"10.2.2.2:443", true, {"10.0.0.0/8"}, {"10.0.0.0/8"}},
};

bool lists_one_of(const Settings& settings, Key key, const std::vector<std::string>& names) {
  const auto found = settings.find(key);
  return found != settings.end() && std::ranges::any_of(found->second.items, [&](const Item& item) {
           return std::ranges::find(names, item.text) != names.end();
         });
}

bool reaches(const Settings& settings, const Target& target) {
  if (lists_one_of(settings, Key::network_deny, target.denied_by)) return false;
  const std::string mode = word(settings, Key::network);
  if (mode == "none") return false;
  if (mode == "host") return true;
  if (mode != "allowlist" && !target.nearby) return true;
  return lists_one_of(settings, Key::network_allow, target.allowed_by);
}

// Empty when `after` grants nothing that `before` does not grant.
std::string gained(const Settings& before, const Settings& after) {
  for (const Refusal& refusal : widenings(before, after)) return to_text(refusal);
  for (const std::string& place : kPlaces) {
    const Reach old_reach = reach(before, place);
    const Reach new_reach = reach(after, place);
    if (new_reach.read && !old_reach.read) return place + " can be read";
    if (new_reach.write && !old_reach.write) return place + " can be written";
  }
  for (const Target& target : kTargets)
    if (reaches(after, target) && !reaches(before, target)) return target.name + " is reached";
  return {};
}

// --- Layers by chance --------------------------------------------------------------------------

const std::vector<std::string> kPaths{"/a", "/a/b", "/a/b/c", "/a/*", "/d", "/"};
const std::vector<std::string> kHosts{"a.com",   "a.com:22", "x.a.com",
                                      "*.a.com", "10.0.0.1", "10.0.0.0/8"};
constexpr std::array kScopes{Scope::organisation, Scope::user,     Scope::project,
                             Scope::config,       Scope::override, Scope::command_line};

struct Choices {
  Key key;
  std::vector<Scalar> values;  // from narrow to wide
};
const std::vector<Choices> kScalars{
    {Key::mode, {"enabled", "disabled"}},
    {Key::view, {"minimal", "host"}},
    {Key::show_home, {false, true}},
    {Key::hide_secrets, {true, false}},
    {Key::network, {"none", "allowlist", "full", "veth", "host"}},
    {Key::memory, {std::uint64_t{1}, std::uint64_t{2}, Unlimited{}}},
    {Key::pids_limit, {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{9999}, Unlimited{}}},
    {Key::debug, {false, true}},
    {Key::network_mptcp, {false, true}},
    {Key::landlock, {"required", "best_effort"}},
};

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}

  std::size_t below(std::size_t count) { return engine_() % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

  std::vector<std::string> some(const std::vector<std::string>& choices) {
    std::vector<std::string> result;
    for (std::size_t count = below(3); count > 0; --count) result.push_back(of(choices));
    return result;
  }

  Layer layer(Scope scope) {
    LayerMaker maker(scope);
    for (const Choices& scalar : kScalars)
      if (one_in(3)) maker.set(scalar.key, of(scalar.values));
    for (const Key key : kPathLists)
      if (one_in(2)) maker.paths(key, some(kPaths));
    if (one_in(2)) maker.names(Key::network_allow, some(kHosts));
    if (one_in(4)) maker.names(Key::network_deny, some(kHosts));
    if (one_in(4)) maker.names(Key::cache_volumes, some({"cargo", "npm"}));
    if (one_in(4)) maker.names(Key::share_caches, some({"cargo", "npm"}));
    if (one_in(4)) maker.names(Key::env_pass, some({"A", "B"}));
    if (one_in(4)) maker.variable(one_in(2) ? "PATH" : "A", one_in(2) ? "1" : "2");
    return maker;
  }

  std::vector<Layer> layers() {
    std::vector<Layer> result;
    for (const Scope scope : kScopes)
      if (one_in(2)) result.push_back(layer(scope));
    if (one_in(4)) result.push_back(layer(Scope::config));
    return result;
  }

  Approval approval() { return one_in(2) ? Approval::given : Approval::none; }

 private:
  std::mt19937 engine_;
};

std::string shown(const std::vector<Layer>& layers) {
  std::string text;
  for (const Layer& layer : layers)
    text += "# " + std::string(report::to_text(layer.scope)) + "\n" + to_toml(layer.settings);
  return text;
}

// The effective value after the layers up to this one.
Scalar held(const std::vector<Layer>& layers, std::size_t last, Key key, Approval approval) {
  const Effective effective = merge(std::span(layers).first(last + 1), approval);
  const auto found = effective.settings.find(key);
  return found == effective.settings.end() ? built_in(key) : found->second.value;
}

// A value that is no wider than the effective one at this layer. (Not than the layer's own request:
// a refused value grants nothing, and a narrower one in its place may be granted.)
void narrow(std::vector<Layer>& layers, std::size_t at_layer, Approval approval, Chance& chance) {
  const Choices& scalar = chance.of(kScalars);
  const Scalar& value = chance.of(scalar.values);
  if (is_wider(scalar.key, value, held(layers, at_layer, scalar.key, approval))) return;
  layers[at_layer].settings[scalar.key] = {.value = value,
                                           .origin = at(layers[at_layer].scope, 99)};
}

void restrict(std::vector<Layer>& layers, Approval approval, Chance& chance) {
  const Scope scope = kScopes.at(chance.below(kScopes.size()));
  auto found = std::ranges::find(layers, scope, &Layer::scope);
  if (found == layers.end()) {
    layers.push_back({.scope = scope});
    std::ranges::stable_sort(layers, {}, &Layer::scope);
    found = std::ranges::find(layers, scope, &Layer::scope);
  }
  const auto index = static_cast<std::size_t>(found - layers.begin());
  const Origin origin = at(scope, 99);
  const auto add = [&](Key key, const Item& item) {
    Setting& setting = found->settings[key];
    setting.origin = origin;
    setting.items.insert(
        setting.items.begin() + static_cast<std::ptrdiff_t>(chance.below(setting.items.size() + 1)),
        item);
  };
  switch (chance.below(5)) {
    case 0: return add(Key::hidden_paths, path_item(chance.of(kPaths), origin));
    case 1: return add(Key::protected_paths, path_item(chance.of(kPaths), origin));
    case 2: return add(Key::network_deny, host_item(Key::network_deny, chance.of(kHosts), origin));
    case 3: return narrow(layers, index, approval, chance);
    default: break;
  }
  // An empty list: for the organisation a ceiling, for the others nothing.
  const std::vector<Key> lists{Key::readable_paths, Key::writable_paths, Key::overlay_paths,
                               Key::network_allow,  Key::cache_volumes,  Key::share_caches,
                               Key::env_pass,       Key::env_set,        Key::env_unsafe};
  found->settings.try_emplace(chance.of(lists), Setting{.origin = origin});
}

bool is_kept(const Settings& before, const Settings& after, Key key) {
  const auto found = before.find(key);
  if (found == before.end()) return true;
  const std::vector<Item>& now = after.at(key).items;
  return std::ranges::all_of(found->second.items, [&](const Item& item) {
    return std::ranges::any_of(now, [&](const Item& other) { return same_item(item, other); });
  });
}

TEST(MergePropertyTest, ARestrictionNeverGivesAnything) {
  Chance chance(1);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Layer> layers = chance.layers();
    std::ranges::stable_sort(layers, {}, &Layer::scope);
    const Approval approval = chance.approval();
    const std::vector<Layer> before = layers;
    restrict(layers, approval, chance);
    const Settings old_settings = merge(before, approval).settings;
    const Settings new_settings = merge(layers, approval).settings;
    ASSERT_EQ(gained(old_settings, new_settings), "")
        << "round " << round << (approval == Approval::given ? ", approved" : "") << "\n"
        << shown(before) << "\nwith the restriction:\n"
        << shown(layers);
    for (const Key key : {Key::hidden_paths, Key::protected_paths, Key::network_deny})
      ASSERT_TRUE(is_kept(old_settings, new_settings, key)) << shown(before) << shown(layers);
  }
}

TEST(MergePropertyTest, AProjectWithoutApprovalNeverGivesAnything) {
  Chance chance(2);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Layer> layers = chance.layers();
    std::erase_if(layers, [](const Layer& layer) { return layer.scope == Scope::project; });
    const Settings without = merge(layers, Approval::none).settings;
    layers.push_back(chance.layer(Scope::project));
    const Settings with = merge(layers, Approval::none).settings;
    ASSERT_EQ(gained(without, with), "") << "round " << round << "\n" << shown(layers);
  }
}

TEST(MergePropertyTest, NothingIsEverBeyondTheCeiling) {
  Chance chance(3);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Layer> layers = chance.layers();
    layers.push_back(chance.layer(Scope::organisation));
    const Effective effective = merge(layers, chance.approval());
    refused += effective.refused.empty() ? 0 : 1;
    const std::vector<Refusal> beyond_it = beyond(effective.ceiling, effective.settings);
    ASSERT_TRUE(beyond_it.empty()) << to_text(beyond_it.front()) << "\n" << shown(layers);
  }
  EXPECT_GT(refused, kRounds / 4);  // control: the layers do try
}

TEST(MergePropertyTest, SettingsGiveNothingThatTheyDoNotGive) {
  Chance chance(4);
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Layer> layers = chance.layers();
    const Settings settings = merge(layers, Approval::given).settings;
    ASSERT_EQ(gained(settings, settings), "") << shown(layers);
  }
}

// Control for all of the above: the same search finds the grants of an approved project.
TEST(MergePropertyTest, AnApprovedProjectGives) {
  Chance chance(5);
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<Layer> layers = chance.layers();
    std::erase_if(layers, [](const Layer& layer) { return layer.scope == Scope::project; });
    const Settings without = merge(layers, Approval::given).settings;
    layers.push_back(chance.layer(Scope::project));
    found += gained(without, merge(layers, Approval::given).settings).empty() ? 0 : 1;
  }
  EXPECT_GT(found, 500);
}

}  // namespace
}  // namespace coop::policy
