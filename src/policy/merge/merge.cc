#include "policy/merge/merge.h"

#include <algorithm>
#include <ranges>
#include <tuple>

#include "base/path.h"
#include "base/text.h"
#include "policy/merge/compare.h"
#include "policy/merge/excess.h"
#include "report/words/words.h"

namespace coop::policy {

namespace {

// Removes refused items from `settings`. A list that was written empty stays.
void remove(Settings& settings, const std::vector<Excess>& excess) {
  // From the last to the first: an index counts what was before it.
  for (const auto& [index, refusal] : excess | std::views::reverse) {
    std::vector<Item>& items = settings.at(refusal.key).items;
    if (index) items.erase(items.begin() + static_cast<std::ptrdiff_t>(*index));
    if (items.empty()) settings.erase(refusal.key);
  }
}

// A pattern may narrow one path and exceed the limit for another: with a readable pattern, a
// writable path becomes read-only. Refusing it would undo the narrowing as well; keep that part.
void keep_restrictions(Settings& settings, const std::vector<Excess>& excess) {
  std::vector<Item> kept;
  for (const Excess& one : excess) {
    const Key key = one.refusal.key;
    if (key != Key::readable_paths && key != Key::overlay_paths) continue;
    const Item& item = settings.at(key).items.at(*one.item);
    if (item.pattern) kept.push_back(item);
  }
  if (kept.empty()) return;
  Setting& setting = settings[Key::protected_paths];
  if (setting.items.empty()) setting.origin = kept.front().origin;
  setting.items.insert(setting.items.end(), kept.begin(), kept.end());
}

void refuse(Settings& settings, std::vector<Excess> excess, std::vector<Refusal>& refused) {
  keep_restrictions(settings, excess);
  remove(settings, excess);
  for (Refusal& refusal : refusals_of(std::move(excess))) refused.push_back(std::move(refusal));
}

// The items of one list, with a fast search for duplicates: a list may be long.
class ItemList {
 public:
  ItemList(Key key, std::vector<Item>& items) : key_(key), items_(items) {
    for (std::size_t index = 0; index < items_.size(); ++index)
      places_.emplace(identity_of(items_[index]), index);
  }

  void add(Item item) {
    const auto [place, added] = places_.emplace(identity_of(item), items_.size());
    if (added) items_.push_back(std::move(item));
    else if (is_last_word_better(items_[place->second])) items_[place->second] = std::move(item);
  }

 private:
  using Identity = std::tuple<std::string, std::string, bool, std::optional<Missing>>;

  // A variable has one value.
  Identity identity_of(const Item& item) const {
    if (key_ == Key::env_set) return {item.text, {}, false, {}};
    return {item.text, item.path, item.pattern, item.if_missing};
  }

  // For a path the later scope has more weight. Only the organisation's restrictions have the most
  // already.
  bool is_last_word_better(const Item& known) const {
    if (is_path_list(key_))
      return !is_restricting(key_) || known.origin.scope != Scope::organisation;
    return key_ == Key::env_set;
  }

  Key key_;
  std::vector<Item>& items_;
  std::map<Identity, std::size_t> places_{};
};

void put(Settings& settings, const Settings& more) {
  for (const auto& [key, setting] : more) {
    const auto [known, added] = settings.try_emplace(key, setting);
    if (!is_list(key)) {
      if (!std::holds_alternative<std::monostate>(setting.value)) known->second = setting;
      continue;
    }
    if (added) known->second.items.clear();
    ItemList list(key, known->second.items);
    for (const Item& item : setting.items) list.add(item);
  }
}

// The weight of an item is that of its layer, whatever the reader set.
Settings stamped(const Layer& layer) {
  Settings settings = layer.settings;
  for (auto& [key, setting] : settings) {
    setting.origin.scope = layer.scope;
    for (Item& item : setting.items) item.origin.scope = layer.scope;
  }
  return settings;
}

void apply(Effective& effective, const Layer& layer, Approval project) {
  Settings settings = stamped(layer);
  // A default that exceeds the ceiling was not asked for: the organisation's own value replaces it next.
  if (layer.scope != Scope::built_in)
    refuse(settings, find_excess(effective.ceiling, settings, Against::ceiling), effective.refused);
  if (layer.scope == Scope::project && project == Approval::none)
    refuse(settings, find_excess(effective.settings, settings, Against::project),
           effective.refused);
  put(effective.settings, settings);
}

Effective merge_all(std::span<const Layer> layers, Approval project) {
  Effective effective;
  for (const Layer& layer : layers)
    if (layer.scope == Scope::organisation) put(effective.ceiling, stamped(layer));
  for (const Layer& layer : layers) apply(effective, layer, project);
  return effective;
}

}  // namespace

std::string to_text(const Refusal& refusal) {
  std::string text = report::in_words(refusal.origin) + ": " + std::string(info(refusal.key).name) +
                     " = " + printable(refusal.asked);
  const std::string limit =
      printable(refusal.limit) + " (" + report::in_words(refusal.limit_origin) + ")";
  if (refusal.why == Refusal::Why::beyond_organisation)
    return text + " is beyond the organisation's " + limit;
  return text + " is wider than " + limit + " and not approved";
}

Effective merge(std::span<const Layer> layers, Approval project) {
  std::vector<Layer> ordered(layers.begin(), layers.end());
  std::ranges::stable_sort(ordered, {}, &Layer::scope);
  Effective effective = merge_all(ordered, project);
  const auto of_project =
      std::erase_if(ordered, [](const Layer& layer) { return layer.scope == Scope::project; });
  if (project == Approval::given || of_project == 0) return effective;
  // A setting of the project's file may become new through a later layer: with "full" before it, a
  // list of hosts grants nothing; if coop.toml then says "allowlist", it would. So compare the
  // whole with the whole without that file.
  const Effective without = merge_all(ordered, project);
  std::vector<Excess> excess = find_excess(without.settings, effective.settings, Against::limit);
  std::erase_if(excess,
                [](const Excess& one) { return one.refusal.origin.scope != Scope::project; });
  refuse(effective.settings, std::move(excess), effective.refused);
  for (const auto& [key, setting] : without.settings) effective.settings.try_emplace(key, setting);
  return effective;
}

}  // namespace coop::policy
