#include <algorithm>
#include <utility>

#include "leaks/database.h"
#include "leaks/leaks.h"
#include "leaks/runs.h"

namespace coop::leaks {

namespace {

// At most this much is held back; beyond it all but kKept is released, which is longer than any
// secret.
constexpr std::size_t kMostHeld = std::size_t{128} << 10U;
constexpr std::size_t kKept = std::size_t{64} << 10U;

// The start of the line that contains `place`.
std::size_t line_of(std::string_view text, std::size_t place) {
  if (place == 0) return 0;
  const std::size_t before = text.rfind('\n', place - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

// Where the first PEM block begins that continues, or may continue, at `place`.
std::size_t pem_over(std::string_view text, std::size_t place) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kKey = "PRIVATE KEY";
  constexpr std::size_t kMostHeader = 80;
  const std::size_t first = place > kMostPem + kMostHeader ? place - kMostPem - kMostHeader : 0;
  for (std::size_t begin = text.find(kBegin, first); begin < place;
       begin = text.find(kBegin, begin + 1)) {
    const std::size_t end = text.find("-----", begin + kBegin.size());
    if (end == std::string_view::npos || end - begin > kMostHeader) continue;
    if (text.substr(begin, end - begin).find(kKey) == std::string_view::npos) continue;
    const PemBlock block = pem_block(text, begin, end + 5);
    if (block.kind == PemBlock::Kind::no_key) continue;
    if (block.kind != PemBlock::Kind::closed || block.end > place) return begin;
  }
  return place;
}

// How much of the text is final whatever follows: whole lines that no PEM block, wrapped blob or
// multi-line known value extends beyond.
std::size_t settled(std::string_view text, std::size_t longest_over_lines) {
  std::size_t place = text.size();
  if (longest_over_lines > 0) place -= std::min(place, longest_over_lines - 1);
  place = line_of(text, place);
  while (place > 0) {
    const std::size_t before = place;
    place = line_of(text, pem_over(text, place));
    if (place > 0 && may_be_wrapped(text, place)) place = line_of(text, place - 1);
    if (place == before) return place;
  }
  return 0;
}

}  // namespace

LeakStream::LeakStream(const LeakScanner& scanner) : scanner_(scanner) {}

std::string LeakStream::give_out(std::size_t size, std::vector<Leak> leaks) {
  std::erase_if(leaks, [&](const Leak& leak) { return leak.begin >= size; });
  std::string text = redacted(std::string_view(held_).substr(0, size), leaks);
  for (Leak& leak : leaks) {
    leak.begin += passed_;
    leak.end += passed_;
    found_.push_back(std::move(leak));
  }
  held_.erase(0, size);
  passed_ += size;
  return text;
}

std::string LeakStream::feed(std::string_view piece) {
  held_ += piece;
  const bool too_much = held_.size() > kMostHeld;
  const bool new_line = piece.find('\n') != std::string_view::npos;
  if (!too_much && (!new_line || held_.size() < look_at_)) return {};

  const std::size_t lines = settled(held_, scanner_.longest_over_lines());
  const bool forced = held_.size() - lines > kMostHeld;
  std::size_t size = forced ? held_.size() - kKept : lines;
  std::vector<Leak> leaks = scanner_.find(held_);
  // Never release part of a secret.
  for (auto leak = leaks.rbegin(); leak != leaks.rend(); ++leak)
    if (leak->begin < size && size < leak->end)
      size = forced ? leak->begin : line_of(held_, leak->begin);
  // A secret longer than the hold limit is redacted as far as it is known.
  if (size == 0 && forced && !leaks.empty()) size = leaks.front().end;

  std::string text = give_out(size, std::move(leaks));
  // Do not rescan held text for each new line: the total work stays a small multiple of the input.
  look_at_ = held_.size() + held_.size() / 4;
  return text;
}

std::string LeakStream::finish() {
  look_at_ = 0;
  return give_out(held_.size(), scanner_.find(held_));
}

}  // namespace coop::leaks
