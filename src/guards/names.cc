#include "guards/names.h"

#include <algorithm>
#include <memory>
#include <memory_resource>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "host/text.h"
#include "policy/builtin.h"

namespace coop::guards {

namespace {

// Two letters outside ASCII are the same as "s" and "k" where case is ignored.
constexpr std::string_view kLongS = "\u017f";
constexpr std::string_view kKelvin = "\u212a";

constexpr std::string_view kAny = "*";  // at the end of a guard's component

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
  for (name = without_tail(name); !name.empty(); wanted.remove_prefix(1)) {
    if (wanted == kAny) return true;
    if (wanted.empty() || next_folded(name) != wanted.front()) return false;
  }
  return wanted.empty();
}

// How many of a guard's first parts, but not all of them, are the last components of a path; 0 for none.
std::size_t parts_in(const std::vector<std::string>& path,
                     std::span<const std::string_view> parts) {
  for (std::size_t count = std::min(parts.size() - 1, path.size()); count > 0; --count)
    if (std::equal(path.end() - static_cast<std::ptrdiff_t>(count), path.end(), parts.begin()))
      return count;
  return 0;
}

}  // namespace

std::vector<std::string> folded_components(std::string_view path) {
  std::vector<std::string> components;
  while (!path.empty())
    if (const std::string_view part = host::take_field(path, '/'); !part.empty())
      components.push_back(folded(part));
  return components;
}

std::string folded(std::string_view name) {
  std::string text;
  for (name = without_tail(name); !name.empty();) text += next_folded(name);
  return text;
}

bool is_component(std::string_view folded_name, std::string_view component) {
  if (!component.ends_with(kAny)) return folded_name == component;
  component.remove_suffix(kAny.size());
  return folded_name.size() > component.size() && folded_name.starts_with(component);
}

class GuardNames::Texts {
 public:
  std::string_view copy(std::string_view text) {
    char* const place = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::ranges::copy(text, place);
    return {place, text.size()};
  }

  // Text of the list of guards stays where it is.
  Guard guard(std::string_view name, std::string_view rest) {
    const std::size_t most = static_cast<std::size_t>(std::ranges::count(rest, '/')) + 1;
    std::string_view* const parts = list(most);
    std::string_view* other = parts;  // most names are as they are compared
    std::size_t count = 0;
    while (!rest.empty()) {
      const std::string_view part = host::take_field(rest, '/');
      if (part.empty()) continue;
      if (other == parts && !is_folded(part)) {
        other = list(most);
        std::copy_n(parts, count, other);
      }
      if (other != parts) other[count] = is_folded(part) ? part : copy(folded(part));
      parts[count++] = part;
    }
    return {.name = name, .parts = {parts, count}, .folded = {other, count}};
  }

 private:
  static bool is_folded(std::string_view part) {
    return part == without_tail(part) && std::ranges::all_of(part, [](char c) {
             return static_cast<unsigned char>(c) < 0x80 && !(c >= 'A' && c <= 'Z');
           });
  }

  std::string_view* list(std::size_t count) {
    auto* const places = static_cast<std::string_view*>(
        memory_.allocate(count * sizeof(std::string_view), alignof(std::string_view)));
    std::uninitialized_default_construct_n(places, count);
    return places;
  }

  static constexpr std::size_t kUsual = 24576;
  std::pmr::monotonic_buffer_resource memory_{kUsual};
};

GuardNames::GuardNames(std::span<const std::string> names, std::span<const NamedPath> named,
                       const Path& root)
    : texts_(std::make_shared<Texts>()) {
  anywhere_.reserve(names.size());
  for (const char* const part_of_git : {".git", "head", "objects", "refs", "commondir", "modules",
                                        "worktrees", "config", "config.worktree"})
    add_interesting(part_of_git);
  const std::vector<std::string> root_names = folded_components(root);
  for (const std::string& name : names) add(name, root_names);
  for (const NamedPath& path : named)
    if (!path.path.starts_with('/') && is_guarded(names, path)) add_everywhere(path);
}

void GuardNames::add(std::string_view name, const std::vector<std::string>& root) {
  using policy::GuardKind;
  constexpr std::string_view kInGit = ".git/";
  const policy::GuardEntry* const entry = policy::find_guard(name);
  const GuardKind kind = entry != nullptr ? entry->kind : GuardKind::beside_git;
  git_file_ = git_file_ || name == ".git";
  if (name == ".git" || kind == GuardKind::home || kind == GuardKind::home_path) return;
  name = entry != nullptr ? entry->name : texts_->copy(name);
  const bool in_git = name.starts_with(kInGit);
  Guard guard = texts_->guard(name, name.substr(in_git ? kInGit.size() : 0));
  if (guard.parts.empty()) return;
  guard.only_file = kind == GuardKind::file;
  // Nearly no root has a guard's first part as a component.
  const std::string_view first =
      in_git ? kInGit.substr(0, kInGit.size() - 1) : guard.folded.front();
  std::size_t done = 0;
  Guard whole;
  if (std::ranges::find(root, first) != root.end()) {
    whole = in_git ? texts_->guard(name, name) : guard;
    done = parts_in(root, whole.folded);
  }
  if (done > 0) {
    whole.only_file = guard.only_file;
    whole.parts = whole.parts.subspan(done);
    whole.folded = whole.folded.subspan(done);
    add_interesting(whole.folded.front());
    at_top_.push_back(whole);
  }
  add_interesting(guard.folded.front());
  const bool anywhere = kind == GuardKind::anywhere || kind == GuardKind::file;
  (in_git ? in_git_ : anywhere ? anywhere_ : beside_).push_back(guard);
  if (name != ".git/index") return;
  // The larger part of a split one.
  in_git_.push_back(texts_->guard(name, "sharedindex.*"));
  add_interesting(in_git_.back().folded.front());
}

std::vector<NamedPath> named_in_home(std::span<const std::string> names,
                                     std::span<const Path> homes, const Path& config_home) {
  constexpr std::string_view kConfig = ".config/";
  std::vector<NamedPath> named;
  for (const std::string& name : names) {
    const policy::GuardKind kind = policy::guard_kind(name);
    if (kind != policy::GuardKind::home && kind != policy::GuardKind::home_path) continue;
    const std::string below = name.substr(kind == policy::GuardKind::home_path ? 2 : 0);
    for (const Path& home : homes) named.push_back({.path = join(home, below), .guard = name});
    if (!config_home.empty() && below.starts_with(kConfig))
      named.push_back({.path = join(config_home, below.substr(kConfig.size())), .guard = name});
  }
  return named;
}

void GuardNames::add_everywhere(const NamedPath& named) {
  const Guard added = texts_->guard(texts_->copy(named.guard), texts_->copy(named.path));
  if (added.parts.empty()) return;
  add_interesting(added.folded.front());
  in_git_.push_back(added);
  beside_.push_back(added);
}

void GuardNames::add_interesting(std::string_view name) {
  if (contains(interesting_[static_cast<unsigned char>(name.front())], name)) return;
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
                             [&](std::string_view known) { return is_folded_to(name, known); });
}

std::string GuardNames::all_interesting() const {
  std::string text;
  for (const std::vector<std::string_view>& some : interesting_)
    for (const std::string_view name : some) text.append(name) += '\0';
  return text;
}

bool is_guarded(std::span<const std::string> names, const NamedPath& named) {
  return std::ranges::find(names, named.guard) != names.end();
}

}  // namespace coop::guards
