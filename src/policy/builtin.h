// The lists coop ships, from policies/*.txt: guards, secrets, caches and control sockets.
#pragma once

#include <cstdint>
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
enum class GuardKind : std::uint8_t { beside_git, anywhere, file, home, contents };

struct GuardEntry : NamedReason {
  GuardKind kind;
};

struct CacheEntry {
  std::string_view name;      // "cargo"
  std::string_view variable;  // "CARGO_HOME": used instead of `path` when it is set
  std::string_view path;      // "~/.cargo"
  std::string_view below;     // "registry"
  std::string_view reason;
};

std::span<const GuardEntry> guards();  // sorted by name
// beside_git for a name that is not on the list.
GuardKind guard_kind(std::string_view name);
// The one of `names` that `path` is, or lies in, by its components alone: ".vscode" for /x/.vscode/extensions.
std::optional<std::string> guard_around(const Path& path, std::span<const std::string> names,
                                        const Path& home);
std::span<const NamedReason> secrets();
std::span<const CacheEntry> caches();
std::span<const NamedReason> control_sockets();
// Each name of caches() once.
std::vector<std::string_view> cache_names();

// "~/x" and "~" with the home directory expanded; anything else unchanged.
Path expand_home(std::string_view path, std::string_view home);

// The secrets list as optional hide rules. "~" is each of `homes`: $HOME may differ from the
// account's home directory, which has the keys. ~/.config, ~/.local/share and ~/.local/state are
// also looked for where the XDG variables point. Entries that contain a home directory itself are
// left out: hiding a home hides the tools in it.
std::vector<PathRule> secret_rules(std::span<const Path> homes,
                                   const std::map<std::string, std::string>& environment = {});
inline std::vector<PathRule> secret_rules(const Path& home) { return secret_rules({&home, 1}); }

// `--cache NAME` as rules: optional, writable.
Result<std::vector<PathRule>> cache_rules(std::string_view name, const Path& home,
                                          const std::map<std::string, std::string>& environment);

// The guard names in force: all except those `allowed`. An unknown allowed name is an error.
Result<std::vector<std::string>> guard_names(std::span<const std::string> allowed);

// What a client of this socket can do to the machine; nothing for other sockets. Judges the path as
// written: callers that know the canonical path ask about that one too.
std::optional<std::string> control_socket_reason(std::string_view path);

}  // namespace coop::policy
