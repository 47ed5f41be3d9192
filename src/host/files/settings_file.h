// Settings files of other programs, which people keep in their homes: read, and replaced as a whole.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coop/path.h"

namespace coop::host {

inline constexpr std::size_t kLargestSettingsFile = std::size_t{16} << 20;

struct SettingsFile {
  Path path{};    // as named
  Path target{};  // where symlinks lead: dotfile managers keep the files elsewhere
  std::optional<std::string> text{};  // nullopt: there is no such file
  mode_t mode = 0600;
  bool operator==(const SettingsFile&) const = default;
};

// Refused: a file of another user, one that its owner may not write, what is no regular file, and more than 16 MiB. Where
// there is no file, the directory that it would be made in must be the caller's own.
Result<SettingsFile> read_settings_file(const Path& path);

// Puts `text` in its place, atomically and with its mode; nullopt removes the file. Refused when the file is not what was
// read: another program may have written it meanwhile.
Result<void> replace_settings_file(const SettingsFile& file,
                                   const std::optional<std::string>& text);

// A file of coop's own, for its owner only, with the directories above it.
Result<void> write_private_file(const Path& path, std::string_view text);

}  // namespace coop::host
