#include <algorithm>

#include "base/path.h"
#include "report/text.h"

namespace coop::report {

std::vector<NetworkEvent> unreached_of(const std::vector<NetworkEvent>& events) {
  constexpr std::size_t kMost = 20;
  const auto is_attempt = [](const NetworkEvent& event) {
    return event.allowed && event.kind != NetworkEvent::Kind::lookup &&
           event.kind != NetworkEvent::Kind::published;
  };
  std::vector<NetworkEvent> unreached;
  for (const NetworkEvent& event : events) {
    const auto same = [&](const NetworkEvent& other) {
      return is_attempt(other) && other.host == event.host && other.port == event.port;
    };
    const auto reached = [&](const NetworkEvent& other) {
      return same(other) && other.problem.empty();
    };
    if (!is_attempt(event) || event.problem.empty() || std::ranges::any_of(events, reached))
      continue;
    const auto known = std::ranges::find_if(unreached, same);
    if (known != unreached.end()) *known = event;
    else if (unreached.size() < kMost) unreached.push_back(event);
  }
  return unreached;
}

std::string unreached_text(const NetworkEvent& event) {
  return "could not reach " + printable(event.host) + ":" + std::to_string(event.port) +
         ", which is allowed: " + printable(event.problem);
}

}  // namespace coop::report
