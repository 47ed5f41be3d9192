// What files of a git directory would have git run. Parsers only, fuzzed: the texts come from inside a sandbox.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guards/git/config.h"

namespace coop::guards {

struct ConfigVerdict {
  // The first setting that is not known to run nothing, and why; nothing if there is none.
  std::optional<std::string> danger{};
  std::vector<std::string> worktrees{};  // core.worktree: the caller knows whether it leads back
};

// Judges a whole configuration by an allow-list of settings. What git would refuse is no exception: another version may
// not.
enum class ConfigFile { repository, worktree };
ConfigVerdict judge_config(std::string_view text, ConfigFile file);

// One setting, by the same list.
bool is_harmless_setting(const GitSetting& setting);

// Whether git can fetch from there without running anything that the URL names: no "ext::", no options for ssh.
bool is_plain_remote(std::string_view url);

// The lines of git-rebase-todo that are not known to run nothing, as written.
std::vector<std::string> programs_in_todo(std::string_view text);
// A strategy that is not one of git's own: git runs git-merge-STRATEGY.
std::vector<std::string> programs_in_strategy(std::string_view text);
// The same for the options of a cherry-pick, in the format of a configuration.
std::vector<std::string> programs_in_options(std::string_view text);
// The number of a step. git's own prompt puts it into PS1, where the shell expands it: "$(program)".
std::vector<std::string> programs_in_number(std::string_view text);
// What `git am` passes to `git apply`: options that are not known to write nothing but what the patch names.
std::vector<std::string> programs_in_apply_options(std::string_view text);

}  // namespace coop::guards
