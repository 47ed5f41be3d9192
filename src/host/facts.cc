#include "host/facts.h"

namespace coop {

const PathFact& HostFacts::fact(std::string_view path) const {
  static const PathFact kMissing{};
  const auto found = paths.find(Path(path));
  return found == paths.end() ? kMissing : found->second;
}

bool HostFacts::namespace_available(std::string_view name) const {
  const auto found = namespaces.find(std::string(name));
  return found != namespaces.end() && found->second.available;
}

}  // namespace coop
