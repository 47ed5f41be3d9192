// The lists coop ships, from policies/*.txt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/policy.h"

namespace coop::policy {

struct NamedReason {
  std::string_view name;
  std::string_view reason;
};

// Where a guarded name counts, and what is done about it: see the head of policies/guards.txt.
// home_path: "~/.bashrc", from policies/home_guards.txt.
enum class GuardKind : std::uint8_t { beside_git, anywhere, file, home, contents, home_path };

struct GuardEntry : NamedReason {
  GuardKind kind;
  // Its components, below the git directory; folded as names are compared (guards/names.h). None for those of a home.
  std::span<const std::string_view> parts;
  std::span<const std::string_view> folded;
};

// How a part of a cache is shown: see policies/caches.txt.
enum class CacheUse : std::uint8_t { copy, checked, fresh };

struct CacheEntry {
  std::string_view name;  // "cargo"
  CacheUse use;
  std::string_view variable;  // "CARGO_HOME": used instead of `path` when it is set
  std::string_view path;      // "~/.cargo"
  std::string_view below;     // "registry"
  std::string_view reason;
};

// One host of a group: see policies/hosts.txt.
struct HostEntry {
  std::string_view group;  // "github"
  std::string_view host;   // "github.com:22"
  std::string_view reason;
};

// with_credentials: a file that programs need, hidden only if its text looks like it holds a password or a token.
enum class SecretKind : std::uint8_t { always, with_credentials };

struct SecretEntry : NamedReason {
  SecretKind kind;
};

// A name in a workspace that --hide-secrets hides.
struct SecretPattern {
  std::string_view name;    // with wildcards; "!" before it: an exception
  std::string_view marker;  // the file contains this word; "" for any file or directory
  std::string_view reason;
};

std::span<const GuardEntry> guards();  // sorted by name
// Null for a name that is not on the list.
const GuardEntry* find_guard(std::string_view name);
// The same for names that come in the order of the list, as guard_names() gives them: mostly it is the next one.
class GuardFinder {
 public:
  const GuardEntry* find(std::string_view name) {
    while (!rest_.empty() && rest_.front().name < name) rest_ = rest_.subspan(1);
    return !rest_.empty() && rest_.front().name == name ? &rest_.front() : find_guard(name);
  }

 private:
  std::span<const GuardEntry> rest_ = guards();
};
// Folded names that can matter for a guard of the list, or for recognising a git directory, which begin with this letter.
std::span<const std::string_view> interesting_names(char first);
// Differs when those names do.
std::string_view interesting_digest();
// beside_git for a name that is not on the list.
GuardKind guard_kind(std::string_view name);
// The one of `names` that `path` is, or lies in, by its components alone: ".vscode" for /x/.vscode/extensions.
std::optional<std::string> guard_around(const Path& path, std::span<const std::string> names,
                                        const Path& home);
std::span<const CacheEntry> caches();
std::span<const NamedReason> control_sockets();
// What the host view shows of a home directory.
std::span<const NamedReason> home_list();
// What the minimal view shows of /etc: paths, with wildcards in the name right below /etc.
std::span<const NamedReason> etc_list();
std::span<const SecretPattern> workspace_secrets();
// The hosts of a group follow each other.
std::span<const HostEntry> host_list();
// Each name of caches() once.
std::vector<std::string_view> cache_names();

// "~/x" and "~" with the home directory expanded; anything else unchanged.
Path expand_home(std::string_view path, std::string_view home);

// The directories of a home, and the home itself, in which programs keep their settings under a name of their own.
inline constexpr std::array<std::string_view, 5> kSettingsDirectories{"", ".config", ".local/share",
                                                                      ".local/state", ".cache"};
// The names in one of them, by its place in that list; null when they are not known. The list of secrets is long, and most of
// it is missing on any one machine.
using NamesIn =
    std::function<const std::vector<std::string>*(const Path& home, std::size_t directory)>;

// The secrets list as optional hide rules. "~" is each of `homes`: $HOME may differ from the
// account's home directory, which has the keys. ~/.config, ~/.local/share and ~/.local/state are
// also looked for where the XDG variables point. Entries that contain a home directory itself are
// left out: hiding a home hides the tools in it. An entry with wildcards becomes a pattern. With `names_in` entries of a home
// that are known to be missing are left out, but for coop's own.
std::vector<PathRule> secret_rules(std::span<const Path> homes,
                                   const std::map<std::string, std::string>& environment = {},
                                   const NamesIn& names_in = {},
                                   SecretKind kind = SecretKind::always);
// Those of one home that need no look at the file system: without patterns.
inline std::vector<PathRule> secret_rules(const Path& home) {
  std::vector<PathRule> rules = secret_rules({&home, 1});
  std::erase_if(rules, [](const PathRule& rule) { return rule.pattern; });
  return rules;
}

// private_copy: `--cache NAME`, copy-on-write. with_host: `--share-cache NAME`, the checked parts are the host's own.
enum class Sharing : std::uint8_t { private_copy, with_host };

// A cache as rules, all optional.
Result<std::vector<PathRule>> cache_rules(std::string_view name, const Path& home,
                                          const std::map<std::string, std::string>& environment,
                                          Sharing sharing = Sharing::private_copy);
// The directory that its variable names, or would.
Path cache_base(const CacheEntry& cache, const Path& home,
                const std::map<std::string, std::string>& environment);

// The guard names in force: all except those `allowed`. An unknown allowed name is an error.
// The hint for a name that is none: a few that are close.
std::string similar_guards(std::string_view name);
Result<std::vector<std::string>> guard_names(std::span<const std::string> allowed);

// What a client of this socket can do to the machine; nothing for other sockets. Judges the path as
// written: callers that know the canonical path ask about that one too.
std::optional<std::string> control_socket_reason(std::string_view path);

}  // namespace coop::policy
