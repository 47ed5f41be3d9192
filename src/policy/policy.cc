#include "policy/policy.h"

#include "base/path.h"

namespace coop {

Need Policy::need(Mechanism mechanism) const {
  const auto found = needs.find(mechanism);
  if (found != needs.end()) return found->second;
  // Landlock repeats what the mounts enforce, and cgroups may be unavailable to an ordinary user:
  // both degrade with a note. A missing /proc breaks programs, so it is an error.
  return mechanism == Mechanism::proc ? Need::required : Need::best_effort;
}

std::string_view to_text(View view) { return view == View::minimal ? "minimal" : "host"; }

std::string_view to_text(Access access) {
  return access == Access::read_only ? "read-only" : "read-write";
}

std::string_view to_text(RuleKind kind) {
  switch (kind) {
    case RuleKind::read_only: return "read-only";
    case RuleKind::read_write: return "read-write";
    case RuleKind::hide: return "hidden";
    case RuleKind::overlay: return "overlay";
    case RuleKind::tmpfs: return "tmpfs";
    case RuleKind::protect: return "protected";
  }
  return "?";
}

std::string_view to_text(NetworkMode mode) {
  switch (mode) {
    case NetworkMode::none: return "none";
    case NetworkMode::allowlist: return "allowlist";
    case NetworkMode::full: return "full";
    case NetworkMode::veth: return "veth";
    case NetworkMode::host: return "host";
  }
  return "?";
}

std::string_view to_text(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::landlock: return "landlock";
    case Mechanism::proc: return "proc";
    case Mechanism::limits: return "limits";
  }
  return "?";
}

Result<Mechanism> parse_mechanism(std::string_view text) {
  for (const Mechanism mechanism : {Mechanism::landlock, Mechanism::proc, Mechanism::limits})
    if (text == to_text(mechanism)) return mechanism;
  return invalid("mechanism", "\"" + printable(text) + "\" is not one",
                 "one of: landlock, proc, limits");
}

Result<NetworkMode> parse_network(std::string_view text) {
  for (const NetworkMode mode : {NetworkMode::none, NetworkMode::allowlist, NetworkMode::full,
                                 NetworkMode::veth, NetworkMode::host})
    if (text == to_text(mode)) return mode;
  return invalid("network", "\"" + printable(text) + "\" is not a network mode",
                 "one of: none, allowlist, full, veth, host");
}

}  // namespace coop
