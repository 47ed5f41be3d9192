// What of some settings goes further than others allow, item by item: the core of merging.
#pragma once

#include <optional>
#include <vector>

#include "policy/merge.h"

namespace coop::policy {

enum class Against : std::uint8_t {
  limit,    // what holds already: a key that is absent stands for its default, a list for nothing
  project,  // the same for a project's file that nobody approved; patterns give it nothing
  ceiling,  // the organisation's: a key that is absent bounds nothing by itself
};

struct Excess {
  std::optional<std::size_t> item{};  // which one of the list; none: the value of a scalar
  Refusal refusal{};
};

// In the order of keys and items. Each item is judged by itself: leaving some out changes nothing for
// the others.
std::vector<Excess> find_excess(const Settings& limit, const Settings& asked, Against against);

// Where an item stands among rules about paths: the deeper wins, then the later scope, then the later
// in the order of policy_from. `Key` is one of the path lists.
struct PathRank {
  std::size_t depth = 0;
  Scope scope = Scope::built_in;
  int order = 0;
  auto operator<=>(const PathRank&) const = default;
};
PathRank rank_of(Key key, const Item& item);

}  // namespace coop::policy
