#include "setup/diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/path.h"

namespace coop::setup {

namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kLongestLine = 300;  // of one that stays
constexpr std::size_t kAround = 80;        // characters beside a change within a longer line
constexpr std::size_t kMostCells = std::size_t{1} << 22;  // of the table of common lines

using Lines = std::vector<std::string_view>;

Lines lines_of_text(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Step {
  char mark = ' ';
  std::string_view line{};
  // How much of its ends is not shown. Only of what has not changed: who says yes to a diff has seen all of the change.
  std::size_t front = 0;
  std::size_t back = 0;
};

// The middle of two texts whose ends are equal.
void add_middle(std::vector<Step>& steps, const Lines& before, const Lines& after) {
  const std::size_t rows = before.size();
  const std::size_t columns = after.size();
  std::vector<std::uint32_t> common;  // length of the longest common part from (row, column) on
  const bool fits = (rows + 1) * (columns + 1) <= kMostCells;
  if (fits) common.resize((rows + 1) * (columns + 1));
  const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& {
    return common[row * (columns + 1) + column];
  };
  for (std::size_t row = fits ? rows : 0; row-- > 0;)
    for (std::size_t column = columns; column-- > 0;)
      at(row, column) = before[row] == after[column]
                            ? at(row + 1, column + 1) + 1
                            : std::max(at(row + 1, column), at(row, column + 1));
  std::size_t row = 0;
  std::size_t column = 0;
  while (row < rows || column < columns) {
    const bool both = row < rows && column < columns;
    if (both && fits && before[row] == after[column]) {
      steps.push_back({' ', before[row]});
      ++row;
      ++column;
    } else if (row < rows && (!both || !fits || at(row + 1, column) >= at(row, column + 1))) {
      steps.push_back({'-', before[row++]});
    } else {
      steps.push_back({'+', after[column++]});
    }
  }
}

std::vector<Step> steps_between(const Lines& before, const Lines& after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t front = 0;
  while (front < shorter && before[front] == after[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front &&
         before[before.size() - 1 - back] == after[after.size() - 1 - back])
    ++back;
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(front),
                 lines.end() - static_cast<std::ptrdiff_t>(back));
  };
  std::vector<Step> steps;
  steps.reserve(before.size() + after.size());
  for (std::size_t line = 0; line < front; ++line) steps.push_back({' ', before[line]});
  add_middle(steps, middle(before), middle(after));
  for (std::size_t line = before.size() - back; line < before.size(); ++line)
    steps.push_back({' ', before[line]});
  return steps;
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Leaves out what two long lines have in common at both ends, but for a little.
void shorten_pair(Step& before, Step& after) {
  const std::string_view one = without_end(before.line);
  const std::string_view other = without_end(after.line);
  if (std::max(one.size(), other.size()) <= kLongestLine) return;
  const std::size_t shorter = std::min(one.size(), other.size());
  const auto same = [&](std::size_t at) { return one[at] == other[at]; };
  const auto same_at_end = [&](std::size_t at) {
    return one[one.size() - 1 - at] == other[other.size() - 1 - at];
  };
  std::size_t front = 0;
  while (front < shorter && same(front)) ++front;
  std::size_t back = 0;
  while (back < shorter - front && same_at_end(back)) ++back;
  front -= std::min(front, kAround);
  while (front > 0 && is_inside_character(one, front)) --front;
  back -= std::min(back, kAround);
  while (back > 0 && is_inside_character(one, one.size() - back)) --back;
  before.front = after.front = front;
  before.back = after.back = back;
}

// Of lines that took each other's place, the first with the first, and so on.
void shorten(std::vector<Step>& steps) {
  for (std::size_t at = 0; at < steps.size();) {
    std::size_t added = at;
    while (added < steps.size() && steps[added].mark == '-') ++added;
    std::size_t end = added;
    while (end < steps.size() && steps[end].mark == '+') ++end;
    for (std::size_t pair = 0; at + pair < added && added + pair < end; ++pair)
      shorten_pair(steps[at + pair], steps[added + pair]);
    at = std::max(end, at + 1);
  }
  for (Step& step : steps) {
    const std::size_t size = without_end(step.line).size();
    if (step.mark != ' ' || size <= kLongestLine) continue;
    step.back = size - kLongestLine;
    while (is_inside_character(step.line, size - step.back)) ++step.back;
  }
}

std::string shown(const Step& step) {
  std::string_view line = without_end(step.line);
  line = line.substr(step.front, line.size() - step.front - step.back);
  const std::size_t blanks = std::min(line.find_first_not_of('\t'), line.size());
  return step.mark + std::string(step.front > 0 ? "…" : "") + std::string(blanks, '\t') +
         printable(line.substr(blanks)) + (step.back > 0 ? "…" : "") + "\n" +
         (step.line.ends_with('\n') ? "" : "\\ no newline at the end\n");
}

std::string range_text(std::size_t first, std::size_t count) {
  return std::to_string(count == 0 ? first : first + 1) + "," + std::to_string(count);
}

// "@@ -1,3 +1,4 @@" and its lines.
std::string hunk_text(const std::vector<Step>& steps, std::size_t begin, std::size_t end) {
  const auto count = [&](std::size_t from, std::size_t to, char mark) {
    return static_cast<std::size_t>(
        std::count_if(steps.begin() + static_cast<std::ptrdiff_t>(from),
                      steps.begin() + static_cast<std::ptrdiff_t>(to),
                      [&](const Step& step) { return step.mark == ' ' || step.mark == mark; }));
  };
  std::string text = "@@ -" + range_text(count(0, begin, '-'), count(begin, end, '-')) + " +" +
                     range_text(count(0, begin, '+'), count(begin, end, '+')) + " @@\n";
  for (std::size_t at = begin; at < end; ++at) text += shown(steps[at]);
  return text;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name) {
  if (before == after) return {};
  std::vector<Step> steps = steps_between(lines_of_text(before), lines_of_text(after));
  shorten(steps);
  std::string text = "--- " + printable(before_name) + "\n+++ " + printable(after_name) + "\n";
  const auto next_change = [&](std::size_t from) {
    while (from < steps.size() && steps[from].mark == ' ') ++from;
    return from;
  };
  for (std::size_t change = next_change(0); change < steps.size();) {
    const std::size_t begin = change - std::min(change, kContext);
    std::size_t last = change;  // of the changes in this hunk
    for (std::size_t next = change; next < steps.size() && next <= last + 2 * kContext + 1;
         next = next_change(next + 1))
      last = next;
    text += hunk_text(steps, begin, std::min(last + 1 + kContext, steps.size()));
    change = next_change(last + 1);
  }
  return text;
}

}  // namespace coop::setup
