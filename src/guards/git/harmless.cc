#include "guards/git/harmless.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/text.h"

namespace coop::guards {

namespace {

// Settings that git itself, clone, submodule, worktree and usual programs write, and none of whose values makes git run a
// program, read another file or contact a host by itself (a promisor remote is contacted by "git status"). "*" is a
// subsection.
constexpr std::array kHarmless = std::to_array<std::string_view>({
    "author.email",
    "author.name",
    "branch.*.description",
    "branch.*.merge",
    "branch.*.rebase",
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "branch.sort",
    "column.ui",
    "commit.gpgsign",
    "commit.verbose",
    "committer.email",
    "committer.name",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.checkstat",
    "core.commitgraph",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.longpaths",
    "core.multipackindex",
    "core.precomposeunicode",
    "core.protecthfs",
    "core.protectntfs",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
    "diff.algorithm",
    "diff.colormoved",
    "diff.renames",
    "extensions.noop",
    "extensions.objectformat",
    "extensions.preciousobjects",
    "extensions.refstorage",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
    "fetch.prune",
    "fetch.prunetags",
    "gc.auto",
    "gc.autodetach",
    "index.sparse",
    "index.version",
    "init.defaultbranch",
    "lfs.*.access",
    "lfs.*.locksverify",
    "lfs.repositoryformatversion",
    "log.date",
    "merge.conflictstyle",
    "merge.ff",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "rebase.autosquash",
    "rebase.autostash",
    "receive.denynonfastforwards",
    "remote.*.fetch",
    "remote.*.gh-resolved",
    "remote.*.mirror",
    "remote.*.prune",
    "remote.*.push",
    "remote.*.tagopt",
    "submodule.*.active",
    "submodule.*.branch",
    "submodule.active",
    "user.email",
    "user.name",
});
// Only colours and hints, whatever the key.
constexpr std::array<std::string_view, 2> kHarmlessSections{"advice", "color"};
constexpr std::array<std::string_view, 3> kUrls{"remote.*.pushurl", "remote.*.url",
                                                "submodule.*.url"};
// The name of a remote, or a URL.
constexpr std::array<std::string_view, 2> kRemotes{"branch.*.pushremote", "branch.*.remote"};
constexpr std::array<std::string_view, 4> kUpdates{"checkout", "merge", "none", "rebase"};
// Others would let every user read, or write, what git makes on the host later.
constexpr std::array<std::string_view, 6> kShared{"0", "1", "false", "group", "true", "umask"};
// Newer versions of git take a path here too, and keep references and their logs there.
constexpr std::array<std::string_view, 2> kRefStorages{"files", "reftable"};
constexpr std::array<std::string_view, 2> kObjectFormats{"sha1", "sha256"};
constexpr std::array<std::string_view, 6> kStrategies{"octopus",   "ort",     "ours",
                                                      "recursive", "resolve", "subtree"};

bool is_control(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; }
bool has_control(std::string_view text) { return std::ranges::any_of(text, is_control); }

bool is_scheme_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '+' || letter == '-' || letter == '.';
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 120;
  return printable(text.substr(0, kMost)) + (text.size() > kMost ? "…" : "");
}

// "remote.*.url"
std::string pattern_of(const GitSetting& setting) {
  return setting.section + (setting.subsection ? ".*." : ".") + setting.key;
}

std::string name_of_setting(const GitSetting& setting) {
  return shown(setting.section + (setting.subsection ? "." + *setting.subsection : "") + "." +
               setting.key);
}

// A subsection becomes an argument (git fetch REMOTE) and a path (.git/modules/NAME).
bool is_plain_subsection(const std::string& name) {
  return !name.empty() && !name.starts_with('-') && !has_control(name) &&
         !("/" + name + "/").contains("/../");
}

bool has_harmless_value(const GitSetting& setting, const std::string& pattern) {
  const std::string value = setting.value.value_or("true");
  if (pattern == "remote.*.tagopt") return value == "--tags" || value == "--no-tags";
  // Some values become arguments.
  if (value.starts_with('-')) return false;
  if (contains(kUrls, pattern)) return is_plain_remote(value);
  if (contains(kRemotes, pattern)) return is_plain_remote(value);
  if (pattern == "submodule.*.update") return contains(kUpdates, value);
  if (pattern == "core.sharedrepository") return contains(kShared, value);
  if (pattern == "extensions.refstorage") return contains(kRefStorages, value);
  if (pattern == "extensions.objectformat") return contains(kObjectFormats, value);
  return true;
}

bool is_known(const std::string& pattern, ConfigFile file) {
  // Settings for one worktree override those of a repository that may be the user's own.
  if (file == ConfigFile::worktree && !pattern.starts_with("core.sparsecheckout") &&
      pattern != "index.sparse")
    return false;
  return contains(kHarmless, pattern) ||
         contains(kHarmlessSections, pattern.substr(0, pattern.find('.'))) ||
         contains(kUrls, pattern) || contains(kRemotes, pattern) || pattern == "submodule.*.update";
}

std::optional<std::string> danger_of(const GitSetting& setting, ConfigFile file) {
  const std::string pattern = pattern_of(setting);
  if (!is_known(pattern, file))
    return "the setting " + name_of_setting(setting) + " is not one of those that run nothing";
  if (setting.subsection && !is_plain_subsection(*setting.subsection))
    return "the setting " + name_of_setting(setting) + " has a name that git could misread";
  if (!has_harmless_value(setting, pattern))
    return "the value of " + name_of_setting(setting) +
           (pattern == "core.sharedrepository"   ? " opens files to other users"
            : pattern.starts_with("extensions.") ? " could lead git elsewhere"
                                                 : " could run a program");
  return std::nullopt;
}

// The first word of a line, as git's sequencer separates it.
std::string_view command_of(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.substr(0, line.find_first_of(" \t\r"));
}

bool runs_nothing(std::string_view line) {
  constexpr std::array<std::string_view, 24> kCommands{
      "pick",  "p",     "reword", "r",     "edit", "e",          "squash", "s",
      "fixup", "f",     "break",  "b",     "d",    "drop",       "l",      "label",
      "t",     "reset", "m",      "merge", "u",    "update-ref", "noop",   "revert"};
  const std::string_view command = command_of(line);
  return command.empty() || command.starts_with('#') || contains(kCommands, command);
}

bool is_plain_apply_option(std::string_view option) {
  constexpr std::array<std::string_view, 5> kOptions{"--ignore-space-change", "--ignore-whitespace",
                                                     "--reject", "--no-reject", "--unidiff-zero"};
  constexpr std::array<std::string_view, 3> kWithValue{"--whitespace=", "--exclude=", "--include="};
  const bool counted = option.size() > 2 && (option.starts_with("-p") || option.starts_with("-C"));
  if (counted) return option.find_first_not_of("0123456789", 2) == std::string_view::npos;
  return !option.contains('\0') && (contains(kOptions, option) ||
                                    std::ranges::any_of(kWithValue, [&](std::string_view begin) {
                                      return option.starts_with(begin);
                                    }));
}

}  // namespace

bool is_plain_remote(std::string_view url) {
  if (url.empty() || url.starts_with('-') || has_control(url)) return false;
  const auto* const end = std::ranges::find_if_not(url, is_scheme_letter);
  const std::string_view scheme = url.substr(0, static_cast<std::size_t>(end - url.begin()));
  const std::string_view rest = url.substr(scheme.size());
  if (rest.starts_with("::")) return false;  // git runs git-remote-SCHEME
  // Hosts, users and paths that a program would take for an option.
  for (const char* const option : {"://-", "@-", "[-", ":-"})
    if (url.contains(option)) return false;
  if (rest.starts_with("://")) {
    if (scheme == "http" || scheme == "https")
      return !url.contains("%0") && !url.contains("%1");  // line ends for a credential helper
    constexpr std::array<std::string_view, 5> kSchemes{"ssh", "git", "file", "git+ssh", "ssh+git"};
    return contains(kSchemes, scheme) && !url.contains('%');
  }
  return true;  // HOST:PATH for ssh, a path, or the name of a remote
}

bool is_harmless_setting(const GitSetting& setting) {
  return !danger_of(setting, ConfigFile::repository);
}

ConfigVerdict judge_config(std::string_view text, ConfigFile file) {
  ConfigVerdict verdict;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& setting) {
    if (file == ConfigFile::repository && pattern_of(setting) == "core.worktree" && setting.value) {
      verdict.worktrees.push_back(*setting.value);
    } else if (!verdict.danger) {
      verdict.danger = danger_of(setting, file);
    }
  });
  if (syntax == Syntax::malformed && !verdict.danger)
    verdict.danger = "it is malformed, so git may read it in another way";
  return verdict;
}

std::vector<std::string> programs_in_todo(std::string_view text) {
  std::vector<std::string> programs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    // Git treats the text as a C string.
    if (!runs_nothing(line) || line.contains('\0')) programs.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return programs;
}

std::vector<std::string> programs_in_strategy(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("\r\n"));
  const bool whole = text.substr(name.size()).find_first_not_of("\r\n") == std::string_view::npos;
  if (whole && (name.empty() || contains(kStrategies, name))) return {};
  return {std::string(text)};
}

std::vector<std::string> programs_in_options(std::string_view text) {
  constexpr std::array<std::string_view, 14> kOptions{"options.allow-empty",
                                                      "options.allow-empty-message",
                                                      "options.allow-ff",
                                                      "options.allow-rerere-auto",
                                                      "options.default-msg-cleanup",
                                                      "options.drop-redundant-commits",
                                                      "options.edit",
                                                      "options.gpg-sign",
                                                      "options.keep-redundant-commits",
                                                      "options.mainline",
                                                      "options.no-commit",
                                                      "options.record-origin",
                                                      "options.signoff",
                                                      "options.strategy-option"};
  std::vector<std::string> programs;
  const Syntax syntax = for_each_setting(text, [&](const GitSetting& setting) {
    const std::string pattern = pattern_of(setting);
    const std::string value = setting.value.value_or("");
    const bool known = pattern == "options.strategy" && contains(kStrategies, value);
    if (!known && !contains(kOptions, pattern)) programs.push_back(pattern + " = " + value);
  });
  if (syntax == Syntax::malformed) programs.emplace_back("malformed options");
  return programs;
}

std::vector<std::string> programs_in_number(std::string_view text) {
  const bool plain = text.find_first_not_of("0123456789\r\n") == std::string_view::npos;
  return plain ? std::vector<std::string>() : std::vector{std::string(text)};
}

std::vector<std::string> programs_in_apply_options(std::string_view text) {
  std::vector<std::string> programs;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" \r\n"), text.size()));
    if (text.empty()) break;
    // Each is in single quotes. One with a quote in it is not taken apart.
    const std::size_t end = text.find('\'', 1);
    const bool whole =
        text.front() == '\'' && end != std::string_view::npos &&
        (end + 1 == text.size() || std::string_view(" \r\n").contains(text[end + 1]));
    if (!whole) {
      programs.emplace_back(text);
      break;
    }
    const std::string_view option = text.substr(1, end - 1);
    if (!is_plain_apply_option(option)) programs.emplace_back(option);
    text.remove_prefix(end + 1);
  }
  return programs;
}

}  // namespace coop::guards
