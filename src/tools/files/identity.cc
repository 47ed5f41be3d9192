#include "tools/files/identity.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/path.h"
#include "guards/names.h"

namespace coop::tools {

namespace {

constexpr std::array<std::string_view, 3> kIdentity{"soul.md", "identity.md", "user.md"};

}  // namespace

bool is_identity_file(std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (std::ranges::find(kIdentity, guards::folded(path.substr(0, end))) != kIdentity.end())
      return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

std::vector<PathRule> identity_rules(const Path& workspace) {
  std::vector<PathRule> rules;
  if (workspace.find_first_of("*?[\\") != Path::npos)
    return rules;  // it would be read as a pattern
  for (const std::string_view name : kIdentity) {
    std::string either_case;
    for (const char c : name) {
      const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      either_case += upper == c ? std::string{c} : std::string{'[', upper, c, ']'};
    }
    rules.push_back(PathRule{.kind = RuleKind::protect,
                             .path = join(workspace, either_case),
                             .if_missing = Missing::skip,
                             .origin = Origin::of_coop(Part::identity_files),
                             .reason = "the agent must not change its identity files",
                             .pattern = true});
  }
  return rules;
}

}  // namespace coop::tools
