#include "host/guard_names.h"

#include <algorithm>

namespace coop::host {

namespace {

Guard make_guard(const std::string& name, std::string_view rest) {
  Guard guard{.name = name};
  while (!rest.empty()) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (slash > 0) guard.parts.emplace_back(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return guard;
}

// Our own files: whichever directory coop is started in is the workspace.
bool is_own(std::string_view name) { return name == ".coop" || name == "coop.toml"; }

}  // namespace

GuardNames::GuardNames(std::span<const std::string> names)
    : interesting_{".git",    "HEAD",      "objects", "refs",           "commondir",
                   "modules", "worktrees", "config",  "config.worktree"} {
  constexpr std::string_view kInGit = ".git/";
  for (const std::string& name : names) {
    const bool in_git = name.starts_with(kInGit);
    if (name == ".git") git_file_ = true;
    if (name == ".git") continue;
    Guard guard = make_guard(name, std::string_view(name).substr(in_git ? kInGit.size() : 0));
    if (guard.parts.empty()) continue;
    interesting_.push_back(guard.parts.front());
    (in_git ? in_git_ : is_own(name) ? anywhere_ : beside_).push_back(std::move(guard));
  }
  std::ranges::sort(interesting_);
  for (const std::string& name : interesting_)
    first_letters_[static_cast<unsigned char>(name.front())] = true;
}

void GuardNames::add_everywhere(const std::string& guard, std::string_view relative) {
  const Guard added = make_guard(guard, relative);
  if (added.parts.empty()) return;
  const std::string& first = added.parts.front();
  interesting_.insert(std::ranges::lower_bound(interesting_, first), first);
  first_letters_[static_cast<unsigned char>(first.front())] = true;
  in_git_.push_back(added);
  beside_.push_back(added);
}

bool GuardNames::interesting(std::string_view name) const {
  if (!first_letters_[static_cast<unsigned char>(name.front())]) return false;
  return std::ranges::binary_search(interesting_, name, std::less<>{});
}

}  // namespace coop::host
