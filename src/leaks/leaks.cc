#include "leaks/leaks.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <tuple>
#include <utility>

#include "leaks/database.h"
#include "leaks/decode.h"
#include "leaks/known.h"

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
  KnownValues known;
  std::mutex mutex{};
  std::vector<Scratch> idle{};  // reused: allocating one takes 30 µs

  Result<Scratch> take_scratch() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return database.make_scratch();
    Scratch scratch = std::move(idle.back());
    idle.pop_back();
    return scratch;
  }
  void give_back(Scratch scratch) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(scratch));
  }
};

namespace {

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

Result<void> find_encoded(const LeakScanner::State& state, const Scratch& scratch,
                          std::string_view text, Encoding encoding, std::vector<Leak>& leaks) {
  std::vector<Leak> found;
  for (Run run = next_run(text, encoding, 0); run.begin != run.end;
       run = next_run(text, encoding, run.next))
    for (const Decoding& decoding : decodings_of(text, encoding, run)) {
      found.clear();
      TRY(state.database.scan(decoding.bytes, scratch, found));
      state.known.find_in_decoded(decoding.bytes, found);
      move_to_text(text, encoding, run, decoding, found);
      std::ranges::move(found, std::back_inserter(leaks));
    }
  return {};
}

Result<std::vector<Leak>> find_all(LeakScanner::State& state, std::string_view text) {
  Scratch scratch = TRY(state.take_scratch());
  std::vector<Leak> leaks;
  TRY(state.database.scan(text, scratch, leaks));
  state.known.find_in_text(text, leaks);
  for (const Encoding encoding : {Encoding::url, Encoding::base64, Encoding::hex})
    TRY(find_encoded(state, scratch, text, encoding, leaks));
  state.give_back(std::move(scratch));
  return joined(std::move(leaks));
}

}  // namespace

LeakScanner::LeakScanner(std::unique_ptr<State> state) : state_(std::move(state)) {}
LeakScanner::LeakScanner(LeakScanner&&) noexcept = default;
LeakScanner& LeakScanner::operator=(LeakScanner&&) noexcept = default;
LeakScanner::~LeakScanner() = default;

Result<LeakScanner> LeakScanner::create(std::span<const Known> known) {
  LeakDatabase database = TRY(LeakDatabase::create());
  return LeakScanner(std::make_unique<State>(std::move(database), KnownValues(known)));
}

std::vector<Leak> LeakScanner::find(std::string_view text) const {
  return find_all(*state_, text).value_or(all_of(text));
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
