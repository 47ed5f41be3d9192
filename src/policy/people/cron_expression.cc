#include "policy/people/cron_expression.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};

struct Field {
  std::string_view name;
  unsigned least;
  unsigned most;
  unsigned last;  // for "*": Sunday is 0 and 7, and must not count twice in a step
  std::span<const std::string_view> words;  // the first stands for `least`
};

constexpr std::array kFields{
    Field{"minute", 0, 59, 59, {}},       Field{"hour", 0, 23, 23, {}},
    Field{"day", 1, 31, 31, {}},          Field{"month", 1, 12, 12, kMonths},
    Field{"weekday", 0, 7, 6, kWeekdays},
};

struct Nickname {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array kNicknames{
    Nickname{"@yearly", "0 0 1 1 *"},  Nickname{"@annually", "0 0 1 1 *"},
    Nickname{"@monthly", "0 0 1 * *"}, Nickname{"@weekly", "0 0 * * 0"},
    Nickname{"@daily", "0 0 * * *"},   Nickname{"@midnight", "0 0 * * *"},
    Nickname{"@hourly", "0 * * * *"},
};

constexpr std::string_view kUnderstood =
    "five fields: minute hour day month weekday, each *, a value, a range (1-5), a step (*/10, "
    "10-50/5) or a list of those (1,15)";
constexpr std::string_view kNames =
    "@yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly";

std::unexpected<Error> refused(const std::string& what, std::string_view hint = kUnderstood) {
  return invalid("cron expression", what, hint);
}

std::string range_text(const Field& field) {
  std::string text = std::to_string(field.least) + " to " + std::to_string(field.most);
  if (!field.words.empty())
    text += " or " + std::string(field.words.front()) + " to " + std::string(field.words.back());
  return text;
}

// `minute "61" is not 0 to 59`
std::unexpected<Error> not_in(const Field& field, std::string_view text) {
  return refused(std::string(field.name) + " " + quote(text) + " is not " + range_text(field));
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A whole number of at most two digits: no field has more, so nothing can overflow.
std::optional<unsigned> number_of(std::string_view text) {
  if (text.empty() || text.size() > 2) return std::nullopt;
  unsigned number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned>(digit - '0');
  }
  return number;
}

std::optional<unsigned> value_of(const Field& field, std::string_view text) {
  if (const auto number = number_of(text)) {
    if (*number < field.least || *number > field.most) return std::nullopt;
    return number;
  }
  const auto found =
      text.size() == 3 ? std::ranges::find(field.words, lower(text)) : field.words.end();
  if (found == field.words.end()) return std::nullopt;
  return field.least + static_cast<unsigned>(found - field.words.begin());
}

struct Range {
  unsigned first = 0;
  unsigned last = 0;
  bool single = false;
};

Result<Range> parse_range(const Field& field, std::string_view text) {
  if (text == "*") return Range{field.least, field.last};
  const std::size_t dash = text.find('-');
  const auto first = value_of(field, text.substr(0, dash));
  if (!first) return not_in(field, text.substr(0, dash));
  if (dash == std::string_view::npos) return Range{*first, *first, true};

  const std::string_view end = text.substr(dash + 1);
  auto last = value_of(field, end);
  if (!last) return not_in(field, end);
  // "fri-sun" ends on the Sunday after Friday, which is 7.
  if (lower(end) == kWeekdays.front()) last = 7;
  if (*last < *first)
    return refused(std::string(field.name) + " range " + quote(text) + " runs backwards",
                   "write " + std::string(text.substr(0, dash)) + "-" + std::to_string(field.last) +
                       "," + std::to_string(field.least) + "-" + std::string(end));
  return Range{*first, *last};
}

// One element of a field's list: "*", "5", "1-5", "*/2", "10-50/5".
Result<std::uint64_t> parse_element(const Field& field, std::string_view text) {
  if (text.empty()) return refused(std::string(field.name) + " has an empty element in its list");
  const std::size_t slash = text.find('/');
  const Range range = TRY(parse_range(field, text.substr(0, slash)));
  unsigned step = 1;
  if (slash != std::string_view::npos) {
    const std::string_view written = text.substr(slash + 1);
    const auto number = number_of(written);
    const unsigned most = field.last - field.least + 1;
    if (!number || *number == 0 || *number > most)
      return refused(std::string(field.name) + " step " + quote(written) + " is not 1 to " +
                     std::to_string(most));
    if (range.single)
      return refused(std::string(field.name) + " " + quote(text) + " is a step without a range",
                     "write */" + std::string(written) + " or a range before the slash");
    step = *number;
  }
  std::uint64_t bits = 0;
  for (unsigned value = range.first; value <= range.last; value += step)
    bits |= std::uint64_t{1} << value;
  return bits;
}

Result<std::uint64_t> parse_field(const Field& field, std::string_view text) {
  // Extensions of other schedulers that cron does not have. JUL and WED are valid.
  if (text.find_first_of(field.words.empty() ? "?#LW" : "?#") != std::string_view::npos)
    return refused(std::string(field.name) + " " + quote(text) +
                   " uses ?, L, W or #, which cron does not have");
  std::uint64_t bits = 0;
  for (const std::string_view element : split(text, ",")) {
    const std::uint64_t values = TRY(parse_element(field, element));
    bits |= values;
  }
  return bits;
}

// Cron runs a job when either day field matches, unless one of them is "*". So only a day of the
// month that no selected month has, with any weekday, never occurs.
bool ever_comes(const CronExpression& cron) {
  constexpr std::array<unsigned, 13> kLongest{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  constexpr std::uint64_t kEveryWeekday = 0x7f;
  if (cron.weekdays != kEveryWeekday) return true;
  for (unsigned month = 1; month <= 12; ++month) {
    if ((cron.months >> month & 1U) == 0) continue;
    const std::uint64_t its_days = (std::uint64_t{1} << (kLongest.at(month) + 1)) - 1;
    if ((cron.days & its_days) != 0) return true;
  }
  return false;
}

Result<CronExpression> parse_fields(std::string_view text) {
  std::vector<std::string_view> fields = split(text, " \t");
  std::erase_if(fields, [](std::string_view field) { return field.empty(); });
  if (fields.size() != kFields.size())
    return refused(quote(text) + " has " + std::to_string(fields.size()) +
                   (fields.size() == 1 ? " field, not five" : " fields, not five"));
  std::array<std::uint64_t, kFields.size()> bits{};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const std::uint64_t parsed = TRY(parse_field(kFields.at(i), fields[i]));
    bits.at(i) = parsed;
  }
  const std::uint64_t sunday = bits[4] >> 7 & 1U;
  const CronExpression cron{.minutes = bits[0],
                            .hours = bits[1],
                            .days = bits[2],
                            .months = bits[3],
                            .weekdays = (bits[4] & 0x7f) | sunday};
  if (!ever_comes(cron))
    return refused(quote(text) + " never comes: none of the months has such a day",
                   "choose a day that exists in one of the months");
  return cron;
}

}  // namespace

Result<CronExpression> parse_cron(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return refused("it is empty");
  if (!text.starts_with('@')) return parse_fields(text);
  const auto found = std::ranges::find(kNicknames, text, &Nickname::name);
  if (found == kNicknames.end())
    return refused(quote(text) + " is not a known time", "one of " + std::string(kNames));
  return parse_fields(found->meaning);
}

}  // namespace coop::policy
