// A user's `match` list: which senders are this user. No sender may be two users.
#include <algorithm>
#include <ranges>

#include "base/path.h"
#include "policy/people/config_reader.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::size_t kMostMatches = 1000;
constexpr std::string_view kForm =
    R"("channel:id", such as "signal:+15555550100", or "channel:*" for everyone there)";
constexpr std::string_view kAnyTerminal = "terminal:*";

// Why `text` is no "channel:id"; empty when it is one.
std::string_view mistake_in(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  const std::size_t colon = text.find(':');
  if (text.size() > 500) return "is longer than 500 bytes";
  if (!is_utf8(text) || std::ranges::any_of(text, blank))
    return "has a blank or control character in it";
  if (colon == std::string_view::npos) return "has no channel";
  if (colon == 0) return "has no channel before the colon";
  if (colon + 1 == text.size()) return "has no id behind the colon";
  if (text.substr(0, colon).contains('*')) return "has a * in its channel";
  return {};
}

bool has_stray_star(std::string_view match) {
  return match.contains('*') && !match.ends_with(":*");
}

// Whether `written` is acceptable: a whole channel cannot be the owner, since any sender could then
// run anything outside the sandbox. The terminal is an exception: its sender is at the machine.
bool check_match(const Node& written, const User& user, ConfigReader& reader) {
  const std::string* text = reader.string(written, "match", "a match", kForm);
  if (text == nullptr) return false;
  if (const std::string_view mistake = mistake_in(*text); !mistake.empty()) {
    reader.error("match", written.at, "match " + quote(*text) + " " + std::string(mistake),
                 std::string(kForm));
    return false;
  }
  if (user.trust == TrustLevel::owner && *text == everyone_of(*text) && *text != kAnyTerminal) {
    reader.error("match", written.at,
                 quote(*text) + " makes every sender of that channel the owner " +
                     quote(user.name) + ", without a sandbox",
                 "name the owner's own ids, or choose a lower trust");
    return false;
  }
  if (has_stray_star(*text))
    reader.warning("match", written.at, "the * in " + quote(*text) + " is a character like others",
                   "only \"channel:*\" stands for several people");
  return true;
}

}  // namespace

std::string everyone_of(std::string_view sender) {
  const std::size_t colon = sender.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == sender.size()) return {};
  return std::string(sender.substr(0, colon)) + ":*";
}

std::vector<WrittenMatch> read_matches(const Table& entry, std::size_t index, const User& user,
                                       ConfigReader& reader) {
  std::vector<WrittenMatch> matches;
  const Entry* written = find(entry, "match");
  if (written == nullptr) return matches;
  const List* list = written->value.list();
  if (list == nullptr) {
    reader.error("match", written->value.at,
                 "match must be a list, not " + type_name(written->value),
                 "match = [" + std::string(R"("terminal:default")") + "]");
    return matches;
  }
  if (list->size() > kMostMatches)
    reader.error("match", written->at,
                 "more than " + std::to_string(kMostMatches) + " matches of one user");
  for (const Node& node : *list | std::views::take(kMostMatches))
    if (check_match(node, user, reader)) matches.push_back({*node.text(), index, node.at});
  return matches;
}

void check_overlaps(std::span<const WrittenMatch> matches, std::span<const User> users,
                    ConfigReader& reader) {
  std::map<std::string_view, const WrittenMatch*> first;
  for (const WrittenMatch& match : matches) {
    const auto [before, added] = first.try_emplace(match.match, &match);
    if (added) continue;
    const WrittenMatch& other = *before->second;
    if (other.user == match.user)
      reader.warning("overlapping_match", match.at, quote(match.match) + " is listed twice",
                     "remove one");
    else
      reader.error("overlapping_match", match.at,
                   quote(match.match) + " is already " + quote(users[other.user].name) + "'s (" +
                       reader.line_of(other.at) + ")",
                   "keep it with one user: a sender is one person");
  }
  for (const WrittenMatch& match : matches) {
    const std::string everyone = everyone_of(match.match);
    const auto general = match.match == everyone ? first.end() : first.find(everyone);
    if (general == first.end() || general->second->user == match.user) continue;
    const WrittenMatch& other = *general->second;
    reader.warning("overlapping_match", match.at,
                   quote(match.match) + " is also in " + quote(everyone) + " of " +
                       quote(users[other.user].name) + " (" + reader.line_of(other.at) +
                       "): the exact one wins");
  }
}

}  // namespace coop::policy
