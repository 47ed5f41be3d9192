#include "guards/names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "host/text.h"
#include "policy/builtin.h"

namespace coop::guards {

namespace {

constexpr std::string_view kInGit = ".git/";

// Letters outside ASCII that are the same as these where case is ignored: Unicode's full case folding, as ext4, f2fs and
// tmpfs do it ("casefold").
struct SameLetters {
  std::string_view letter;
  std::string_view same;
};
constexpr std::array<SameLetters, 11> kSameLetters{{{"\u00df", "ss"},
                                                    {"\u017f", "s"},
                                                    {"\u1e9e", "ss"},
                                                    {"\u212a", "k"},
                                                    {"\ufb00", "ff"},
                                                    {"\ufb01", "fi"},
                                                    {"\ufb02", "fl"},
                                                    {"\ufb03", "ffi"},
                                                    {"\ufb04", "ffl"},
                                                    {"\ufb05", "st"},
                                                    {"\ufb06", "st"}}};

// Code points that these file systems leave out of names before they compare them (Default_Ignorable_Code_Point).
struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
constexpr std::array<Range, 17> kIgnored{{{0xad, 0xad},
                                          {0x34f, 0x34f},
                                          {0x61c, 0x61c},
                                          {0x115f, 0x1160},
                                          {0x17b4, 0x17b5},
                                          {0x180b, 0x180f},
                                          {0x200b, 0x200f},
                                          {0x202a, 0x202e},
                                          {0x2060, 0x206f},
                                          {0x3164, 0x3164},
                                          {0xfe00, 0xfe0f},
                                          {0xfeff, 0xfeff},
                                          {0xffa0, 0xffa0},
                                          {0xfff0, 0xfff8},
                                          {0x1bca0, 0x1bca3},
                                          {0x1d173, 0x1d17a},
                                          {0xe0000, 0xe0fff}}};

// The bytes of an ignored code point at the beginning of `text`; 0 for any other.
std::size_t ignored_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 1;
  if (length == 1 || text.size() < length) return 0;
  std::uint32_t point = byte(0) & (0xffU >> (length + 1));
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) return 0;
    point = point << 6U | (byte(at) & 0x3fU);
  }
  const bool ignored = std::ranges::any_of(
      kIgnored, [&](const Range& range) { return point >= range.first && point <= range.last; });
  return ignored ? length : 0;
}

constexpr std::string_view kAny = "*";  // at the end of a guard's component

// Some file systems drop trailing dots and blanks.
std::string_view without_tail(std::string_view name) {
  while (name.size() > 1 && (name.back() == '.' || name.back() == ' ')) name.remove_suffix(1);
  return name;
}

// The letters of a name as they are compared. Allocates nothing: asked for every entry of a tree.
class Folding {
 public:
  explicit Folding(std::string_view name) : rest_(without_tail(name)) {}

  std::optional<char> next() {
    if (same_.empty() && !rest_.empty() && static_cast<unsigned char>(rest_.front()) >= 0x80)
      take_wide();
    std::string_view& from = same_.empty() ? rest_ : same_;
    if (from.empty()) return std::nullopt;
    const char letter = from.front();
    from.remove_prefix(1);
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }

 private:
  void take_wide() {
    while (!rest_.empty()) {
      const std::size_t ignored = ignored_length(rest_);
      if (ignored == 0) break;
      rest_.remove_prefix(ignored);
    }
    for (const auto& [letter, same] : kSameLetters) {
      if (!rest_.starts_with(letter)) continue;
      rest_.remove_prefix(letter.size());
      same_ = same;
      return;
    }
  }

  std::string_view rest_;
  std::string_view same_{};  // what is left of a letter that stands for several
};

bool is_folded_to(std::string_view name, std::string_view wanted) {
  Folding letters(name);
  while (const std::optional<char> letter = letters.next()) {
    if (wanted == kAny) return true;
    if (wanted.empty() || *letter != wanted.front()) return false;
    wanted.remove_prefix(1);
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
  Folding letters(name);
  while (const std::optional<char> letter = letters.next()) text += *letter;
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
  for (auto* const guards : {&anywhere_, &beside_, &in_git_}) guards->reserve(names.size());
  const std::vector<std::string> root_names = folded_components(root);
  policy::GuardFinder finder;
  for (const std::string& name : names) add(name, finder.find(name), root_names);
  for (const NamedPath& path : named)
    if (!path.path.starts_with('/') && is_guarded(names, path)) add_everywhere(path);
}

void GuardNames::add(std::string_view name, const policy::GuardEntry* entry,
                     const std::vector<std::string>& root) {
  using policy::GuardKind;
  const GuardKind kind = entry != nullptr ? entry->kind : GuardKind::beside_git;
  git_file_ = git_file_ || name == ".git";
  if (name == ".git" || kind == GuardKind::home || kind == GuardKind::home_path) return;
  name = entry != nullptr ? entry->name : texts_->copy(name);
  const bool in_git = name.starts_with(kInGit);
  Guard guard = entry != nullptr
                    ? Guard{.name = name, .parts = entry->parts, .folded = entry->folded}
                    : texts_->guard(name, name.substr(in_git ? kInGit.size() : 0));
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
  if (entry == nullptr) add_interesting(guard.folded.front());
  const bool anywhere = kind == GuardKind::anywhere || kind == GuardKind::file;
  (in_git ? in_git_ : anywhere ? anywhere_ : beside_).push_back(guard);
  if (name != ".git/index") return;
  // The larger part of a split one.
  in_git_.push_back(texts_->guard(name, "sharedindex.*"));
}

std::vector<HomeGuard> home_guards(std::span<const std::string> names) {
  std::vector<HomeGuard> guards;
  guards.reserve(names.size());
  policy::GuardFinder finder;
  for (const std::string& name : names) {
    const policy::GuardEntry* const entry = finder.find(name);
    if (entry == nullptr) continue;
    if (entry->kind == policy::GuardKind::home)
      guards.push_back({.below = entry->name, .guard = entry->name});
    if (entry->kind == policy::GuardKind::home_path)
      guards.push_back({.below = entry->name.substr(2), .guard = entry->name});
  }
  return guards;
}

void GuardNames::add_everywhere(const NamedPath& named) {
  const Guard added = texts_->guard(texts_->copy(named.guard), texts_->copy(named.path));
  if (added.parts.empty()) return;
  add_interesting(added.folded.front());
  in_git_.push_back(added);
  beside_.push_back(added);
}

void GuardNames::add_interesting(std::string_view name) {
  if (!contains(policy::interesting_names(name.front()), name) &&
      !contains(more_interesting_, name))
    more_interesting_.push_back(name);
}

bool GuardNames::interesting(std::string_view name) const {
  const std::optional<char> first = Folding(name).next();
  if (!first) return false;
  const auto is_name = [&](std::string_view known) { return is_folded_to(name, known); };
  return std::ranges::any_of(policy::interesting_names(*first), is_name) ||
         std::ranges::any_of(more_interesting_, is_name);
}

std::string GuardNames::interesting_key() const {
  std::string text(policy::interesting_digest());
  for (const std::string_view name : more_interesting_) (text += '\0').append(name);
  return text;
}

bool is_guarded(std::span<const std::string> names, const NamedPath& named) {
  return std::ranges::find(names, named.guard) != names.end();
}

}  // namespace coop::guards
