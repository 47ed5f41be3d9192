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

struct Change {
  bool gives_more = false;
  bool gives_less = false;
};

Direction direction_of(Change change) {
  if (change.gives_more == change.gives_less) return Direction::other;
  return change.gives_more ? Direction::wider : Direction::narrower;
}

Direction direction_of_lists(Key key, const Setting* before, const Setting* after) {
  const std::vector<Item> none;
  const std::vector<Item>& old_items = before == nullptr ? none : before->items;
  const std::vector<Item>& new_items = after == nullptr ? none : after->items;
  const bool gained = !covers_all(key, old_items, new_items);
  const bool lost = !covers_all(key, new_items, old_items);
  return direction_of(is_restricting(key) ? Change{lost, gained} : Change{gained, lost});
}

Direction direction_of_values(Key key, const Setting* before, const Setting* after) {
  const Scalar initial = built_in(key);
  const Scalar& old_value = before == nullptr ? initial : before->value;
  const Scalar& new_value = after == nullptr ? initial : after->value;
  return direction_of({is_wider(key, new_value, old_value), is_wider(key, old_value, new_value)});
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
                      .direction = is_list(key)
                                       ? direction_of_lists(key, old_setting, new_setting)
                                       : direction_of_values(key, old_setting, new_setting)});
  }
  return result;
}

}  // namespace coop::policy
