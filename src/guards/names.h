// The names of policies/guards.txt, grouped by where they are looked for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts.h"
#include "policy/builtin.h"

namespace coop::guards {

// A name as a file system that ignores case compares it: ".GIT" and ".git." are ".git" there. Names are compared in
// this form everywhere, so that a guard does not depend on the file system.
std::string folded(std::string_view name);

std::vector<std::string> folded_components(std::string_view path);

// Whether a name, in that form, is this component of a guard. One that ends in "*" stands for all that begin so.
bool is_component(std::string_view folded_name, std::string_view component);

// Valid as long as the GuardNames that it is of, or a copy of them.
struct Guard {
  std::string_view name{};                     // ".git/info/attributes"
  std::span<const std::string_view> parts{};   // where it is looked for: "info", "attributes"
  std::span<const std::string_view> folded{};  // the same, to compare with
  bool only_file = false;                      // a directory of that name is not guarded
};

class GuardNames {
 public:
  // `named`: what git's configuration names; a relative path is looked for in every repository. `root`: the tree; with
  // ".claude" as its last component, "settings.json" at its top is guarded as ".claude/settings.json".
  explicit GuardNames(std::span<const std::string> names, std::span<const NamedPath> named = {},
                      const Path& root = {});

  bool git_file() const { return git_file_; }                       // ".git" is guarded
  const std::vector<Guard>& in_git() const { return in_git_; }      // in every git directory
  const std::vector<Guard>& beside() const { return beside_; }      // beside every .git
  const std::vector<Guard>& anywhere() const { return anywhere_; }  // in every directory
  const std::vector<Guard>& at_top() const { return at_top_; }      // at the top of this tree only

  // Whether an entry of this name can matter, for a guard or for recognising a git directory. Asked
  // for every entry of the tree.
  bool interesting(std::string_view name) const;
  // What decides which directories are plain: another text for other names.
  std::string interesting_key() const;

 private:
  // Keeps the texts of all guards: there are hundreds, and each start makes them several times.
  class Texts;

  void add(std::string_view name, const policy::GuardEntry* entry,
           const std::vector<std::string>& root);
  void add_everywhere(const NamedPath& named);
  void add_interesting(std::string_view name);

  std::shared_ptr<Texts> texts_;
  bool git_file_ = false;
  std::vector<Guard> in_git_{};
  std::vector<Guard> beside_{};
  std::vector<Guard> anywhere_{};
  std::vector<Guard> at_top_{};
  std::vector<std::string_view> more_interesting_{};  // folded; beside those of the whole list
};

// A name that counts in a home directory: "~/.bashrc" is looked for as ".bashrc".
struct HomeGuard {
  std::string_view below{};
  std::string_view guard{};
};
std::vector<HomeGuard> home_guards(std::span<const std::string> names);

// Whether the guard of a named path is in force.
bool is_guarded(std::span<const std::string> names, const NamedPath& named);

}  // namespace coop::guards
