// Paths named in the configuration of repositories, from which git runs hooks or reads settings.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guards/git/outside.h"
#include "guards/git/settings.h"
#include "guards/names.h"
#include "host/facts.h"

namespace coop::guards {

// The user who runs git, and the configuration files for all repositories.
struct GitUser {
  Path home{};
  Path config_home{};         // $XDG_CONFIG_HOME, if that is set
  std::vector<Path> homes{};  // `home`, and the account's where it is another
  std::vector<Path> configurations{};
  bool operator==(const GitUser&) const = default;
};

GitUser git_user(const HostFacts& host);

class GitNames {
 public:
  // `writable`: the trees in which a named path matters.
  GitNames(const GitUser& user, std::vector<Path> writable);

  // A git directory, open as `directory`.
  void repository(int directory, const Path& git);
  // A working tree whose .git is a file or symlink that leads to `target`.
  void checkout(const Path& top, std::string_view target);

  // A repository that a tree lies in. Its directory is not shown inside.
  void surrounding(const Surrounding& repository);

  // Those of each home, and for ".config/…" of `config_home`, that lie in one of the trees, or lead there.
  void in_homes(std::span<const HomeGuard> guards, std::span<const Path> homes,
                const Path& config_home);

  // Sorted, each once.
  std::vector<NamedPath> named() const { return {named_.begin(), named_.end()}; }
  std::vector<std::string> notes() const;
  // More are named than can be listed: some are missing.
  bool full() const { return full_; }
  // Settings could not be read, or not all: some may be missing.
  const std::optional<Error>& failure() const { return reader_.failure(); }

 private:
  void read_user(const GitUser& user);
  GitSettings read_all(int directory, const Path& git);
  std::optional<Path> place_of(const Path& path);
  Path common_directory(const Path& git);
  void name_everything(const GitSettings& settings, const Path& git, const std::vector<Path>& tops);
  void name_hooks(const std::string& value, const Path& git, const Path& base);
  void name_file(const Path& file);
  void not_guarded(const std::string& value, const Path& git);
  bool matters(const Path& path) const;
  void add(NamedPath named);

  Path home_;
  std::vector<Path> writable_;
  GitSettingsReader reader_;
  std::vector<std::string> relative_hooks_{};  // of the user, for every repository
  std::set<NamedPath> named_{};
  std::set<std::string> notes_{};
  bool full_ = false;
};

}  // namespace coop::guards
