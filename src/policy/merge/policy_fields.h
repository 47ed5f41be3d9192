// Which field of a Policy a setting is: by these tables settings become a policy, and a policy settings again.
#pragma once

#include <array>
#include <span>

#include "coop/policy.h"
#include "policy/settings/settings.h"

namespace coop::policy {

// A scalar key. The mode of the network is not one: apply_network() checks it first.
struct PolicyField {
  Key key;
  Scalar (*get)(const Policy& policy);
  void (*set)(Policy& policy, const Scalar& value);
};
std::span<const PolicyField> policy_fields();

struct PathList {
  Key key;
  RuleKind kind;
  Missing if_missing;  // for an item without "?"
};

// Grants before restrictions: within one scope, and for one path, the later list wins.
inline constexpr std::array kPathLists{
    PathList{Key::readable_paths, RuleKind::read_only, Missing::fail},
    PathList{Key::writable_paths, RuleKind::read_write, Missing::fail},
    PathList{Key::overlay_paths, RuleKind::overlay, Missing::fail},
    PathList{Key::tmpfs_paths, RuleKind::tmpfs, Missing::fail},
    PathList{Key::hidden_paths, RuleKind::hide, Missing::skip},
    PathList{Key::protected_paths, RuleKind::protect, Missing::skip},
};

}  // namespace coop::policy
