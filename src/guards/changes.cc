#include "guards/changes.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "guards/git/config.h"

namespace coop::guards {

namespace {

using Setting =
    std::tuple<std::string, std::optional<std::string>, std::string, std::string>;  // as GitSetting

// "ext::sh -c …" runs a program if the protocol is allowed, and a leading "-" was taken for an option by programs that
// git starts.
bool is_plain_url(std::string_view value) {
  return !value.empty() && value.front() != '-' && value.find("::") == std::string_view::npos;
}

// "section.key", or "section.*.key" with any subsection.
constexpr std::array<std::string_view, 44> kHarmless{
    "advice.*",
    "branch.*.description",
    "branch.*.merge",
    "branch.*.rebase",
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "branch.sort",
    "color.*",
    "color.*.*",
    "column.ui",
    "commit.verbose",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.symlinks",
    "diff.algorithm",
    "diff.colormoved",
    "diff.renames",
    "fetch.prune",
    "init.defaultbranch",
    "log.date",
    "merge.conflictstyle",
    "merge.ff",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "rebase.autosquash",
    "rebase.autostash",
    "remote.*.fetch",
    "remote.*.prune",
    "remote.*.push",
    "remote.*.tagopt",
    "submodule.*.active",
    "user.email",
    "user.name",
};

bool is_harmless(const Setting& setting) {
  const auto& [section, subsection, key, value] = setting;
  const bool remote = section == "remote" && (key == "url" || key == "pushurl");
  const bool module = section == "submodule" && key == "url";
  const bool branch = section == "branch" && (key == "remote" || key == "pushremote");
  if (subsection && (remote || module || branch)) return is_plain_url(value);
  const std::string front = section + (subsection ? ".*." : ".");
  return std::ranges::find(kHarmless, front + key) != kHarmless.end() ||
         std::ranges::find(kHarmless, front + "*") != kHarmless.end();
}

// The settings that matter, in order: for most of them the last value counts. Nothing when git would refuse the file, or
// read another text than we do.
std::optional<std::vector<Setting>> weighty_settings(const Version& version) {
  if (version.entries.size() != 1 || !S_ISREG(version.entries.front().mode)) return std::nullopt;
  const std::string& text = version.entries.front().content;
  if (text.contains('\0')) return std::nullopt;
  std::vector<Setting> settings;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& found) {
    Setting setting(found.section, found.subsection, found.key, found.value.value_or("true"));
    if (!is_harmless(setting)) settings.push_back(std::move(setting));
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
