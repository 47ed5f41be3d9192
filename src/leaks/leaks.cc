#include "leaks/leaks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "leaks/database.h"
#include "leaks/decode.h"
#include "leaks/known.h"
#include "leaks/runs.h"

namespace coop::leaks {

std::string_view to_text(Encoding encoding) {
  switch (encoding) {
    case Encoding::plain: return "plain";
    case Encoding::url: return "URL-encoded";
    case Encoding::base64: return "base64";
    case Encoding::hex: return "hexadecimal";
  }
  return "plain";
}

struct LeakScanner::State {
  LeakDatabase database;
  std::vector<std::string> names;  // of known values
  KnownValues known;

  // A match in one text, by pattern or by value.
  struct Find {
    std::string_view name;
    std::string_view reason;
    Encoding encoding = Encoding::plain;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Scanned find_plain(std::string_view text, std::vector<Leak>& leaks) const;
  Scanned find_encoded(std::string_view text, Encoding encoding, std::vector<Leak>& leaks) const;

 private:
  void add_known(std::span<const KnownValues::Hit> hits, std::vector<Find>& finds) const;
  void add_decoded(std::string_view text, Encoding encoding, const Stretch& stretch,
                   std::span<const Find> finds, std::vector<Leak>& leaks) const;
};

namespace {

using Find = LeakScanner::State::Find;

Leak leak_of(const Find& find) {
  return {.name = std::string(find.name),
          .reason = std::string(find.reason),
          .encoding = find.encoding,
          .begin = find.begin,
          .end = find.end};
}

// Extends the hit within `text`; a PEM block is more than its first line, or no hit.
bool complete(std::string_view text, LeakHit& hit) {
  if (leak_pattern(hit.pattern).follows != LeakPattern::Follows::block) return true;
  const PemBlock block = pem_block(text, hit.begin, hit.end);
  if (block.kind != PemBlock::Kind::open && block.kind != PemBlock::Kind::closed) return false;
  hit.end = block.end;
  return true;
}

Find find_of(const LeakHit& hit) {
  const LeakPattern& pattern = leak_pattern(hit.pattern);
  return {.name = pattern.name, .reason = pattern.reason, .begin = hit.begin, .end = hit.end};
}

// A text that could not be scanned is treated as one secret: it must not pass.
std::vector<Leak> all_of(std::string_view text) {
  return {Leak{.name = "not-scanned",
               .reason = "too big to look for secrets in it, or no memory was left",
               .begin = 0,
               .end = text.size()}};
}

std::vector<Leak> joined(std::vector<Leak> leaks) {
  std::ranges::stable_sort(leaks, [](const Leak& a, const Leak& b) {
    return std::tuple(a.begin, b.end, a.encoding) < std::tuple(b.begin, a.end, b.encoding);
  });
  std::vector<Leak> result;
  for (Leak& leak : leaks) {
    if (!result.empty() && leak.begin < result.back().end)
      result.back().end = std::max(result.back().end, leak.end);
    else result.push_back(std::move(leak));
  }
  return result;
}

}  // namespace

void LeakScanner::State::add_known(std::span<const KnownValues::Hit> hits,
                                   std::vector<Find>& finds) const {
  for (const KnownValues::Hit& hit : hits)
    finds.push_back({.name = names[hit.value],
                     .reason = "the value of a variable that holds a secret",
                     .encoding = hit.encoding,
                     .begin = hit.begin,
                     .end = hit.end});
}

Scanned LeakScanner::State::find_plain(std::string_view text, std::vector<Leak>& leaks) const {
  std::vector<LeakHit> hits;
  if (database.scan(text, hits) == Scanned::failed) return Scanned::failed;
  for (LeakHit& hit : hits)
    if (complete(text, hit)) leaks.push_back(leak_of(find_of(hit)));
  std::vector<KnownValues::Hit> values;
  known.find_in_text(text, values);
  std::vector<Find> finds;
  add_known(values, finds);
  for (const Find& find : finds) leaks.push_back(leak_of(find));
  return Scanned::whole;
}

// `finds`: those in this stretch, with positions in the batch.
void LeakScanner::State::add_decoded(std::string_view text, Encoding encoding,
                                     const Stretch& stretch, std::span<const Find> finds,
                                     std::vector<Leak>& leaks) const {
  EncodedPlace place(text, encoding, stretch);
  for (const Find& find : finds) {
    const std::size_t begin = find.begin - stretch.offset;
    const std::size_t end = find.end - stretch.offset;
    const auto range = place.of(begin, end);
    Leak leak = leak_of(find);
    leak.encoding = encoding;
    leak.begin = range.begin;
    leak.end = range.end;
    leaks.push_back(std::move(leak));
  }
}

Scanned LeakScanner::State::find_encoded(std::string_view text, Encoding encoding,
                                         std::vector<Leak>& leaks) const {
  LeakDecoder decoder(text, encoding);
  Batch batch;
  std::vector<LeakHit> hits;
  std::vector<KnownValues::Hit> values;
  std::vector<Find> finds;
  for (decoder.next(batch); !batch.stretches.empty(); decoder.next(batch)) {
    hits.clear();
    values.clear();
    finds.clear();
    if (database.scan(batch.bytes, hits) == Scanned::failed) return Scanned::failed;
    known.find_in_decoded(batch.bytes, values);
    add_known(values, finds);
    for (LeakHit& hit : hits) {
      const auto after = std::ranges::upper_bound(batch.stretches, hit.begin, {}, &Stretch::offset);
      const Stretch& stretch = *std::prev(after);
      if (complete(std::string_view(batch.bytes).substr(0, stretch.offset + stretch.size), hit))
        finds.push_back(find_of(hit));
    }
    std::ranges::stable_sort(finds, {}, &Find::begin);
    for (auto first = finds.begin(); first != finds.end();) {
      const auto after =
          std::ranges::upper_bound(batch.stretches, first->begin, {}, &Stretch::offset);
      const Stretch& stretch = *std::prev(after);
      const auto last = std::find_if(first, finds.end(), [&](const Find& find) {
        return find.begin >= stretch.offset + stretch.size;
      });
      add_decoded(text, encoding, stretch, {first, last}, leaks);
      first = last;
    }
  }
  return Scanned::whole;
}

LeakScanner::LeakScanner(std::unique_ptr<State> state) : state_(std::move(state)) {}
LeakScanner::LeakScanner(LeakScanner&&) noexcept = default;
LeakScanner& LeakScanner::operator=(LeakScanner&&) noexcept = default;
LeakScanner::~LeakScanner() = default;

Result<LeakScanner> LeakScanner::create(std::span<const Known> known) {
  LeakDatabase database = TRY(LeakDatabase::create());
  std::vector<std::string> names;
  for (const Known& value : known) names.push_back("environment: " + value.name);
  return LeakScanner(
      std::make_unique<State>(std::move(database), std::move(names), KnownValues(known)));
}

std::vector<Leak> LeakScanner::find(std::string_view text) const {
  std::vector<Leak> leaks;
  if (state_->find_plain(text, leaks) == Scanned::failed) return all_of(text);
  for (const Encoding encoding : {Encoding::url, Encoding::base64, Encoding::hex})
    if (state_->find_encoded(text, encoding, leaks) == Scanned::failed) return all_of(text);
  return joined(std::move(leaks));
}

std::size_t LeakScanner::longest_over_lines() const { return state_->known.longest_over_lines(); }

std::string redacted(std::string_view text, std::span<const Leak> leaks) {
  std::string result;
  std::size_t passed = 0;
  for (const Leak& leak : leaks) {
    result += text.substr(passed, leak.begin - passed);
    result += "[redacted: " + leak.name + "]";
    passed = leak.end;
  }
  return result += text.substr(passed);
}

}  // namespace coop::leaks
