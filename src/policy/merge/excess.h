// Which settings exceed others, item by item: the core of merging.
#pragma once

#include <optional>
#include <vector>

#include "policy/merge/merge.h"

namespace coop::policy {

enum class Against : std::uint8_t {
  limit,    // the settings in force: an absent key means its default, an absent list nothing
  project,  // the same for an unapproved project's file; patterns grant it nothing
  ceiling,  // the organisation's: an absent key is not bounded by itself
};

struct Excess {
  std::optional<std::size_t> item{};  // index in the list; none: the value of a scalar
  Refusal refusal{};
};

// In the order of keys and items. Each item is judged separately: leaving some out does not affect
// the others.
std::vector<Excess> find_excess(const Settings& limit, const Settings& asked, Against against);

// What is told of them: the hosts of one group, refused for the same reason, as one.
std::vector<Refusal> refusals_of(std::vector<Excess> excess);

// The rank of an item among path rules: the deeper wins, then the later scope, then the later in
// the order of policy_from. `Key` is one of the path lists.
struct PathRank {
  std::size_t depth = 0;
  Scope scope = Scope::built_in;
  int order = 0;
  auto operator<=>(const PathRank&) const = default;
};
PathRank rank_of(Key key, const Item& item);

}  // namespace coop::policy
