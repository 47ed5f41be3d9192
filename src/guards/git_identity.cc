#include "guards/git_identity.h"

#include <fcntl.h>

#include <algorithm>

#include "guards/git/config.h"
#include "guards/git/names.h"
#include "guards/git/outside.h"
#include "policy/credentials.h"

namespace coop::guards {

namespace {

constexpr std::size_t kMostAliases = 200;
constexpr std::size_t kLongestAlias = 500;

bool is_harmless_alias(const std::string& name, const std::string& value) {
  const auto is_plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (name.empty() || !std::ranges::all_of(name, is_plain)) return false;
  if (value.empty() || value.size() > kLongestAlias || value.starts_with('!')) return false;
  // "-c http.extraHeader=…", "--config-env=…"
  const bool configures =
      value.starts_with("-c") || value.contains(" -c") || value.contains("--config-env");
  return !configures && !policy::holds_credentials(value);
}

// The last of a name counts, also one that is left out.
void take_alias(std::vector<GitAlias>& aliases, const std::string& name, const std::string& value) {
  std::erase_if(aliases, [&](const GitAlias& alias) { return alias.name == name; });
  if (is_harmless_alias(name, value) && aliases.size() < kMostAliases)
    aliases.push_back({name, value});
}

}  // namespace

GitIdentity git_identity(const HostFacts& host) {
  constexpr std::size_t kLargest = 1 << 20;
  GitIdentity identity;
  // A later file wins, as for git.
  for (const Path& file : git_user(host).configurations) {
    const auto [content, text, error] = read_regular(AT_FDCWD, file, 0, kLargest);
    if (content != Content::text) continue;
    for_each_setting(text, [&](const GitSetting& setting) {
      if (setting.subsection || !setting.value) return;
      if (setting.section == "alias") take_alias(identity.aliases, setting.key, *setting.value);
      if (setting.section != "user") return;
      if (setting.key == "name") identity.name = *setting.value;
      if (setting.key == "email") identity.email = *setting.value;
    });
  }
  return identity;
}

}  // namespace coop::guards
