// Explains from the finished plan why a path of the host can or cannot be read or written inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "coop/grant.h"
#include "plan/plan.h"

namespace coop::plan {

// In rising order of what it permits.
enum class Reach : std::uint8_t {
  absent,  // nothing shows it
  hidden,  // a rule covers it
  readable,
  scratch,  // writable in a private layer; the host's file is unchanged
  writable,
};

struct Explanation {
  Path path{};  // on the host, canonical
  Reach reach = Reach::absent;
  Path inside{};    // where it is inside; empty when absent
  Origin origin{};  // of the rule that decides
  std::string reason{};
  std::optional<Grant> grant{};  // the smallest that would allow more; none when nothing may
  bool own = false;              // the sandbox has something of its own at this name
  bool operator==(const Explanation&) const = default;
};

inline bool is_shown(const Explanation& found) { return found.reach > Reach::hidden; }

// `path` canonical on the host, whether it exists or not. Uses the steps only: the answer is what
// the kernel will enforce.
Explanation explain(const Plan& plan, const Policy& policy, const Path& path);

// The same for a path as it is inside. `path` of the answer is empty where nothing of the host is shown: the reach is
// scratch in a writable file system of the sandbox's own, readable for what is made or generated for it, else absent.
Explanation explain_inside(const Plan& plan, const Policy& policy, const Path& path);

}  // namespace coop::plan
