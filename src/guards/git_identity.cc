#include "guards/git_identity.h"

#include <fcntl.h>

#include "guards/git/config.h"
#include "guards/git/names.h"
#include "guards/git/outside.h"

namespace coop::guards {

GitIdentity git_identity(const HostFacts& host) {
  constexpr std::size_t kLargest = 1 << 20;
  GitIdentity identity;
  // A later file wins, as for git.
  for (const Path& file : git_user(host).configurations) {
    const auto [content, text, error] = read_regular(AT_FDCWD, file, 0, kLargest);
    if (content != Content::text) continue;
    for_each_setting(text, [&](const GitSetting& setting) {
      if (setting.section != "user" || setting.subsection || !setting.value) return;
      if (setting.key == "name") identity.name = *setting.value;
      if (setting.key == "email") identity.email = *setting.value;
    });
  }
  return identity;
}

}  // namespace coop::guards
