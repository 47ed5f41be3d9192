#include "guards/names.h"

#include <algorithm>

#include "sys/tree/directory_stack.h"

namespace coop::guards {

namespace {

// Two letters outside ASCII are the same as "s" and "k" where case is ignored.
constexpr std::string_view kLongS = "\u017f";
constexpr std::string_view kKelvin = "\u212a";

// Some file systems drop trailing dots and blanks.
std::string_view without_tail(std::string_view name) {
  while (name.size() > 1 && (name.back() == '.' || name.back() == ' ')) name.remove_suffix(1);
  return name;
}

// Takes the next letter off `name`.
char next_folded(std::string_view& name) {
  const char c = name.front();
  const bool long_s = name.starts_with(kLongS);
  const bool kelvin = name.starts_with(kKelvin);
  name.remove_prefix(long_s ? kLongS.size() : kelvin ? kKelvin.size() : 1);
  if (long_s) return 's';
  if (kelvin) return 'k';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Allocates nothing: asked for every entry of a tree.
bool is_folded_to(std::string_view name, std::string_view wanted) {
  for (name = without_tail(name); !name.empty(); wanted.remove_prefix(1))
    if (wanted.empty() || next_folded(name) != wanted.front()) return false;
  return wanted.empty();
}

Guard make_guard(const std::string& name, std::string_view rest) {
  Guard guard{.name = name};
  while (!rest.empty()) {
    const std::string part = take_component(rest);
    if (part.empty()) continue;
    guard.parts.push_back(part);
    guard.folded.push_back(folded(part));
  }
  return guard;
}

// coop's own files, guarded in every directory: any directory can be a workspace.
bool is_own(std::string_view name) { return name == ".coop" || name == "coop.toml"; }

}  // namespace

std::string folded(std::string_view name) {
  std::string text;
  for (name = without_tail(name); !name.empty();) text += next_folded(name);
  return text;
}

GuardNames::GuardNames(std::span<const std::string> names, std::span<const NamedPath> named) {
  for (const char* const part_of_git : {".git", "head", "objects", "refs", "commondir", "modules",
                                        "worktrees", "config", "config.worktree"})
    add_interesting(part_of_git);
  constexpr std::string_view kInGit = ".git/";
  for (const std::string& name : names) {
    if (name.starts_with("~/")) continue;  // a path of the home directory: see home_guards()
    const bool in_git = name.starts_with(kInGit);
    if (name == ".git") git_file_ = true;
    if (name == ".git") continue;
    Guard guard = make_guard(name, std::string_view(name).substr(in_git ? kInGit.size() : 0));
    if (guard.parts.empty()) continue;
    add_interesting(guard.folded.front());
    (in_git ? in_git_ : is_own(name) ? anywhere_ : beside_).push_back(std::move(guard));
  }
  for (const NamedPath& path : named)
    if (!path.path.starts_with('/') && is_guarded(names, path)) add_everywhere(path);
}

void GuardNames::add_everywhere(const NamedPath& named) {
  const Guard added = make_guard(named.guard, named.path);
  if (added.parts.empty()) return;
  add_interesting(added.folded.front());
  in_git_.push_back(added);
  beside_.push_back(added);
}

void GuardNames::add_interesting(const std::string& name) {
  const auto add = [&](char first) {
    interesting_[static_cast<unsigned char>(first)].push_back(name);
  };
  const char first = name.front();
  add(first);
  if (first >= 'a' && first <= 'z') add(static_cast<char>(first - 'a' + 'A'));
  if (first == 's') add(kLongS.front());
  if (first == 'k') add(kKelvin.front());
}

bool GuardNames::interesting(std::string_view name) const {
  return std::ranges::any_of(interesting_[static_cast<unsigned char>(name.front())],
                             [&](const std::string& known) { return is_folded_to(name, known); });
}

bool is_guarded(std::span<const std::string> names, const NamedPath& named) {
  return std::ranges::find(names, named.guard) != names.end();
}

}  // namespace coop::guards
