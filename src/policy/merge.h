// Layers of settings become one: who may narrow, who may widen, and who was refused.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policy/settings.h"

namespace coop::policy {

struct Layer {
  Scope scope = Scope::user;
  Settings settings{};
  bool operator==(const Layer&) const = default;
};

// Of exactly this content of the project's file.
enum class Approval : std::uint8_t { none, given };

// Something a layer asked for and did not get.
struct Refusal {
  enum class Why : std::uint8_t { beyond_organisation, not_approved };
  Why why = Why::not_approved;
  Key key = Key::mode;
  std::string asked{};  // the value or the one item, as TOML writes it
  std::string limit{};  // what holds instead, as TOML writes it
  Origin origin{};      // of what was asked
  Origin limit_origin{};
  bool operator==(const Refusal&) const = default;
};
// `.coop/policy.toml:3: network = "full" is wider than "none" (built-in) and not approved`
std::string to_text(const Refusal& refusal);

struct Effective {
  Settings settings{};  // what holds; a key nobody set is absent
  Settings ceiling{};   // the organisation's own
  std::vector<Refusal> refused{};
  bool operator==(const Effective&) const = default;
};

// Layers by their Scope; those of one scope in the order given. Scalars: the last word wins. Lists add up.
// The organisation's values are defaults and a ceiling: what lies beyond is refused, whoever asks; a
// scalar as a whole, of a list the items. The project's file may narrow; what it widens, against
// everything before it or against the whole without it, is refused without approval. A refused pattern
// of readable_paths or overlay_paths stays as one of protected_paths: what it narrows, it still narrows.
//
// So, for whatever layers: nothing that holds is beyond the ceiling, an unapproved project's file gives
// nothing, and neither does a restriction in any layer (a hidden or protected path, a denied host, a value
// narrower than the one that holds there, an empty list of the organisation's).
Effective merge(std::span<const Layer> layers, Approval project);

// Where `asked` gives more than `limit` does for the same key (a key absent in `limit` means the
// built-in default for scalars and "nothing granted" for lists). Lists: the items that are not covered.
// A path is covered by a grant of the same path only, as what lies inside of one may be hidden by coop
// itself or be a symlink; and not where `limit` hides, protects or narrows it again.
// Restricting keys (hidden_paths, protected_paths, network_deny) never widen.
std::vector<Refusal> widenings(const Settings& limit, const Settings& asked);

// Where `asked` goes beyond a ceiling: as above, but paths are covered by the trees they are in, and a key
// absent in `ceiling` bounds nothing by itself. A path hidden or protected by the ceiling cannot be granted
// (written) again; a ceiling on readable_paths bounds what is written and overlaid, the view, caches and
// sockets, and one on network.allow bounds the mode, UDP, the host's ports and what is published to others
// than this machine, where the ceiling does not speak of those. So does a mode "none" or "allowlist".
std::vector<Refusal> beyond(const Settings& ceiling, const Settings& asked);

// Every line of `after` that differs from `before`, for `coop policy diff`.
struct Difference {
  Key key = Key::mode;
  std::string before{};  // as TOML writes it; empty: not set
  std::string after{};
  enum class Direction : std::uint8_t { wider, narrower, other } direction = Direction::other;
  bool operator==(const Difference&) const = default;
};
std::vector<Difference> differences(const Settings& before, const Settings& after);

}  // namespace coop::policy
