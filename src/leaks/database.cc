#include "leaks/database.h"

#include <hs/hs_common.h>
#include <hs/hs_runtime.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace coop::leaks {

namespace {

#include "leak_patterns.inc"

bool contains(const std::array<std::uint64_t, 4>& set, char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (set[byte / 64] >> (byte % 64) & 1U) != 0;
}

bool may_end_here(const LeakPattern& pattern, std::string_view text, std::size_t end) {
  switch (pattern.follows) {
    case LeakPattern::Follows::none_of:
      return end == text.size() || !contains(pattern.set, text[end]);
    case LeakPattern::Follows::one_of: return end < text.size() && contains(pattern.set, text[end]);
    case LeakPattern::Follows::anything:
    case LeakPattern::Follows::block: return true;
  }
  return true;
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Whether it ends in `opening` and `digits` hexadecimal digits.
bool ends_in_code(std::string_view text, std::string_view opening, std::size_t digits) {
  if (text.size() < opening.size() + digits) return false;
  const std::string_view code = text.substr(text.size() - digits);
  return std::ranges::all_of(code, is_hex) &&
         text.substr(0, text.size() - digits).ends_with(opening);
}

// ESC [ numbers letter, with ESC as a byte or as an escape sequence.
bool ends_in_colour(std::string_view text) {
  constexpr std::size_t kLongest = 32;
  if (!is_letter(text.back())) return false;
  std::size_t length = 1;
  while (length < std::min(text.size(), kLongest)) {
    const char c = text[text.size() - 1 - length];
    if (!is_digit(c) && c != ';' && c != ':' && c != '?') break;
    ++length;
  }
  const std::string_view opening = text.substr(0, text.size() - length);
  return std::ranges::any_of(
      std::array<std::string_view, 5>{"\x1b[", "\\x1b[", "\\033[", "\\e[", "\\u001b["},
      [&](std::string_view escape) { return opening.ends_with(escape); });
}

bool ends_in_escape(std::string_view text) {
  constexpr std::string_view kLetters = "abefnrtv0";
  const bool short_escape = text.size() >= 2 && text[text.size() - 2] == '\\' &&
                            kLetters.find(text.back()) != std::string_view::npos;
  return short_escape || ends_in_code(text, "%", 2) || ends_in_code(text, "\\x", 2) ||
         ends_in_code(text, "\\u", 4) || ends_in_colour(text);
}

struct Collector {
  std::string_view text;
  std::vector<LeakHit>& hits;
};

int collect(unsigned id, unsigned long long from, unsigned long long to, unsigned /*flags*/,
            void* context) {
  const Collector& collector = *static_cast<Collector*>(context);
  const LeakPattern& pattern = kPatterns[id];
  if (may_end_here(pattern, collector.text, to) &&
      (!pattern.begins_word || begins_word(collector.text, from))) {
    // No exception may pass through vectorscan's C code: on bad_alloc the scan is stopped, and
    // fails.
    try {
      collector.hits.push_back({.pattern = id, .begin = from, .end = to});
    } catch (const std::bad_alloc&) {
      return 1;
    }
  }
  return 0;
}

constexpr bool is_key_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/' || c == '=';
}

// Headers ("Proc-Type: 4,ENCRYPTED") may precede the key itself.
constexpr std::size_t kKeyBeginsWithin = 1024;
constexpr std::size_t kKeyCharacters = 32;

bool has_key(std::string_view body) {
  std::size_t run = 0;
  for (const char c : body.substr(0, kKeyBeginsWithin)) {
    run = is_key_character(c) ? run + 1 : 0;
    if (run == kKeyCharacters) return true;
  }
  return false;
}

}  // namespace

const LeakPattern& leak_pattern(std::size_t index) { return kPatterns[index]; }

bool begins_word(std::string_view text, std::size_t place) {
  const std::string_view before = text.substr(0, place);
  return before.empty() || !is_word(before.back()) || ends_in_escape(before);
}

PemBlock pem_block(std::string_view text, std::size_t begin, std::size_t header_end) {
  using Kind = PemBlock::Kind;
  constexpr std::string_view kEnd = "-----END ";
  constexpr std::size_t kEndLine = 80;
  const std::string_view window = text.substr(0, std::min(text.size(), begin + kMostPem));
  const bool cut = window.size() < text.size() || text.size() == begin + kMostPem;
  const std::size_t last_line = window.find(kEnd, header_end);
  if (last_line == std::string_view::npos) {
    const std::string_view body = window.substr(std::min(header_end, window.size()));
    if (!has_key(body)) {
      const bool decided = cut || body.size() >= kKeyBeginsWithin;
      return {.kind = decided ? Kind::no_key : Kind::undecided};
    }
    return {.kind = cut ? Kind::closed : Kind::open, .end = window.size()};
  }
  if (!has_key(window.substr(header_end, last_line - header_end))) return {.kind = Kind::no_key};
  const std::size_t dashes = text.find("-----", last_line + kEnd.size());
  if (dashes != std::string_view::npos && dashes - last_line <= kEndLine)
    return {.kind = Kind::closed, .end = dashes + 5};
  const bool more_may_come = text.size() - last_line <= kEndLine + 5;
  return {.kind = more_may_come ? Kind::open : Kind::closed, .end = last_line + kEnd.size()};
}

// vectorscan needs scratch memory for each concurrent scan; allocated on demand and reused.
struct LeakDatabase::State {
  hs_database_t* database = nullptr;
  std::mutex mutex{};
  hs_scratch_t* first = nullptr;  // the prototype that others are cloned from; never used itself
  std::vector<hs_scratch_t*> idle{};

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (hs_scratch_t* scratch : idle) hs_free_scratch(scratch);
    hs_free_scratch(first);
    hs_free_database(database);
  }

  hs_scratch_t* take() {
    const std::lock_guard lock(mutex);
    if (!idle.empty()) {
      hs_scratch_t* scratch = idle.back();
      idle.pop_back();
      return scratch;
    }
    hs_scratch_t* scratch = nullptr;
    return hs_clone_scratch(first, &scratch) == HS_SUCCESS ? scratch : nullptr;
  }

  void give_back(hs_scratch_t* scratch) {
    const std::lock_guard lock(mutex);
    idle.push_back(scratch);
  }
};

LeakDatabase::LeakDatabase(std::unique_ptr<State> state) : state_(std::move(state)) {}
LeakDatabase::LeakDatabase(LeakDatabase&&) noexcept = default;
LeakDatabase& LeakDatabase::operator=(LeakDatabase&&) noexcept = default;
LeakDatabase::~LeakDatabase() = default;

Result<LeakDatabase> LeakDatabase::create() {
  if (hs_valid_platform() != HS_SUCCESS)
    return unsupported("preparing the leak guard", "vectorscan does not run on this processor",
                       "it needs SSE4.2");
  auto state = std::make_unique<State>();
  const hs_error_t read = hs_deserialize_database(reinterpret_cast<const char*>(kDatabase),
                                                  kDatabaseSize, &state->database);
  if (read != HS_SUCCESS)
    return unsupported("preparing the leak guard",
                       "vectorscan refuses the compiled patterns (" + std::to_string(read) + ")",
                       "coop was built with another version of vectorscan: build it again");
  if (hs_alloc_scratch(state->database, &state->first) != HS_SUCCESS)
    return system_error_of(ENOMEM, "preparing the leak guard");
  return LeakDatabase(std::move(state));
}

Scanned LeakDatabase::scan(std::string_view text, std::vector<LeakHit>& hits) const {
  constexpr std::size_t kMost = std::size_t{1} << 31;
  if (text.size() > kMost) return Scanned::failed;
  hs_scratch_t* scratch = state_->take();
  if (scratch == nullptr) return Scanned::failed;
  Collector collector{.text = text, .hits = hits};
  const hs_error_t done = hs_scan(state_->database, text.data(), static_cast<unsigned>(text.size()),
                                  0, scratch, collect, &collector);
  state_->give_back(scratch);
  return done == HS_SUCCESS ? Scanned::whole : Scanned::failed;
}

}  // namespace coop::leaks
