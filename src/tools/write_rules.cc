#include "tools/write_rules.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/path.h"

namespace coop::tools {

namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, 3> kIdentity{"soul.md", "identity.md", "user.md"};

// As a file system that ignores case would compare it. Two letters outside ASCII are the same as
// "s" and "k" there; some systems drop dots and blanks at the end.
std::string folded(std::string_view name) {
  std::string text;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name.substr(at).starts_with("\u017f")) {
      text += 's';
      at += 1;
    } else if (name.substr(at).starts_with("\u212a")) {
      text += 'k';
      at += 2;
    } else {
      const char c = name[at];
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  while (text.size() > 1 && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

Names split(std::string_view path) {
  Names names;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    names.push_back(folded(path.substr(0, end)));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

// `wanted` one after the other in `names`, not before `from`.
bool has_sequence(const Names& names, std::size_t from, const Names& wanted) {
  return std::search(names.begin() + static_cast<std::ptrdiff_t>(from), names.end(), wanted.begin(),
                     wanted.end()) != names.end();
}

bool exists(const Path& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

// In "x.git/NAME", where x.git is or may become a git directory without being called .git: it needs
// HEAD, objects and refs, and obeys the guarded names once it has them. In whichever order they
// are written, the one that would complete the pair is refused.
bool completes_bare(const Path& root, const Path& path, std::string_view guarded) {
  const Names wanted = split(guarded);
  Path directory = root;
  for (std::string_view rest = relative_to(path, root); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    const Names below = split(rest);
    const bool obeyed =
        below.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), below.begin());
    if (obeyed && exists(join(directory, "HEAD"))) return true;
    const std::string& first = below.front();
    const bool git_part =
        (first == "head" && below.size() == 1) || first == "objects" || first == "refs";
    if (git_part && exists(join(directory, guarded)) &&
        (first == "head" || exists(join(directory, "HEAD"))))
      return true;
    directory = join(directory, name);
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  return false;
}

bool matches(const Path& root, const Path& path, const Names& names, std::string_view guard) {
  constexpr std::string_view kGit = ".git";
  const auto git = std::ranges::find(names, kGit);
  const auto after_git = static_cast<std::size_t>(git - names.begin()) + 1;
  // A .git file and a commondir file both send git to another directory for its settings.
  if (guard == kGit)
    return names.back() == kGit || (git != names.end() && names.back() == "commondir") ||
           completes_bare(root, path, "commondir");
  if (!guard.starts_with(".git/")) return has_sequence(names, 0, split(guard));
  const std::string_view below = guard.substr(kGit.size() + 1);
  if (git == names.end()) return completes_bare(root, path, below);
  return has_sequence(names, after_git, split(below));
}

}  // namespace

std::optional<std::string> guard_of(const Path& root, const Path& path,
                                    std::span<const std::string> guards) {
  const Names names = split(relative_to(path, root));
  if (names.empty()) return std::nullopt;
  for (const std::string& guard : guards)
    if (matches(root, path, names, guard)) return guard;
  return std::nullopt;
}

bool is_identity_file(std::string_view path) {
  return std::ranges::any_of(split(path), [](std::string_view name) {
    return std::ranges::find(kIdentity, name) != kIdentity.end();
  });
}

std::vector<PathRule> identity_rules(const Path& workspace) {
  std::vector<PathRule> rules;
  if (workspace.find_first_of("*?[\\") != Path::npos)
    return rules;  // it would be read as a pattern
  for (const std::string_view name : kIdentity) {
    std::string either_case;
    for (const char c : name) {
      const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      either_case += upper == c ? std::string{c} : std::string{'[', upper, c, ']'};
    }
    rules.push_back(PathRule{.kind = RuleKind::protect,
                             .path = join(workspace, either_case),
                             .if_missing = Missing::skip,
                             .origin = "identity file",
                             .reason = "who the agent is, is not its own to write",
                             .pattern = true});
  }
  return rules;
}

}  // namespace coop::tools
