#include "guards/git/settings.h"

#include <fcntl.h>

#include <climits>
#include <utility>

#include "base/path.h"
#include "guards/git/config.h"
#include "guards/git/outside.h"

namespace coop::guards {

namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr int kDeepest = 10;        // git's own limit
constexpr int kMostIncluded = 256;  // a file that includes two files, each of which includes two, …

bool is_include(const GitSetting& setting) {
  const bool plain = setting.section == "include" && !setting.subsection;
  return setting.key == "path" && (plain || (setting.section == "includeif" && setting.subsection));
}

}  // namespace

Path expand_setting(std::string_view value, const Path& base, const Path& home) {
  constexpr std::string_view kOptional = ":(optional)";
  if (value.starts_with(kOptional)) value.remove_prefix(kOptional.size());
  if (value.empty() || value.size() >= PATH_MAX) return {};
  if (value == "~" || value.starts_with("~/"))
    return home.empty() ? Path{} : home + Path(value.substr(1));
  // Another user's home directory, and git's own installation.
  if (value.starts_with('~') || value.starts_with("%(prefix)/")) return {};
  return value.starts_with('/') ? Path(value) : base + "/" + Path(value);
}

GitSettingsReader::GitSettingsReader(Path home) : home_(std::move(home)) {}

bool GitSettingsReader::read(int directory, const std::string& name, const Path& path,
                             GitSettings& settings) {
  seen_.clear();
  return read(directory, name, path, settings, 0);
}

bool GitSettingsReader::read(int directory, const std::string& name, const Path& path,
                             GitSettings& settings, int depth) {
  const auto [content, text] = read_regular(directory, name, 0, kLargestFile);
  if (content == Content::too_large)
    notes_.insert("guards: " + printable(path) +
                  " is larger than 1 MiB and was not read: what it names is not guarded");
  if (content != Content::text) return content != Content::none;

  std::vector<Path> included;
  for_each_setting(text, [&](const GitSetting& setting) {
    if (!setting.value) return;
    const bool core = setting.section == "core" && !setting.subsection;
    if (core && setting.key == "hookspath") settings.hooks.push_back(*setting.value);
    // `git init` and `git clone` copy hooks and settings from there into what they make.
    if (setting.section == "init" && !setting.subsection && setting.key == "templatedir")
      settings.hooks.push_back(*setting.value);
    if (core && setting.key == "worktree") settings.worktrees.push_back(*setting.value);
    if (!is_include(setting)) return;
    Path file = expand_setting(*setting.value, parent_of(path), home_);
    if (file.empty() || !seen_.insert(file).second) return;
    if (depth < kDeepest && included_ < kMostIncluded) {
      ++included_;
      included.push_back(std::move(file));
    } else {
      notes_.insert("guards: " + printable(path) +
                    " includes more files than coop follows: the rest is not guarded");
    }
  });
  for (const Path& file : included) {
    settings.files.push_back(file);
    read(AT_FDCWD, file, file, settings, depth + 1);
  }
  return true;
}

}  // namespace coop::guards
