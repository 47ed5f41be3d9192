#include <algorithm>
#include <set>

#include "policy/merge/compare.h"
#include "policy/merge/merge.h"

namespace coop::policy {

namespace {

using Direction = Difference::Direction;

bool covers(Key key, const Item& cover, const Item& item) {
  if (is_path_list(key)) return path_covers(cover, item);
  if (key == Key::sockets) return cover.path == item.path;
  if (key == Key::network_allow || key == Key::network_udp)
    return host_covers(cover, item, Portless::usual);
  if (key == Key::network_deny) return host_covers(cover, item, Portless::every);
  return cover.text == item.text && cover.value == item.value;
}

bool covers_all(Key key, const std::vector<Item>& covers_of, const std::vector<Item>& items) {
  return std::ranges::all_of(items, [&](const Item& item) {
    return std::ranges::any_of(covers_of,
                               [&](const Item& cover) { return covers(key, cover, item); });
  });
}

// Whether `now` gives something that `before` does not.
bool gives_more(Key key, const Settings& before, const Settings& now) {
  if (is_list(key)) return !covers_all(key, items_of(before, key), items_of(now, key));
  const auto value_in = [&](const Settings& settings) {
    const Setting* setting = find(settings, key);
    return setting == nullptr ? built_in(key) : setting->value;
  };
  return is_wider(key, value_in(now), value_in(before));
}

Direction direction_of(Key key, const Settings& before, const Settings& after) {
  const bool more = gives_more(key, before, after);
  if (more == gives_more(key, after, before)) return Direction::other;
  return more != is_restricting(key) ? Direction::wider : Direction::narrower;
}

bool same(const Setting* before, const Setting* after) {
  if (before == nullptr || after == nullptr) return before == after;
  return before->value == after->value &&
         std::ranges::equal(before->items, after->items, same_item);
}

}  // namespace

std::vector<Difference> differences(const Settings& before, const Settings& after) {
  std::set<Key> named;
  for (const auto& [key, setting] : before) named.insert(key);
  for (const auto& [key, setting] : after) named.insert(key);
  std::vector<Difference> result;
  for (const Key key : named) {
    const Setting* old_setting = find(before, key);
    const Setting* new_setting = find(after, key);
    if (same(old_setting, new_setting)) continue;
    result.push_back({.key = key,
                      .before = old_setting == nullptr ? "" : value_text(key, *old_setting),
                      .after = new_setting == nullptr ? "" : value_text(key, *new_setting),
                      .direction = direction_of(key, before, after)});
  }
  return result;
}

}  // namespace coop::policy
