#include "tools/search/ignore_rules.h"

#include <algorithm>

namespace coop::tools {

namespace {

constexpr std::size_t kMostRules = 5000;
constexpr std::size_t kLongestRule = 1000;

// Position after the bracket expression that begins at `at`, and whether it matches; 0: it is not closed.
std::size_t match_set(std::string_view pattern, std::size_t at, char c, bool& matched) {
  std::size_t next = at + 1;
  const bool negated = next < pattern.size() && (pattern[next] == '!' || pattern[next] == '^');
  if (negated) ++next;
  matched = false;
  for (bool first = true; next < pattern.size(); first = false) {
    char low = pattern[next++];
    if (low == ']' && !first) {
      matched = matched != negated;
      return next;
    }
    if (low == '\\' && next < pattern.size()) low = pattern[next++];
    char high = low;
    if (next + 1 < pattern.size() && pattern[next] == '-' && pattern[next + 1] != ']') {
      high = pattern[next + 1];
      next += 2;
      if (high == '\\' && next < pattern.size()) high = pattern[next++];
    }
    if (low <= c && c <= high) matched = true;
  }
  return 0;
}

// Length of the part of `pattern` at `at` that stands for one character and matches `c`; 0: it does not.
std::size_t match_one(std::string_view pattern, std::size_t at, char c) {
  if (pattern[at] == '?') return 1;
  if (pattern[at] == '\\' && at + 1 < pattern.size()) return pattern[at + 1] == c ? 2 : 0;
  if (pattern[at] == '[') {
    bool matched = false;
    if (const std::size_t end = match_set(pattern, at, c, matched); end != 0)
      return matched ? end - at : 0;
  }
  return pattern[at] == c ? 1 : 0;
}

// Going back to the last star is enough: time is at most the product of both lengths.
bool matches_part(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t here = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_here = 0;
  while (here < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_here = here;
      continue;
    }
    const std::size_t step = at < pattern.size() ? match_one(pattern, at, text[here]) : 0;
    if (step != 0) {
      at += step;
      ++here;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      here = ++star_here;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

std::string_view after_first(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
}

// The same with directories for characters, and "**" for stars.
bool matches_parts(const std::vector<std::string>& parts, std::string_view path) {
  std::size_t at = 0;
  std::size_t star = parts.size();
  std::string_view star_path;
  while (!path.empty()) {
    if (at < parts.size() && parts[at] == "**") {
      // At the end it stands for what is in a directory, not for the directory itself.
      if (at + 1 == parts.size()) return true;
      star = at++;
      star_path = path;
    } else if (at < parts.size() && matches_part(parts[at], first_part(path))) {
      ++at;
      path = after_first(path);
    } else if (star != parts.size()) {
      at = star + 1;
      star_path = path = after_first(star_path);
    } else {
      return false;
    }
  }
  return at == parts.size();
}

void remove_trailing_spaces(std::string_view& line) {
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
}

}  // namespace

bool IgnoreRule::parse(std::string_view line, IgnoreRule& rule) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  remove_trailing_spaces(line);
  if (line.empty() || line.starts_with('#') || line.size() > kLongestRule) return false;
  rule = {};
  if (line.starts_with('!')) {
    rule.negated_ = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    rule.directories_only_ = true;
    line.remove_suffix(1);
  }
  rule.anchored_ = line.contains('/');
  if (line.starts_with('/')) line.remove_prefix(1);
  if (line.empty()) return false;
  while (true) {
    const std::string_view part = first_part(line);
    rule.parts_.emplace_back(part);
    if (part.size() == line.size()) break;
    line = after_first(line);
  }
  rule.plain_ =
      rule.parts_.size() == 1 && rule.parts_.front().find_first_of("*?[\\") == std::string::npos;
  return true;
}

bool IgnoreRule::matches(std::string_view path, std::string_view name, EntryKind kind) const {
  if (directories_only_ && kind != EntryKind::directory) return false;
  if (plain_) return anchored_ ? path == parts_.front() : name == parts_.front();
  return anchored_ ? matches_parts(parts_, path) : matches_part(parts_.front(), name);
}

void IgnoreList::add(std::string_view text) {
  while (!text.empty() && rules_.size() < kMostRules) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    IgnoreRule rule;
    if (IgnoreRule::parse(text.substr(0, end), rule)) rules_.push_back(std::move(rule));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Ignored IgnoreList::judge(std::string_view path, std::string_view name, EntryKind kind) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if (rule->matches(path, name, kind)) return rule->includes_again() ? Ignored::no : Ignored::yes;
  return Ignored::undecided;
}

// As in ripgrep: .ignore of any directory wins over git's rules, and then the deeper directory.
bool is_ignored(const IgnoreLevel* level, std::string_view path, std::string_view name,
                EntryKind kind) {
  for (const IgnoreLevel* at = level; at != nullptr; at = at->above.get())
    if (!at->own.empty())
      if (const Ignored found = at->own.judge(path.substr(at->depth), name, kind);
          found != Ignored::undecided)
        return found == Ignored::yes;
  for (const IgnoreLevel* at = level; at != nullptr; at = at->above.get()) {
    if (!at->git.empty())
      if (const Ignored found = at->git.judge(path.substr(at->depth), name, kind);
          found != Ignored::undecided)
        return found == Ignored::yes;
    if (at->repository) break;
  }
  return false;
}

}  // namespace coop::tools
