// The names of policies/guards.txt, sorted by where they are looked for.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coop::host {

struct Guard {
  std::string name{};                // ".git/info/attributes"
  std::vector<std::string> parts{};  // below where it is looked for: "info", "attributes"
};

class GuardNames {
 public:
  explicit GuardNames(std::span<const std::string> names);

  // Looks for what git's configuration names in every repository: a relative path without "..".
  void add_everywhere(const std::string& guard, std::string_view relative);

  bool git_file() const { return git_file_; }                       // ".git" is guarded
  const std::vector<Guard>& in_git() const { return in_git_; }      // in every git directory
  const std::vector<Guard>& beside() const { return beside_; }      // beside every .git
  const std::vector<Guard>& anywhere() const { return anywhere_; }  // in every directory

  // Whether an entry of this name can matter, for a guard or for telling a git directory. Asked for
  // every entry of the tree.
  bool interesting(std::string_view name) const;

 private:
  bool git_file_ = false;
  std::vector<Guard> in_git_{};
  std::vector<Guard> beside_{};
  std::vector<Guard> anywhere_{};
  std::vector<std::string> interesting_{};  // sorted
  std::array<bool, 256> first_letters_{};
};

}  // namespace coop::host
