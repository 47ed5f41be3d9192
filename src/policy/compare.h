// Which of two values of a key gives more. Nothing here knows about layers or who asks.
#pragma once

#include <cstddef>
#include <string_view>

#include "policy/settings.h"

namespace coop::policy {

bool is_path_list(Key key);
// Lists that take something away: hidden_paths, protected_paths, network_deny.
bool is_restricting(Key key);

// What holds for a scalar key when nobody says anything: the values of Policy{} and Limits{}.
Scalar built_in(Key key);

// Whether `asked` gives more than `limit`. Values that cannot be ordered (another backend, an unknown
// word) count as wider than anything but themselves.
bool is_wider(Key key, const Scalar& asked, const Scalar& limit);

// The same item, wherever it was written.
bool same_item(const Item& a, const Item& b);

// Whether everything that `item` stands for is surely one of the paths of `cover`, or inside one.
bool path_covers(const Item& cover, const Item& item);

// Whether anything that `item` stands for may be one of the paths of `tree`, or inside one.
bool path_may_lie_in(const Item& item, const Item& tree);

// Variables that decide which programs or files are used, so that setting them is more than a default.
bool is_sensitive_variable(std::string_view name);

}  // namespace coop::policy
