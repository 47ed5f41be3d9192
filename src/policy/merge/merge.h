// Merges layers of settings into one: which may narrow, which may widen, and what was refused.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policy/settings/settings.h"

namespace coop::policy {

struct Layer {
  Scope scope = Scope::user;
  Settings settings{};
  bool operator==(const Layer&) const = default;
};

// Of exactly this content of the project's file.
enum class Approval : std::uint8_t { none, given };

// A request of a layer that was refused.
struct Refusal {
  enum class Why : std::uint8_t { beyond_organisation, not_approved };
  Why why = Why::not_approved;
  Key key = Key::mode;
  std::string asked{};  // the value, the one item or the hosts of one group, as TOML writes it
  std::string limit{};  // what applies instead, as TOML writes it
  Origin origin{};      // of what was asked
  Origin limit_origin{};
  bool operator==(const Refusal&) const = default;
};
// `.coop/policy.toml:3: network = "full" is wider than "none" (built-in) and not approved`
std::string to_text(const Refusal& refusal);

struct Effective {
  Settings settings{};  // in force; a key that no layer set is absent
  Settings ceiling{};   // the organisation's own
  std::vector<Refusal> refused{};
  bool operator==(const Effective&) const = default;
};

// Merges layers by their Scope; those of one scope in the given order. For scalars the last layer
// wins, lists are concatenated. The organisation's values are defaults and a ceiling: what exceeds
// it is refused in every layer; a scalar as a whole, of a list the items. The project's file may
// narrow; what it widens, compared with everything before it or with the whole without it, is
// refused without approval. A refused pattern of readable_paths or overlay_paths becomes one of
// protected_paths, so that it still narrows.
//
// So, for any layers: no effective value exceeds the ceiling, an unapproved project's file grants
// nothing, and neither does a restriction in any layer (a hidden or protected path, a denied host,
// a narrower value, an empty list of the organisation's).
Effective merge(std::span<const Layer> layers, Approval project);

// Where `asked` grants more than `limit` for the same key (a key absent in `limit` means the
// built-in default for scalars and "nothing granted" for lists). Lists: the items that are not
// covered. A path is covered only by a grant of the same path, because a path inside it may be
// hidden by coop itself or be a symlink; and not if `limit` hides, protects or narrows it again.
// Restricting keys (hidden_paths, protected_paths, network_deny) never widen.
std::vector<Refusal> widenings(const Settings& limit, const Settings& asked);

// Where `asked` exceeds a ceiling: as above, but paths are covered by the trees that contain them,
// and a key absent in `ceiling` bounds nothing by itself. A path hidden or protected by the ceiling
// cannot be granted (written) again; a ceiling on readable_paths also bounds writable and overlay
// paths, the view, caches and sockets, and one on network.allow also bounds the mode, UDP, host
// ports and ports published beyond this machine, unless the ceiling sets those. So does a mode
// "none" or "allowlist"; "none" bounds every published port.
std::vector<Refusal> beyond(const Settings& ceiling, const Settings& asked);

// Every setting of `after` that differs from `before`, for `coop policy diff`.
struct Difference {
  Key key = Key::mode;
  std::string before{};  // as TOML writes it; empty: not set
  std::string after{};
  enum class Direction : std::uint8_t { wider, narrower, other } direction = Direction::other;
  bool operator==(const Difference&) const = default;
};
std::vector<Difference> differences(const Settings& before, const Settings& after);

}  // namespace coop::policy
