#include "host/accounts.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/path.h"
#include "host/text.h"

namespace coop::host {
namespace {

// (uid_t)-1 means "no id" to the kernel and can be in no range.
constexpr std::uint64_t kIdEnd = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::optional<Account> parse_passwd(std::string_view text, std::uint32_t uid) {
  while (const auto line = take_line(text)) {
    std::string_view rest = *line;
    const std::string_view name = take_field(rest, ':');
    take_field(rest, ':');  // password
    const auto number = to_number(take_field(rest, ':'));
    take_field(rest, ':');  // group
    take_field(rest, ':');  // full name
    const std::string_view home = take_field(rest, ':');
    if (name.empty() || number != uid) continue;
    return Account{std::string(name), home.starts_with('/') ? normalize(home) : Path{}};
  }
  return std::nullopt;
}

Path parse_home_of(std::string_view text, std::string_view name) {
  constexpr int kHomeAt = 5;
  while (const auto line = take_line(text)) {
    std::string_view rest = *line;
    if (take_field(rest, ':') != name || name.empty()) continue;
    for (int field = 1; field < kHomeAt; ++field) take_field(rest, ':');
    const std::string_view home = take_field(rest, ':');
    return home.starts_with('/') ? normalize(home) : Path{};
  }
  return {};
}

std::vector<Path> parse_homes(std::string_view text) {
  constexpr std::size_t kMost = 256;  // each costs a look at every start
  constexpr std::uint64_t kNobody = 65534;
  std::set<Path> homes;
  while (const auto line = take_line(text)) {
    std::string_view rest = *line;
    take_field(rest, ':');  // name
    take_field(rest, ':');  // password
    const auto number = to_number(take_field(rest, ':'));
    take_field(rest, ':');  // group
    take_field(rest, ':');  // full name
    const std::string_view home = take_field(rest, ':');
    if (!number || (*number != 0 && *number < 1000) || *number == kNobody) continue;
    if (home.starts_with('/') && homes.size() < kMost)
      if (const Path path = normalize(home); !is_within(path, "/home")) homes.insert(path);
  }
  return {homes.begin(), homes.end()};
}

std::vector<IdRange> parse_subid(std::string_view text, std::string_view user, std::uint32_t uid) {
  std::vector<IdRange> ranges;
  const std::string number = std::to_string(uid);
  while (const auto line = take_line(text)) {
    std::string_view rest = *line;
    const std::string_view owner = take_field(rest, ':');
    const auto first = to_number(take_field(rest, ':'));
    const auto count = to_number(rest);
    if (owner.empty() || (owner != user && owner != number)) continue;
    if (!first || !count || *count == 0 || *first > kIdEnd || *count > kIdEnd - *first) continue;
    ranges.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*count)});
  }
  return ranges;
}

std::uint64_t parse_mapped_ids(std::string_view text) {
  std::uint64_t total = 0;
  while (const auto line = take_line(text)) {
    const std::size_t last = line->find_last_of(" \t");
    const auto count = to_number(line->substr(last == std::string_view::npos ? 0 : last + 1));
    if (count) total += std::min(*count, kIdEnd);
  }
  return total;
}

}  // namespace coop::host
