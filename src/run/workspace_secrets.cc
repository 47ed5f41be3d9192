#include "run/workspace_secrets.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "base/wildcard.h"
#include "guards/git/directory.h"
#include "guards/git/outside.h"
#include "policy/builtin.h"
#include "sys/real_path.h"
#include "sys/tree/directory_stack.h"
#include "sys/tree/entries.h"

namespace coop::run {

namespace {

constexpr std::size_t kMostEntries = 2'000'000;
constexpr std::size_t kMostMatches = 1000;
constexpr std::size_t kLongestPath = 4000;
constexpr std::size_t kRead = 65536;

// Packages that were downloaded as they are: the keys in them are published test keys and certificates, and hiding those breaks programs
// (certifi, node's own tests). A secret that the user keeps in such a directory is not hidden.
constexpr std::array<std::string_view, 8> kSkipped{
    ".git", "node_modules", "site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox"};

// The text before the first and after the last wildcard decides for nearly all names. `name` is in lower case, as the list is:
// ".ENV" is read like ".env" by programs on file systems that ignore case, and holds the same.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t first = pattern.find_first_of("*?[");
  if (first == std::string_view::npos) return pattern == name;
  return name.starts_with(pattern.substr(0, first)) &&
         name.ends_with(pattern.substr(pattern.find_last_of("*?]") + 1)) &&
         matches_wildcard(pattern, name);
}

bool is_exception(std::string_view name) {
  return std::ranges::any_of(policy::workspace_secrets(), [&](const policy::SecretPattern& secret) {
    return secret.name.starts_with('!') && matches(secret.name.substr(1), name);
  });
}

// A file that cannot be read counts: its owner inside can make it readable.
bool contains_word(int directory, const std::string& name, std::string_view word) {
  const UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return errno != ENOENT;
  std::string text(kRead, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + size, text.size() - size);
    if (count < 0) return true;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  return std::string_view(text).substr(0, size).contains(word);
}

class Search {
 public:
  explicit Search(const Path& workspace) : workspace_(workspace) {}

  Result<std::vector<PathRule>> run() {
    TRY(walk(Pass::names));
    // Only then the names matter that are not secret themselves.
    if (!linked_.empty()) TRY(walk(Pass::links));
    std::vector<PathRule> rules;
    rules.reserve(found_.size());
    for (auto& [path, reason] : found_)
      rules.push_back(PathRule{.kind = RuleKind::hide,
                               .path = path,
                               .if_missing = Missing::skip,
                               .origin = Origin::of_coop(Part::secrets),
                               .reason = std::move(reason)});
    return rules;
  }

 private:
  enum class Pass : std::uint8_t { names, links };
  enum class Place : std::uint8_t { shown, hidden };

  struct Level {
    std::vector<std::pair<std::string, Place>> pending{};
    std::size_t path_length = 0;  // of the parent
  };

  // Depth first with an explicit stack: a sandbox may have made the tree.
  Result<void> walk(Pass pass) {
    DirectoryStack directory = TRY(DirectoryStack::open(workspace_));
    directory_ = &directory;
    path_ = workspace_;
    entries_ = 0;
    std::vector<Level> levels;
    TRY(look(levels, pass, Place::shown));
    while (!levels.empty()) {
      if (levels.back().pending.empty()) {
        path_.resize(levels.back().path_length);
        levels.pop_back();
        if (!levels.empty()) TRY(directory.leave());
        continue;
      }
      const auto [name, place] = std::move(levels.back().pending.back());
      levels.back().pending.pop_back();
      const std::size_t length = path_.size();
      // Its owner inside can make it accessible, but the planner could not look at single files in it.
      if (::faccessat(directory.fd(), name.c_str(), R_OK | X_OK, AT_EACCESS) < 0 &&
          errno == EACCES) {
        if (place == Place::shown)
          add(join(path_, name), "a directory that cannot be looked through");
        continue;
      }
      if (const Result<void> entered = directory.enter(name); !entered) {
        const int error = entered.error().errno_value;
        if (place == Place::shown && error != ENOENT && error != ENOTDIR && error != ELOOP)
          add(join(path_, name), "a directory that cannot be looked through");
        continue;
      }
      path_ = join(path_, name);
      TRY(look(levels, pass, place));
      levels.back().path_length = length;
    }
    return {};
  }

  Result<void> look(std::vector<Level>& levels, Pass pass, Place place) {
    Level level{.path_length = path_.size()};
    std::vector<std::pair<std::string, unsigned char>> candidates;
    TRY(for_each_entry(directory_->fd(), *buffer_, [&](std::string_view name, unsigned char type) {
      if (++entries_ > kMostEntries) return Next::stop;
      if (type == DT_UNKNOWN) type = type_of(name);
      if (place == Place::hidden) look_below_hidden(name, type, level);
      else if (pass == Pass::links) compare(name, type, level);
      else if (is_secret_name(lower(name))) candidates.emplace_back(name, type);
      else if (type == DT_DIR && !contains(kSkipped, name)) level.pending.emplace_back(name, place);
      return Next::go_on;
    }));
    if (entries_ > kMostEntries)
      return invalid("--hide-secrets",
                     in_quotes(workspace_) + " has too many files to look through",
                     "choose a smaller --workspace");
    for (const auto& [name, type] : candidates) {
      const bool secret = judge(name, type);
      if (type == DT_DIR) level.pending.emplace_back(name, secret ? Place::hidden : place);
    }
    if (found_.size() > kMostMatches)
      return invalid("--hide-secrets",
                     "more than 1000 files of " + in_quotes(workspace_) + " have names of secrets",
                     "hide the directories that hold them with --hide");
    levels.push_back(std::move(level));
    return {};
  }

  // Everything in a secret directory is secret, also under its other names.
  void look_below_hidden(std::string_view name, unsigned char type, Level& level) {
    if (type == DT_DIR) level.pending.emplace_back(name, Place::hidden);
    if (type == DT_REG) note_links(std::string(name));
  }

  // Directories of packages as well: what is looked for is known by its inode.
  void compare(std::string_view name, unsigned char type, Level& level) {
    Path path = join(path_, name);
    if (found_.contains(path)) return;
    if (type == DT_DIR) level.pending.emplace_back(name, Place::shown);
    struct stat status{};
    // By stat: the number that getdents64 gives is another one on overlay file systems.
    if (type == DT_REG &&
        ::fstatat(directory_->fd(), std::string(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        linked_.contains({status.st_ino, status.st_dev}))
      add(std::move(path), "another name of a secret: a hard link");
  }

  void note_links(const std::string& name) {
    struct stat status{};
    if (::fstatat(directory_->fd(), name.c_str(), &status, 0) == 0 && S_ISREG(status.st_mode) &&
        status.st_nlink > 1)
      linked_.emplace(status.st_ino, status.st_dev);
  }

  unsigned char type_of(std::string_view name) const {
    struct stat status{};
    if (::fstatat(directory_->fd(), std::string(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
      return DT_UNKNOWN;
    return static_cast<unsigned char>(IFTODT(status.st_mode));
  }

  static bool is_secret_name(std::string_view name) {
    return std::ranges::any_of(
               policy::workspace_secrets(),
               [&](const policy::SecretPattern& secret) { return matches(secret.name, name); }) &&
           !is_exception(name);
  }

  // Whether it is one. Its name is already known to be.
  bool judge(const std::string& name, unsigned char type) {
    const std::string folded = lower(name);
    Path path = join(path_, name);
    if (type == DT_LNK) {
      std::optional<Path> target = target_of(path);
      if (!target) return false;
      path = *std::move(target);
    }
    for (const policy::SecretPattern& secret : policy::workspace_secrets()) {
      if (!matches(secret.name, folded)) continue;
      const bool any = secret.marker.empty();
      if (!any && type == DT_DIR) continue;
      if (!any && !contains_word(directory_->fd(), name, secret.marker)) continue;
      add(path, std::string(secret.reason));
      note_links(name);
      return true;
    }
    return false;
  }

  // A symlink cannot be hidden, its target can. Only a file of the workspace: what is outside is up to the view.
  std::optional<Path> target_of(const Path& link) const {
    const Result<Path> target = real_path(link);
    struct stat status{};
    if (!target || ::stat(target->c_str(), &status) < 0 || !S_ISREG(status.st_mode) ||
        !is_within(*target, workspace_))
      return std::nullopt;
    return *target;
  }

  // No mount point can have a longer path; its nearest parent can be hidden.
  void add(Path path, std::string reason) {
    if (path.size() > kLongestPath) path.resize(path.rfind('/', kLongestPath));
    found_.emplace(std::move(path), std::move(reason));
  }

  const Path& workspace_;
  DirectoryStack* directory_ = nullptr;
  std::unique_ptr<EntryBuffer> buffer_ = make_entry_buffer();
  Path path_{};
  std::size_t entries_ = 0;
  std::map<Path, std::string> found_{};
  std::set<std::pair<ino_t, dev_t>> linked_{};  // secrets with more than one name
};

}  // namespace

Result<std::vector<PathRule>> workspace_secret_rules(const Path& workspace) {
  return with_context("looking for secrets", Search(workspace).run());
}

std::vector<std::string> notes_on_tokens(const WorkspaceFacts& workspace) {
  constexpr std::size_t kMost = 10;
  std::vector<std::string> notes;
  for (const GitDirectory& git : workspace.git)
    for (const char* const name : {"config", "config.worktree"}) {
      const Path path = join(git.path, name);
      const std::optional<std::string> text = guards::read_small(AT_FDCWD, path);
      if (notes.size() < kMost && text && guards::has_token(*text))
        notes.push_back("secrets: " + printable(path) +
                        " has a token or password in it, which the command can read: git needs the "
                        "file. Use a credential helper instead of a URL with a user in it");
    }
  return notes;
}

}  // namespace coop::run
