#include "guards/git/settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/path.h"
#include "guards/git/config.h"
#include "guards/git/outside.h"
#include "guards/trail.h"
#include "host/accounts.h"

namespace coop::guards {

namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::string_view kOptional = ":(optional)";
constexpr int kDeepest = 10;        // git's own limit
constexpr int kMostIncluded = 256;  // a file that includes two files, each of which includes two, …
constexpr int kMostInAll = 8192;    // of all repositories

bool is_include(const GitSetting& setting) {
  const bool plain = setting.section == "include" && !setting.subsection;
  return setting.key == "path" && (plain || (setting.section == "includeif" && setting.subsection));
}

// Accounts of a directory service are not found: a static program cannot ask it.
Path home_of(std::string_view user) {
  const RegularFile accounts = read_regular(AT_FDCWD, "/etc/passwd", 0, kLargestFile);
  return host::parse_home_of(accounts.text, user);
}

}  // namespace

bool is_home_not_known(std::string_view value, const Path& home) {
  if (value.starts_with(kOptional)) value.remove_prefix(kOptional.size());
  return value.starts_with('~') && expand_setting(value, "/", home).empty();
}

Path expand_setting(std::string_view value, const Path& base, const Path& home) {
  if (value.starts_with(kOptional)) value.remove_prefix(kOptional.size());
  if (value.empty() || value.size() >= PATH_MAX) return {};
  if (value == "~" || value.starts_with("~/"))
    return home.empty() ? Path{} : home + Path(value.substr(1));
  if (value.starts_with('~')) {
    const std::size_t slash = std::min(value.find('/'), value.size());
    const Path other = home_of(value.substr(1, slash - 1));
    return other.empty() ? Path{} : other + Path(value.substr(slash));
  }
  if (value.starts_with("%(prefix)/")) return {};  // git's own installation
  return value.starts_with('/') ? Path(value) : base + "/" + Path(value);
}

GitSettingsReader::GitSettingsReader(Path home, std::vector<Path> writable)
    : home_(std::move(home)), writable_(std::move(writable)) {}

void GitSettingsReader::fail(Error::Kind kind, int error, const Path& path, std::string hint) {
  if (failure_) return;
  failure_ = Error{.kind = kind,
                   .errno_value = error,
                   .operation = "read git's settings",
                   .subject = path,
                   .hint = std::move(hint)};
}

// Only its owner can make a file unreadable, and readable again when something could use what it names.
void GitSettingsReader::unreadable(const Path& path, int error) {
  const Trail trail = follow_trail(path, writable_);
  bool ours = error != EACCES && error != EPERM;
  struct stat status{};
  for (Path at = trail.place; !ours && at.size() > 1; at = parent_of(at)) {
    if (::stat(at.c_str(), &status) < 0 && !trail.status) continue;
    ours =
        (at == trail.place && trail.status ? trail.status->st_uid : status.st_uid) == ::geteuid();
    break;
  }
  if (ours)
    return fail(Error::Kind::system, error, trail.place.empty() ? path : trail.place,
                "what it names cannot be guarded: make it readable (chmod u+rwX), and try again");
  note_unreadable(path);
}

void GitSettingsReader::note_unreadable(const Path& path) {
  notes_.insert("guards: " + printable(path) + " cannot be read: what it names is not guarded");
}

void GitSettingsReader::note_home(std::string_view value, const Path& file) {
  notes_.insert("guards: whose home \"" + printable(value) + "\" in " + printable(file) +
                " means is not in /etc/passwd: what it names is not guarded");
}

bool GitSettingsReader::read(int directory, const std::string& name, const Path& path,
                             GitSettings& settings) {
  seen_.clear();
  included_ = 0;
  return read(directory, name, path, settings, 0);
}

bool GitSettingsReader::read(int directory, const std::string& name, const Path& path,
                             GitSettings& settings, int depth) {
  const RegularFile file = read_regular(directory, name, 0, kLargestFile);
  if (file.content == Content::unreadable) {
    const Trail trail = follow_trail(path, writable_);
    const bool inside = (!trail.place.empty() && tree_of(trail.place, writable_) != nullptr) ||
                        std::ranges::any_of(trail.links, [&](const TrailLink& link) {
                          return tree_of(link.path, writable_) != nullptr;
                        });
    if (inside) unreadable(path, file.error);
    else note_unreadable(path);
  }
  if (file.content == Content::too_large)
    fail(Error::Kind::unsupported, 0, path,
         "it is larger than 1 MiB: what it names would not be guarded");
  if (file.content != Content::text) return file.content != Content::none;
  const std::string& text = file.text;

  std::vector<Path> included;
  for_each_setting(text, [&](const GitSetting& setting) {
    if (!setting.value) return;
    const bool core = setting.section == "core" && !setting.subsection;
    const std::size_t hooks = settings.hooks.size();
    if (core && setting.key == "hookspath") settings.hooks.push_back(*setting.value);
    // `git init` and `git clone` copy hooks and settings from there into what they make.
    if (setting.section == "init" && !setting.subsection && setting.key == "templatedir")
      settings.hooks.push_back(*setting.value);
    const bool names_hooks = settings.hooks.size() > hooks;
    if ((names_hooks || is_include(setting)) && is_home_not_known(*setting.value, home_))
      note_home(*setting.value, path);
    if (core && setting.key == "worktree") settings.worktrees.push_back(*setting.value);
    if (!is_include(setting)) return;
    Path next = expand_setting(*setting.value, parent_of(path), home_);
    if (next.empty() || !seen_.insert(next).second) return;
    if (depth < kDeepest && included_ < kMostIncluded && all_included_ < kMostInAll) {
      ++included_;
      ++all_included_;
      included.push_back(std::move(next));
    } else {
      fail(Error::Kind::unsupported, 0, path,
           "it includes more files than coop follows: what the others name would not be guarded");
    }
  });
  for (const Path& next : included) {
    settings.files.push_back(next);
    read(AT_FDCWD, next, next, settings, depth + 1);
  }
  return true;
}

}  // namespace coop::guards
