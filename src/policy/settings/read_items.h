// The lists of [sandbox]: paths, hosts, names, and the table of variables.
#pragma once

#include <optional>
#include <string_view>

#include "policy/settings/read_values.h"

namespace coop::policy {

// What a text in a list other than env.set stands for: one item, or the hosts of a group. Of an item's origin only the
// group is known; written_at() adds the place.
Result<std::vector<Item>> read_item(const KeyInfo& key, const std::string& text,
                                    const Surroundings& surroundings = {});
Item written_at(Item item, const Origin& place);

// A bad item is reported and skipped. Nothing if the value is not a list.
std::optional<Setting> read_items(const KeyInfo& key, std::string_view name, const Entry& entry,
                                  Reporter& reporter);

}  // namespace coop::policy
