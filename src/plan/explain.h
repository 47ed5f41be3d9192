// Why a path of the host can or cannot be read or written inside, from the finished plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace coop::plan {

enum class Reach : std::uint8_t {
  absent,  // nothing shows it
  hidden,  // a rule covers it
  readable,
  writable,
  scratch,  // writable in a private layer; the host's own stays as it is
};
std::string_view to_text(Reach reach);

struct Explanation {
  Path path{};  // on the host, canonical
  Reach reach = Reach::absent;
  Path inside{};         // where it is inside; empty when absent
  std::string origin{};  // the rule that decides: "built-in secrets", "/etc/coop/policy.toml:3"
  std::string reason{};
  std::string grant{};  // the smallest flag that would allow more; empty when nothing may
  bool operator==(const Explanation&) const = default;
};

// `path` canonical on the host, whether it exists or not. Looks at the steps only: what it says is what
// the kernel will be told.
Explanation explain(const Plan& plan, const Policy& policy, const Path& path);

}  // namespace coop::plan
