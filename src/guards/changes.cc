#include "guards/changes.h"

#include <sys/stat.h>

#include <optional>
#include <tuple>
#include <vector>

#include "guards/git/harmless.h"

namespace coop::guards {

namespace {

using Setting =
    std::tuple<std::string, std::optional<std::string>, std::string, std::string>;  // as GitSetting

// The settings that matter, in order: for most of them the last value counts. Nothing when git would refuse the file, or
// read another text than we do.
std::optional<std::vector<Setting>> weighty_settings(const Version& version) {
  if (version.entries.size() != 1 || !S_ISREG(version.entries.front().mode)) return std::nullopt;
  const std::string& text = version.entries.front().content;
  if (text.contains('\0')) return std::nullopt;
  std::vector<Setting> settings;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& found) {
    if (!is_harmless_setting(found))
      settings.emplace_back(found.section, found.subsection, found.key,
                            found.value.value_or("true"));
  });
  if (syntax != Syntax::good) return std::nullopt;
  return settings;
}

}  // namespace

bool is_harmless_change(std::string_view guard, const Version& before, const Version& now) {
  if (guard != ".git/config" && guard != ".git/config.worktree") return false;
  const auto old = weighty_settings(before);
  const auto present = weighty_settings(now);
  return old && present && *old == *present;
}

}  // namespace coop::guards
