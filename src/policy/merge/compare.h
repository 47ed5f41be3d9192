// Which of two values of a key grants more. Independent of layers and scopes.
#pragma once

#include <cstddef>
#include <string_view>

#include "policy/destinations/cover.h"
#include "policy/settings/settings.h"

namespace coop::policy {

bool is_path_list(Key key);
// Lists that restrict: hidden_paths, protected_paths, network_deny.
bool is_restricting(Key key);

// The default of a scalar key: the values of Policy{} and Limits{}.
Scalar built_in(Key key);

// Whether `asked` grants more than `limit`. Values without an order (another backend, an unknown
// word) count as wider than anything but themselves.
bool is_wider(Key key, const Scalar& asked, const Scalar& limit);

// The same item, regardless of its origin.
bool same_item(const Item& a, const Item& b);

// Whether every path of `item` is certainly in `cover`.
bool path_covers(const Item& cover, const Item& item);

// Whether any path of `item` may be in `tree`.
bool path_may_lie_in(const Item& item, const Item& tree);

// Whether everything that the destination `item` names is named by `cover` too.
bool host_covers(const Item& cover, const Item& item, Portless portless);

// Whether one of `names`, which may have wildcards, is that of the variable.
bool is_named(std::string_view variable, const std::vector<Item>& names);

// Variables that select programs or files, so that setting them is more than a default.
bool is_sensitive_variable(std::string_view name);

}  // namespace coop::policy
