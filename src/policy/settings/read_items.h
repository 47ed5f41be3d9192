// The lists of [sandbox]: paths, hosts, names, and the table of variables.
#pragma once

#include <optional>
#include <string_view>

#include "policy/settings/read_values.h"

namespace coop::policy {

// One item of a list other than env.set, as text.
Result<Item> read_item(const KeyInfo& key, const std::string& text,
                       const Surroundings& surroundings = {});

// A bad item is reported and skipped. Nothing if the value is not a list.
std::optional<Setting> read_items(const KeyInfo& key, std::string_view name, const Entry& entry,
                                  Reporter& reporter);

}  // namespace coop::policy
