#include "guards/changes.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "guards/git/harmless.h"

namespace coop::guards {

namespace {

using Setting =
    std::tuple<std::string, std::optional<std::string>, std::string, std::string>;  // as GitSetting
using Values = std::vector<std::pair<std::string, std::string>>;                    // key and value

struct Sorted {
  std::vector<Setting>
      weighty{};  // could run a program; in order: for most of them the last value counts
  std::map<std::string, Values> remotes{};     // where each of them leads
  std::map<std::string, Values> submodules{};  // the same
  std::map<std::string, Values> branches{};    // which remote each of them uses
};

bool is_target(const GitSetting& found) {
  constexpr std::array<std::string_view, 5> kOfRemotes{"url", "pushurl", "mirror", "push", "fetch"};
  constexpr std::array<std::string_view, 2> kOfBranches{"remote", "pushremote"};
  if (!found.subsection) return false;
  return (found.section == "remote" && contains(kOfRemotes, found.key)) ||
         (found.section == "branch" && contains(kOfBranches, found.key)) ||
         (found.section == "submodule" && found.key == "url");
}

// Nothing when git would refuse the file, or read another text than we do.
std::optional<Sorted> sorted_settings(const Version& version) {
  if (version.entries.size() != 1 || !S_ISREG(version.entries.front().mode)) return std::nullopt;
  const std::string& text = version.entries.front().content;
  if (text.contains('\0')) return std::nullopt;
  Sorted sorted;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& found) {
    const std::string value = found.value.value_or("true");
    if (!is_harmless_setting(found))
      sorted.weighty.emplace_back(found.section, found.subsection, found.key, value);
    if (!is_target(found)) return;
    auto& group = found.section == "remote"   ? sorted.remotes
                  : found.section == "branch" ? sorted.branches
                                              : sorted.submodules;
    group[*found.subsection].emplace_back(found.key, value);
  });
  if (syntax != Syntax::good) return std::nullopt;
  return sorted;
}

// New ones lead nowhere by themselves; one that was there leads where it did, or is gone.
bool lead_as_before(const std::map<std::string, Values>& old,
                    const std::map<std::string, Values>& now) {
  return std::ranges::all_of(old, [&](const auto& target) {
    const auto found = now.find(target.first);
    return found == now.end() || found->second == target.second;
  });
}

// A branch uses the remotes that it used, or others that were there.
bool use_known_remotes(const Sorted& old, const Sorted& now) {
  return std::ranges::all_of(now.branches, [&](const auto& branch) {
    const auto before = old.branches.find(branch.first);
    if (before != old.branches.end() && before->second == branch.second) return true;
    return std::ranges::all_of(branch.second, [&](const auto& setting) {
      return setting.second == "." || old.remotes.contains(setting.second);
    });
  });
}

}  // namespace

bool is_harmless_change(std::string_view guard, const Version& before, const Version& now) {
  if (guard != ".git/config" && guard != ".git/config.worktree") return false;
  const std::optional<Sorted> old = sorted_settings(before);
  const std::optional<Sorted> present = sorted_settings(now);
  return old && present && old->weighty == present->weighty &&
         lead_as_before(old->remotes, present->remotes) &&
         lead_as_before(old->submodules, present->submodules) && use_known_remotes(*old, *present);
}

}  // namespace coop::guards
