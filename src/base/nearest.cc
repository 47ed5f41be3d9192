#include "base/nearest.h"

#include <algorithm>
#include <string>
#include <utility>

namespace coop {

namespace {

constexpr std::size_t kLongest = 64;  // the cost is quadratic

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table are enough: a transposition refers two rows back.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known,
                         std::size_t most) {
  if (word.empty() || word.size() > kLongest) return {};
  std::string_view best;
  std::size_t allowed = std::min(most, word.size() - 1);
  for (const std::string_view candidate : known) {
    if (candidate.empty() || candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > allowed) continue;
    best = candidate;
    if (distance == 0) break;
    allowed = distance - 1;  // keep the first of equal distances
  }
  return best;
}

std::vector<std::string_view> nearest_few(std::string_view word,
                                          std::span<const std::string_view> known) {
  constexpr std::size_t kFew = 3;
  if (word.empty() || word.size() > kLongest) return {};
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view candidate : known) {
    if (candidate.empty() || candidate.size() > kLongest) continue;
    // A name that ends with the word is as close as a slip of one letter.
    const bool whole = candidate.ends_with("/" + std::string(word)) ||
                       candidate.ends_with("." + std::string(word));
    const std::size_t distance = whole ? 1 : edit_distance(word, candidate);
    if (whole || distance <= std::clamp<std::size_t>(word.size() / 3, 1, 3))
      found.emplace_back(distance, candidate);
    else if (word.size() > kFew && candidate.contains(word))
      found.emplace_back(kLongest, candidate);
  }
  std::ranges::stable_sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::string_view> few;
  for (const auto& [distance, candidate] : found)
    if (few.size() < kFew) few.push_back(candidate);
  return few;
}

}  // namespace coop
