// Settings files of other programs, which people keep in their homes: read, and replaced as a whole.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/path.h"

namespace coop::host {

inline constexpr std::size_t kLargestSettingsFile = std::size_t{16} << 20;

struct SettingsFile {
  Path path{};    // as named
  Path target{};  // where symlinks lead: dotfile managers keep the files elsewhere
  std::optional<std::string> text{};  // nullopt: there is no such file
  mode_t mode = 0600;
  std::vector<Path> missing{};  // the directories that must be made for it, the innermost first
  bool is_moved() const { return target != path; }
  bool operator==(const SettingsFile&) const = default;
};

// Refused: a file of another user, one that its owner may not write, what is no regular file, and more than 16 MiB; and a
// path on which another user but root has a directory or a symlink. Where there is no file, the directory that it would be
// made in must be the caller's own.
Result<SettingsFile> read_settings_file(const Path& path);

// Puts `text` in its place, atomically and with its mode; nullopt removes the file. Refused when the file is not what was
// read: another program may have written it meanwhile.
Result<void> replace_settings_file(const SettingsFile& file,
                                   const std::optional<std::string>& text);

// A file of coop's own, for its owner only, with the directories above it.
Result<void> write_private_file(const Path& path, std::string_view text);

// Such a file, by its name below coop's `directory`; nullopt where there is none. Refused: a symlink, what another user owns
// or can write, what is no regular file, and more than 16 MiB.
Result<std::optional<std::string>> read_private_file(const Path& directory,
                                                     const std::string& name);

// That the home is the caller's: as root with the HOME of another user, that user would say by symlinks which files of the
// machine change.
Result<void> check_home(const Path& home);

// Those of them that are empty, in this order.
void remove_empty(std::span<const Path> directories);

}  // namespace coop::host
