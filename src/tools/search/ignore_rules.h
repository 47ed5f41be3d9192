// .gitignore, .ignore and .git/info/exclude: which files a search leaves out, by the rules of gitignore(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coop::tools {

enum class EntryKind : std::uint8_t { file, directory };

// One line of such a file.
class IgnoreRule {
 public:
  // False: the line has no rule.
  static bool parse(std::string_view line, IgnoreRule& rule);

  // `path` is relative to the directory that the rule is for, `name` its last part.
  bool matches(std::string_view path, std::string_view name, EntryKind kind) const;
  bool includes_again() const { return negated_; }

 private:
  std::vector<std::string> parts_{};  // between slashes; "**" is any number of directories
  bool plain_ = false;                // a single part without wildcards
  bool anchored_ = false;             // compared with the whole path, not with the name
  bool directories_only_ = false;
  bool negated_ = false;
};

// The rules of one file, the last that matches decides.
enum class Ignored : std::uint8_t { undecided, yes, no };
class IgnoreList {
 public:
  // Rules beyond a number are left out: a file of a repository must not make a search slow.
  void add(std::string_view text);
  bool empty() const { return rules_.empty(); }
  Ignored judge(std::string_view path, std::string_view name, EntryKind kind) const;

 private:
  std::vector<IgnoreRule> rules_{};
};

// What applies in one directory: its own files and those above it.
struct IgnoreLevel {
  std::shared_ptr<const IgnoreLevel> above{};
  std::size_t depth =
      0;  // length of its path, from the top of the search; entries' paths go on after it
  IgnoreList own{};         // .ignore
  IgnoreList git{};         // .git/info/exclude, then .gitignore
  bool repository = false;  // git's rules above it are of another repository
};

// `path` from the top of all levels.
bool is_ignored(const IgnoreLevel* level, std::string_view path, std::string_view name,
                EntryKind kind);

}  // namespace coop::tools
