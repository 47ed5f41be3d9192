#include "guards/git/names.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/path.h"
#include "guards/git/directory.h"
#include "guards/git/outside.h"
#include "guards/trail.h"
#include "host/files/home_listing.h"
#include "sys/fd.h"
#include "sys/real_path.h"

namespace coop::guards {

namespace {

constexpr const char* kHooks = ".git/hooks";
constexpr const char* kConfig = ".git/config";
constexpr std::size_t kMostNamed = 1000;

// Whether a directory on the way to a name is a symlink, as programs that manage dotfiles make them ("~/.config -> dotfiles/config").
// A name that is missing there may lead into a tree.
class LinksAbove {
 public:
  explicit LinksAbove(Path home) : home_(std::move(home)) {}

  bool are_above(std::string_view below) {
    for (std::size_t slash = below.find('/'); slash != std::string_view::npos;
         slash = below.find('/', slash + 1))
      if (is_link(below.substr(0, slash))) return true;
    return false;
  }

 private:
  bool is_link(std::string_view directory) {
    const auto [known, is_new] = links_.try_emplace(directory, false);
    struct stat status{};
    if (is_new)
      known->second =
          ::lstat(join(home_, directory).c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    return known->second;
  }

  Path home_;
  std::unordered_map<std::string_view, bool> links_{};  // by views of the list of guards
};

}  // namespace

GitUser git_user(const HostFacts& host) {
  const auto variable = [&](const char* name) {
    const auto found = host.environment.find(name);
    return found == host.environment.end() ? std::string() : found->second;
  };
  GitUser user{.home = host.home, .configurations = {"/etc/gitconfig"}};
  const std::string xdg = variable("XDG_CONFIG_HOME");
  if (xdg.starts_with('/')) user.config_home = xdg;
  if (!xdg.empty() || !host.home.empty())
    user.configurations.push_back(
        join(xdg.empty() ? join(host.home, ".config") : xdg, "git/config"));
  if (!host.home.empty()) user.configurations.push_back(join(host.home, ".gitconfig"));
  for (const Path& home : {host.home, host.account_home})
    if (home.starts_with('/') && std::ranges::find(user.homes, home) == user.homes.end())
      user.homes.push_back(home);
  if (const std::string other = variable("GIT_CONFIG_GLOBAL"); !other.empty())
    user.configurations.push_back(other);
  std::erase_if(user.configurations, [](const Path& path) { return !path.starts_with('/'); });
  return user;
}

GitNames::GitNames(const GitUser& user, std::vector<Path> writable)
    : home_(user.home), writable_(std::move(writable)), reader_(user.home, writable_) {
  read_user(user);
}

// In a tree, whether they exist or not: a new one is obeyed like an old one. Elsewhere they may be symlinks into a tree
// (a repository of dotfiles). A grant may lead into the home through symlinks. For the workspace alone a listing of the home
// decides, at every start: most names are missing, and resolving each costs more than the rest of a start.
void GitNames::in_homes(std::span<const HomeGuard> guards, std::span<const Path> homes,
                        const Path& config_home) {
  constexpr std::string_view kConfig = ".config/";
  const Path listed = canonical(home_).value_or(home_);
  host::HomeListing listing(listed);
  enum class Way : std::uint8_t { plain, linked };
  const auto consider = [&](NamedPath named, std::string_view below, Way way) {
    struct stat status{};
    const bool near =
        writable_.size() > 1 || way == Way::linked || tree_of(named.path, writable_) != nullptr ||
        (!(below.empty() ? listing.misses(named.path) : listing.misses_below(below)) &&
         ::lstat(named.path.c_str(), &status) == 0);
    if (near && matters(named.path)) add(std::move(named));
  };
  for (const Path& home : homes) {
    const bool is_listed = home == listed;
    const bool is_linked = !is_listed && matters(home);  // the home itself is a symlink
    LinksAbove links(home);
    // Whether no tree can contain a name below the home, without making a path of each.
    const bool apart = writable_.size() == 1 && !is_within(home, writable_.front());
    const std::string_view tree_below =
        apart && is_within(writable_.front(), home)
            ? std::string_view(writable_.front()).substr(home == "/" ? 1 : home.size() + 1)
            : std::string_view();
    for (const HomeGuard& guard : guards) {
      const bool linked = is_linked || links.are_above(guard.below);
      if (!linked && apart && is_listed &&
          (tree_below.empty() || !is_within(guard.below, tree_below)) &&
          listing.misses_below(guard.below))
        continue;
      consider({.path = join(home, guard.below), .guard = std::string(guard.guard)},
               is_listed ? guard.below : std::string_view(), linked ? Way::linked : Way::plain);
    }
  }
  if (config_home.empty()) return;
  const bool is_linked = matters(config_home);
  LinksAbove links(config_home);
  for (const HomeGuard& guard : guards) {
    if (!guard.below.starts_with(kConfig)) continue;
    const std::string_view below = guard.below.substr(kConfig.size());
    const bool linked = is_linked || links.are_above(below);
    consider({.path = join(config_home, below), .guard = std::string(guard.guard)}, {},
             linked ? Way::linked : Way::plain);
  }
}

// A relative hooks directory in the user's configuration applies to every repository, also to new
// ones: it is listed as written, and looked for beside every .git.
void GitNames::read_user(const GitUser& user) {
  GitSettings settings;
  for (const Path& path : user.configurations)
    if (reader_.read(AT_FDCWD, path, path, settings)) name_file(path);
  for (const Path& file : settings.files) name_file(file);
  for (const std::string& value : settings.hooks) {
    const Path top = "/top";
    if (expand_setting(value, top, home_) == expand_setting(value, "/other", home_)) {
      name_hooks(value, {}, {});  // "/x" or "~/x": one path for all repositories
      continue;
    }
    const Path place = normalize(expand_setting(value, top, home_));
    const Path relative(is_within(place, top) ? relative_to(place, top) : "");
    relative_hooks_.push_back(value);
    if (relative.empty() || relative == ".git") {
      not_guarded(value, {});
    } else {
      add(NamedPath{.path = relative, .guard = kHooks});
    }
  }
}

GitSettings GitNames::read_all(int directory, const Path& git) {
  GitSettings settings;
  for (const char* const name : {"config", "config.worktree"}) {
    const Path path = join(git, name);
    reader_.read(directory, directory == AT_FDCWD ? path : name, path, settings);
  }
  return settings;
}

void GitNames::repository(int directory, const Path& git) {
  const GitSettings settings = read_all(directory, git);
  if (settings.empty()) return;
  std::vector<Path> tops;
  if (name_of(git) == ".git") tops.push_back(parent_of(git));
  for (const std::string& worktree : settings.worktrees) {
    const Path top = expand_setting(worktree, git, home_);
    if (!top.empty()) tops.push_back(follow_trail(top, writable_).place);
  }
  name_everything(settings, git, tops);
}

// realpath(3). Nothing, when it fails: because nothing is there, or with a failure of the reader.
std::optional<Path> GitNames::place_of(const Path& path) {
  Result<Path> place = real_path(path);
  if (place) return *std::move(place);
  const int error = place.error().errno_value;
  if (!means_absent(error) && error != ELOOP) reader_.unreadable(path, error);
  return std::nullopt;
}

// The repository of a linked worktree's git directory; others are their own.
Path GitNames::common_directory(const Path& git) {
  const Path file = join(git, "commondir");
  const RegularFile read = read_regular(AT_FDCWD, file, O_NOFOLLOW, 65536);
  if (read.content == Content::unreadable && read.error != ELOOP)
    reader_.unreadable(file, read.error);
  const std::optional<std::string> pointer =
      read.content == Content::text ? parse_pointer(read.text) : std::nullopt;
  if (!pointer) return git;
  return place_of(pointer->starts_with('/') ? *pointer : join(git, *pointer)).value_or(git);
}

void GitNames::surrounding(const Surrounding& repository) {
  if (repository.top.empty()) return this->repository(AT_FDCWD, repository.git);
  const RegularFile file = read_regular(AT_FDCWD, repository.git, O_NOFOLLOW, 65536);
  if (file.content == Content::unreadable && file.error != ELOOP)
    reader_.unreadable(repository.git, file.error);
  const std::optional<std::string> target =
      file.content == Content::text ? parse_gitfile(file.text) : std::nullopt;
  checkout(repository.top, target.value_or(repository.git));
  for (const std::string& value : relative_hooks_)
    if (const Path path = expand_setting(value, repository.top, home_); matters(path))
      name_hooks(value, repository.git, repository.top);
}

void GitNames::checkout(const Path& top, std::string_view target) {
  const std::optional<Path> git =
      place_of(target.starts_with('/') ? Path(target) : join(top, target));
  if (!git) return;
  const Path common = common_directory(*git);
  GitSettings settings = read_all(AT_FDCWD, common);
  if (common != *git)
    reader_.read(AT_FDCWD, join(*git, "config.worktree"), join(*git, "config.worktree"), settings);
  std::vector<Path> tops{top};
  for (const std::string& worktree : settings.worktrees)
    if (const Path other = expand_setting(worktree, common, home_); !other.empty())
      tops.push_back(follow_trail(other, writable_).place);
  if (!settings.empty()) name_everything(settings, common, tops);
}

// Git changes to the top of the working tree before most hooks, and to the git directory before
// those of a push, also in a repository with a working tree.
void GitNames::name_everything(const GitSettings& settings, const Path& git,
                               const std::vector<Path>& tops) {
  for (const Path& file : settings.files) name_file(file);
  for (const std::string& value : settings.hooks) {
    name_hooks(value, git, git);
    for (const Path& top : tops)
      if (!top.empty()) name_hooks(value, git, top);
  }
}

void GitNames::name_hooks(const std::string& value, const Path& git, const Path& base) {
  const Path path = expand_setting(value, base, home_);
  if (path.empty() || path.size() >= PATH_MAX) return;
  if (!matters(path)) {
    // Outside, what is in it may still be a symlink into a tree.
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
      add(NamedPath{.path = path, .guard = kHooks});
    return;
  }
  const Path place = follow_trail(path, writable_).place;
  const auto holds = [&](const Path& other) { return !other.empty() && is_within(other, place); };
  // A working tree must stay writable, and so must a git directory.
  const bool whole =
      !place.empty() && (holds(git) || holds(base) || std::ranges::any_of(writable_, holds));
  if (whole) return not_guarded(value, git);
  add(NamedPath{.path = path, .guard = kHooks});
}

void GitNames::not_guarded(const std::string& value, const Path& git) {
  notes_.insert("guards: core.hooksPath or init.templateDir \"" + printable(value) + "\" of " +
                (git.empty() ? std::string("the user") : printable(git)) +
                " is no directory of its own: hooks in it are not guarded");
}

void GitNames::name_file(const Path& file) {
  if (matters(file)) add(NamedPath{.path = file, .guard = kConfig});
}

// Whether the path, or a symlink on it, is in a writable tree.
bool GitNames::matters(const Path& path) const {
  if (path.size() >= PATH_MAX) return false;
  const Trail trail = follow_trail(path, writable_);
  return (!trail.place.empty() && tree_of(trail.place, writable_) != nullptr) ||
         std::ranges::any_of(trail.links, [&](const TrailLink& link) {
           return tree_of(link.path, writable_) != nullptr;
         });
}

void GitNames::add(NamedPath named) {
  if (named_.size() < kMostNamed) {
    named_.insert(std::move(named));
  } else {
    full_ = true;
  }
}

std::vector<std::string> GitNames::notes() const {
  std::set<std::string> all = notes_;
  all.insert(reader_.notes().begin(), reader_.notes().end());
  return {all.begin(), all.end()};
}

}  // namespace coop::guards
