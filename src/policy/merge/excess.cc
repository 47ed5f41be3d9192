#include "policy/merge/excess.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "policy/destinations/forbidden_addresses.h"
#include "policy/destinations/host_groups.h"
#include "policy/destinations/port_rule.h"
#include "policy/merge/compare.h"
#include "policy/merge/policy_fields.h"
#include "policy/settings/toml_text.h"

namespace coop::policy {

namespace {

using Keys = std::vector<Key>;

// Refusals are printed and logged.
std::string printed_item(Key key, const Item& item) {
  const std::string text =
      item_text(key, without_secrets(key, Setting{.items = {item}}).items.front());
  return key == Key::env_set ? "{ " + text + " }" : text;
}

// A refusal shows a shortened list; a file may have many refusals.
std::string list_text(Key key, const Setting* setting) {
  constexpr std::size_t kMost = 4;
  if (setting == nullptr) return value_text(key, Setting{});
  Setting shown{.items = setting->items};
  const std::vector<Written> all = as_written(key, setting->items);
  if (all.size() > kMost)
    shown.items.resize(static_cast<std::size_t>(all[kMost].items.data() - setting->items.data()));
  // Values set by other layers are private: show the names only.
  if (key == Key::env_set)
    for (Item& item : shown.items) item.value = "…";
  const std::string text = value_text(key, shown);
  if (all.size() <= kMost) return text;
  return text.substr(0, text.size() - 1) + ", …" + text.back();
}

// Wins over deeper rules: see Precedence::final.
bool is_final(Key key, const Item& item) {
  return is_restricting(key) && item.origin.scope == Scope::organisation;
}

bool is_network(const Item& item) {
  return item.destination && item.destination->kind == Destination::Kind::network;
}

// Not local networks, which an open network does not reach unless they are listed.
bool is_public(const Item& item) {
  return !is_network(item) || !forbidden(item.destination->network);
}

class Comparison {
 public:
  Comparison(const Settings& limit, const Settings& asked, Against against)
      : limit_(limit), asked_(asked), against_(against) {
    if (against_ == Against::ceiling) return;
    for (const Key key :
         {Key::readable_paths, Key::overlay_paths, Key::hidden_paths, Key::protected_paths})
      for (const Item& item : items_of(asked, key)) {
        if (is_final(key, item)) own_finals_.emplace_back(key, &item);
        const auto [known, added] = own_rules_.try_emplace(
            std::tuple(key, item.pattern, std::string_view(item.path)), rank_of(key, item));
        if (!added) known->second = std::max(known->second, rank_of(key, item));
      }
  }

  std::vector<Excess> run() {
    for (const auto& [key, setting] : asked_) {
      if (is_restricting(key)) continue;
      if (!is_list(key)) {
        check_scalar(key, setting);
        continue;
      }
      for (std::size_t index = 0; index < setting.items.size(); ++index)
        check_item(key, index, setting.items[index]);
    }
    return std::move(found_);
  }

 private:
  // The obstacle: its text and origin.
  struct Obstacle {
    std::string text{};
    Origin origin = Origin::of_coop();
  };

  bool has(Key key) const { return limit_.contains(key); }

  Origin origin_of(Key key) const {
    const Setting* setting = find(limit_, key);
    return setting == nullptr ? Origin::of_coop() : setting->origin;
  }

  Obstacle list_of(Key key) const { return {list_text(key, find(limit_, key)), origin_of(key)}; }

  // If another key is the reason, it is named.
  Obstacle list_of_other(Key key) const {
    return {std::string(info(key).name) + " = " + list_text(key, find(limit_, key)),
            origin_of(key)};
  }

  static Obstacle item_of_other(Key key, const Item& item) {
    return {std::string(info(key).name) + " = " + printed_item(key, item), item.origin};
  }

  void add(Key key, std::optional<std::size_t> item, const Setting& asked, Obstacle obstacle) {
    const bool whole = !item.has_value();
    found_.push_back(
        {item,
         Refusal{.why = against_ == Against::ceiling ? Refusal::Why::beyond_organisation
                                                     : Refusal::Why::not_approved,
                 .key = key,
                 .asked = whole ? value_text(key, asked) : printed_item(key, asked.items[*item]),
                 .limit = std::move(obstacle.text),
                 .origin = whole ? asked.origin : asked.items[*item].origin,
                 .limit_origin = std::move(obstacle.origin)}});
  }

  void check_scalar(Key key, const Setting& setting) {
    if (std::holds_alternative<std::monostate>(setting.value)) return;
    if (std::optional<Obstacle> obstacle = obstacle_of(key, setting.value))
      add(key, std::nullopt, setting, *std::move(obstacle));
  }

  std::optional<Obstacle> obstacle_of(Key key, const Scalar& asked) const {
    const Setting* setting = find(limit_, key);
    if (setting != nullptr && !std::holds_alternative<std::monostate>(setting->value)) {
      if (!is_wider(key, asked, setting->value)) return std::nullopt;
      return Obstacle{value_text(key, *setting), setting->origin};
    }
    if (against_ == Against::ceiling) return implied_obstacle(key, asked);
    const Scalar initial = built_in(key);
    if (!is_wider(key, asked, initial)) return std::nullopt;
    return Obstacle{value_text(key, Setting{.value = initial}), Origin::of_coop()};
  }

  // A ceiling on paths or hosts would be useless if a mode could open all of them; any ceiling, if tools ran without a
  // sandbox.
  std::optional<Obstacle> implied_obstacle(Key key, const Scalar& asked) const {
    // An owner's tools run without a sandbox, too: no ceiling would hold for them.
    const bool leaves = key == Key::mode ? is_wider(key, asked, "enabled")
                                         : key == Key::owner_bypass && asked == Scalar(true) &&
                                               word_of(limit_, Key::mode) != "disabled";
    if (leaves && !limit_.empty()) {
      const auto& [first, setting] = *limit_.begin();
      return Obstacle{
          std::string(info(first).name) + " = " +
              (setting.items.empty() ? value_text(first, setting) : list_text(first, &setting)),
          setting.origin};
    }
    if (key == Key::view && has(Key::readable_paths) && is_wider(key, asked, "minimal") &&
        !contains(items_of(limit_, Key::readable_paths), "/", &Item::path))
      return list_of_other(Key::readable_paths);
    if (key == Key::show_home && has(Key::readable_paths) && asked == Scalar(true) &&
        !contains(items_of(limit_, Key::readable_paths), "/", &Item::path))
      return list_of_other(Key::readable_paths);
    if (key == Key::network && has(Key::network_allow) && is_wider(key, asked, "allowlist"))
      return list_of_other(Key::network_allow);
    return std::nullopt;
  }

  void check_item(Key key, std::size_t index, const Item& item) {
    std::optional<Obstacle> obstacle;
    if (is_path_list(key)) obstacle = path_obstacle(key, item);
    else if (key == Key::network_allow || key == Key::network_udp)
      obstacle = host_obstacle(key, item);
    else if (key == Key::env_set) obstacle = variable_obstacle(item);
    else obstacle = name_obstacle(key, item);
    if (obstacle) add(key, index, asked_.at(key), *std::move(obstacle));
  }

  std::optional<Obstacle> name_obstacle(Key key, const Item& item) const {
    if (key == Key::env_pass && !has_item(limit_, key, item.text))
      if (std::optional<Obstacle> unnamed = unnamed_obstacle(item)) return unnamed;
    if (against_ == Against::ceiling && !has(key)) {
      // A shared cache is a writable path, and so is a socket: a client can write through it. A private one is read only, and shared
      // ones are no less bounded than private ones.
      for (const Key limit : {Key::cache_volumes, Key::writable_paths, Key::readable_paths}) {
        const bool bounds = (key == Key::share_caches) ||
                            (key == Key::sockets && limit != Key::cache_volumes) ||
                            (key == Key::cache_volumes && limit == Key::readable_paths);
        if (bounds && has(limit)) return list_of_other(limit);
      }
      return port_obstacle(key, item);
    }
    const std::vector<Item>& known = items_of(limit_, key);
    const auto same = [&](const Item& other) {
      return key == Key::sockets ? other.path == item.path : other.text == item.text;
    };
    if (std::ranges::any_of(known, same)) return std::nullopt;
    return list_of(key);
  }

  // A ceiling that names hosts, or allows none, also bounds ports that bypass it: the host's own
  // services, and ports published beyond this machine. A port published on this machine reaches no host; only "none" forbids it.
  std::optional<Obstacle> port_obstacle(Key key, const Item& item) const {
    if (key != Key::network_publish && key != Key::network_host_ports) return std::nullopt;
    const Setting* mode = find(limit_, Key::network);
    if (item.published && is_loopback(*item.published)) {
      const bool none = mode != nullptr && mode->value == Scalar("none");
      return none ? std::optional(mode_of_ceiling(*mode)) : std::nullopt;
    }
    if (has(Key::network_allow)) return list_of_other(Key::network_allow);
    if (mode == nullptr || is_wider(Key::network, mode->value, "allowlist")) return std::nullopt;
    return mode_of_ceiling(*mode);
  }

  static Obstacle mode_of_ceiling(const Setting& mode) {
    return {std::string(info(Key::network).name) + " = " + value_text(Key::network, mode),
            mode.origin};
  }

  // A ceiling may list the variables there can be at all.
  std::optional<Obstacle> unnamed_obstacle(const Item& item) const {
    const bool listed = against_ == Against::ceiling && has(Key::env_names);
    if (!listed || is_named(item.text, items_of(limit_, Key::env_names))) return std::nullopt;
    return list_of_other(Key::env_names);
  }

  // A variable that is set stays. For others a ceiling refuses those that select programs. A
  // project's file may set none: the address of a service, a proxy or a certificate can redirect
  // programs, and a complete list of such variables is impossible.
  std::optional<Obstacle> variable_obstacle(const Item& item) const {
    const std::vector<Item>& known = items_of(limit_, Key::env_set);
    const auto same = std::ranges::find(known, item.text, &Item::text);
    if (same == known.end()) {
      if (std::optional<Obstacle> unnamed = unnamed_obstacle(item)) return unnamed;
      if (against_ == Against::ceiling && !has(Key::env_set)) return std::nullopt;
      const bool minded = against_ != Against::ceiling || is_sensitive_variable(item.text);
      return minded ? std::optional(list_of(Key::env_set)) : std::nullopt;
    }
    if (same->value == item.value) return std::nullopt;
    return Obstacle{printed_item(Key::env_set, *same), same->origin};
  }

  // `key` is network_allow or network_udp.
  std::optional<Obstacle> host_obstacle(Key key, const Item& item) const {
    if (against_ == Against::ceiling)
      for (const Item& denied : items_of(limit_, Key::network_deny))
        if (host_covers(denied, item, Portless::every))
          return item_of_other(Key::network_deny, denied);
    const Setting* setting = find(limit_, Key::network);
    const bool listed = has(Key::network_allow) || has(key);
    if (against_ == Against::ceiling && setting == nullptr && !listed) return std::nullopt;
    const Scalar mode = setting == nullptr ? built_in(Key::network) : setting->value;
    if (mode == Scalar("host")) return std::nullopt;
    if (mode == Scalar("full") || mode == Scalar("veth")) {
      const bool unbounded = against_ == Against::ceiling && !listed;
      // An open network needs address rules only for those it refuses, and this machine's own
      // addresses are in no table.
      const bool literal = against_ == Against::project && is_network(item);
      if (unbounded || (!literal && is_public(item))) return std::nullopt;
    }
    if (against_ == Against::ceiling && setting != nullptr && mode == Scalar("none"))
      return mode_of_ceiling(*setting);
    for (const Item& allowed : items_of(limit_, key))
      if (host_covers(allowed, item, Portless::usual)) return std::nullopt;
    // UDP would bypass a list of hosts that does not mention it.
    const bool implied = against_ == Against::ceiling && !has(key) && has(Key::network_allow);
    return implied ? list_of_other(Key::network_allow) : list_of(key);
  }

  // --- Paths ---

  // Whether the ceiling bounds this kind of grant. A path that it allows to write may be read and
  // overlaid: otherwise a refusal could leave the wider rule that the narrower one replaced.
  bool is_bounded(Key key) const {
    if (against_ != Against::ceiling) return true;
    if (key == Key::readable_paths || key == Key::tmpfs_paths) return has(key);
    if (key == Key::writable_paths) return has(Key::writable_paths) || has(Key::readable_paths);
    return has(Key::readable_paths) || (has(Key::overlay_paths) && has(Key::writable_paths));
  }

  // The lists whose items cover a grant of this kind.
  Keys sufficient_for(Key key) const {
    if (key == Key::tmpfs_paths) return {key};
    if (key == Key::readable_paths) return {Key::readable_paths, Key::writable_paths};
    if (key == Key::overlay_paths)
      return {Key::readable_paths, Key::writable_paths, Key::overlay_paths};
    if (against_ == Against::ceiling && !has(Key::writable_paths)) return {Key::readable_paths};
    return {Key::writable_paths};
  }

  // The lists whose items revoke such a grant.
  Keys opposed_to(Key key) const {
    if (key != Key::writable_paths) return {Key::hidden_paths};
    Keys keys{Key::hidden_paths, Key::protected_paths};
    if (!is_bounded(key)) return keys;
    keys.push_back(Key::overlay_paths);
    if (sufficient_for(key) == Keys{Key::writable_paths}) keys.push_back(Key::readable_paths);
    return keys;
  }

  // Below a granted path there may be secrets that coop hides itself, and symlinks that lead
  // elsewhere: a separate rule would show them. So compared with what is in force, only a grant of
  // the same path is not new. A ceiling names trees, and the planner compares canonical paths with
  // them. A project's pattern could narrow one path and show another that was hidden meanwhile;
  // without patterns, an additional hidden path can never undo something that the file narrowed.
  bool covers(const Item& cover, const Item& item) const {
    if (against_ == Against::ceiling) return path_covers(cover, item);
    if (against_ == Against::project && item.pattern) return false;
    return cover.path == item.path && cover.pattern == item.pattern;
  }

  std::optional<Obstacle> path_obstacle(Key key, const Item& item) const {
    std::optional<PathRank> best;
    if (is_bounded(key)) {
      for (const Key list : sufficient_for(key))
        for (const Item& cover : items_of(limit_, list))
          if (covers(cover, item)) best = std::max(best.value_or(PathRank{}), rank_of(list, cover));
      if (!best)
        return has(key) || against_ != Against::ceiling ? list_of(key)
                                                        : list_of_other(Key::readable_paths);
    }
    for (const Key list : opposed_to(key))
      for (const Item& rule : items_of(limit_, list))
        if (opposes(list, rule, best, key, item)) return item_of_other(list, rule);
    return std::nullopt;
  }

  bool opposes(Key list, const Item& rule, const std::optional<PathRank>& best, Key key,
               const Item& item) const {
    const bool final = against_ == Against::ceiling ? is_restricting(list) : is_final(list, rule);
    // The planner refuses what a pattern matches of it: see Precedence::final. Refusing the pattern
    // here could undo what it narrows elsewhere.
    if (final) return path_covers(rule, item) && !is_repeated(list, rule, key, item);
    if (best && rank_of(list, rule) <= *best) return false;
    return path_may_lie_in(item, rule) && !is_repeated(list, rule, key, item);
  }

  // The asking layer also revokes it, with more weight than the request: so it grants nothing.
  bool is_repeated(Key list, const Item& rule, Key key, const Item& item) const {
    // Only hiding revokes what is hidden: a protected path can still be read.
    const Keys opposed = list == Key::hidden_paths ? Keys{list} : opposed_to(key);
    for (Path place = rule.path; depth_of(place) >= depth_of(item.path); place = parent_of(place)) {
      const bool pattern = rule.pattern && place == rule.path;
      for (const Key other : opposed) {
        const auto own = own_rules_.find(std::tuple(other, pattern, std::string_view(place)));
        if (own != own_rules_.end() && own->second > rank_of(key, item) &&
            path_covers(Item{.path = place, .pattern = pattern}, rule))
          return true;
      }
      if (place == "/") break;
    }
    return std::ranges::any_of(own_finals_, [&](const auto& final) {
      return contains(opposed, final.first) && path_covers(*final.second, rule);
    });
  }

  const Settings& limit_;
  const Settings& asked_;
  Against against_;
  std::map<std::tuple<Key, bool, std::string_view>, PathRank> own_rules_{};
  std::vector<std::pair<Key, const Item*>> own_finals_{};
  std::vector<Excess> found_{};
};

// Two hosts of one group, refused for one reason.
bool is_same_group(const Refusal& a, const Refusal& b) {
  return !group_of(a.origin).empty() && a.key == b.key && a.origin == b.origin && a.why == b.why &&
         a.limit == b.limit && a.limit_origin == b.limit_origin;
}

// The hosts as the group, if none of it is left; else all of them: approvals are given for this text.
std::string asked_of_group(const Refusal& first, const std::vector<std::string>& asked) {
  const Result<HostGroup> group = parse_group(group_of(first.origin), portless(first.key));
  if (group && group->hosts.size() == asked.size()) return toml_text(group->text);
  return joined(asked, ", ");
}

}  // namespace

std::vector<Refusal> refusals_of(std::vector<Excess> excess) {
  std::vector<Refusal> result;
  for (auto first = excess.begin(); first != excess.end();) {
    std::vector<std::string> asked{first->refusal.asked};
    auto next = first + 1;
    for (; next != excess.end() && is_same_group(first->refusal, next->refusal); ++next)
      asked.push_back(next->refusal.asked);
    if (!group_of(first->refusal.origin).empty())
      first->refusal.asked = asked_of_group(first->refusal, asked);
    result.push_back(std::move(first->refusal));
    first = next;
  }
  return result;
}

PathRank rank_of(Key key, const Item& item) {
  const auto order = std::ranges::find(kPathLists, key, &PathList::key) - kPathLists.begin();
  return {depth_of(item.path), item.origin.scope, static_cast<int>(order)};
}

std::vector<Excess> find_excess(const Settings& limit, const Settings& asked, Against against) {
  return Comparison(limit, asked, against).run();
}

std::vector<Refusal> widenings(const Settings& limit, const Settings& asked) {
  return refusals_of(find_excess(limit, asked, Against::limit));
}

std::vector<Refusal> beyond(const Settings& ceiling, const Settings& asked) {
  return refusals_of(find_excess(ceiling, asked, Against::ceiling));
}

}  // namespace coop::policy
