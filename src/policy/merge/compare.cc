#include "policy/merge/compare.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/wildcard.h"
#include "policy/merge/policy_fields.h"
#include "policy/policy.h"
#include "policy/settings/read_values.h"
#include "policy/variables.h"

namespace coop::policy {

namespace {

// How far a clock is shifted, in either direction.
std::uint64_t distance(const std::string& seconds) {
  const std::int64_t number = parse_signed(seconds).value_or(0);
  return number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

// A kept home carries data from one sandbox to the next, and may hold a login; one in the workspace has the repository's files
// in it, which programs take for the user's settings. Neither is narrower than the other: a repository must not become the home
// of an agent whose own is kept.
bool is_wider_home(const std::string& asked, const std::string& limit) {
  const Home wanted = home_of(asked);
  const Home most = home_of(limit);
  return wanted.kind != HomeKind::ephemeral && !(wanted == most);
}

bool is_wider_word(Key key, const std::string& asked, const std::string& limit) {
  const std::vector<std::string_view> words = split_words(info(key).words);
  const auto asked_at = std::ranges::find(words, asked);
  const auto limit_at = std::ranges::find(words, limit);
  if (info(key).type == KeyType::home) return is_wider_home(asked, limit);
  if (info(key).type == KeyType::seconds) return distance(asked) > distance(limit);
  const bool ordered = info(key).type == KeyType::word && key != Key::backend;
  if (!ordered || asked_at == words.end() || limit_at == words.end()) return asked != limit;
  return asked_at > limit_at;
}

// "/a/b" without its first component, which is returned.
std::string_view take_component(std::string_view& path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view component = path.substr(0, path.find('/'));
  path.remove_prefix(component.size());
  return component;
}

bool is_wildcard(const Item& item, std::string_view component) {
  return item.pattern && has_wildcard(component);
}

// "/srv/*/data" → "/srv"; all of a path without wildcards.
Path literal_part(const Item& item) {
  Path part;
  for (std::string_view rest = item.path; !rest.empty();) {
    const std::string_view component = take_component(rest);
    if (component.empty() || is_wildcard(item, component)) break;
    part += '/';
    part += component;
  }
  return part.empty() ? "/" : part;
}

// As globbing does: a leading dot must be literal.
bool globs(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  return matches_wildcard(pattern, name);
}

// Both lists of components side by side, as long as `tree` has some.
template <typename Agrees>
bool lies_below(std::string_view path, std::string_view tree, Agrees agrees) {
  for (;;) {
    const std::string_view wanted = take_component(tree);
    if (wanted.empty()) return true;
    const std::string_view found = take_component(path);
    if (found.empty() || !agrees(found, wanted)) return false;
  }
}

}  // namespace

bool is_path_list(Key key) { return contains(kPathLists, key, &PathList::key); }

bool is_restricting(Key key) {
  return key == Key::hidden_paths || key == Key::protected_paths || key == Key::network_deny;
}

Scalar built_in(Key key) {
  const auto field = std::ranges::find(policy_fields(), key, &PolicyField::key);
  if (field != policy_fields().end()) return field->get(Policy{});
  if (is_list(key)) return {};
  const Initial& initial = info(key).initial;
  if (info(key).type == KeyType::boolean) return initial.on;
  return std::string(initial.text);
}

bool is_wider(Key key, const Scalar& asked, const Scalar& limit) {
  if (asked == limit) return false;
  if (std::holds_alternative<Unlimited>(limit))
    return !std::holds_alternative<std::uint64_t>(asked);
  if (asked.index() != limit.index()) return true;
  if (const auto* number = std::get_if<std::uint64_t>(&asked))
    return *number > std::get<std::uint64_t>(limit);
  if (const bool* flag = std::get_if<bool>(&asked)) return *flag != (key == Key::hide_secrets);
  if (const auto* word = std::get_if<std::string>(&asked))
    return is_wider_word(key, *word, std::get<std::string>(limit));
  return true;
}

bool same_item(const Item& a, const Item& b) {
  return a.text == b.text && a.value == b.value && a.path == b.path && a.pattern == b.pattern &&
         a.if_missing == b.if_missing;
}

bool path_covers(const Item& cover, const Item& item) {
  if (!cover.pattern) return is_within(literal_part(item), cover.path);
  if (item.pattern) return cover.path == item.path;
  return lies_below(item.path, cover.path, [](std::string_view found, std::string_view wanted) {
    return has_wildcard(wanted) ? globs(wanted, found) : found == wanted;
  });
}

bool path_may_lie_in(const Item& item, const Item& tree) {
  if (!item.pattern && !tree.pattern) return is_within(item.path, tree.path);
  return lies_below(item.path, tree.path, [&](std::string_view found, std::string_view wanted) {
    const bool item_wild = is_wildcard(item, found);
    const bool tree_wild = is_wildcard(tree, wanted);
    if (item_wild && tree_wild) return true;  // they may match the same path
    if (item_wild) return matches_wildcard(found, wanted);
    if (tree_wild) return item.pattern ? matches_wildcard(wanted, found) : globs(wanted, found);
    return found == wanted;
  });
}

bool host_covers(const Item& cover, const Item& item, Portless portless) {
  return cover.destination && item.destination &&
         covers(*cover.destination, *item.destination, portless);
}

bool is_named(std::string_view variable, const std::vector<Item>& names) {
  return std::ranges::any_of(
      names, [&](const Item& item) { return matches_wildcard(item.text, variable); });
}

bool is_sensitive_variable(std::string_view name) {
  if (name == "PATH" || name == "HOME" || name == "SHELL" || name.starts_with("GIT_")) return true;
  return !check_variable(name, "", {});
}

}  // namespace coop::policy
