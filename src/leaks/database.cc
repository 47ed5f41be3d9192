#include "leaks/database.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

namespace coop::leaks {

namespace {

struct LeakPattern {
  // What must follow a match; vectorscan has no lookahead.
  enum class Follows : std::uint8_t { anything, none_of, one_of, block };
  std::string_view name;
  std::string_view reason;
  bool begins_word;  // see begins_word() below
  Follows follows;
  std::array<std::uint64_t, 4> set;  // of bytes, for none_of and one_of
};

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

// Whether a word begins at `place`: after anything that is no letter, digit or "_", and after an
// escape, whose last letter belongs to no word: "%3D", "\\n", "\\x20", "\\u003d", a terminal's
// colour.
bool begins_word(std::string_view text, std::size_t place) {
  const std::string_view before = text.substr(0, place);
  return before.empty() || !is_word(before.back()) || ends_in_escape(before);
}

struct Collector {
  std::string_view text;
  std::vector<Leak>& leaks;
};

// A PEM block is more than its first line, or no match.
std::optional<std::size_t> end_of_match(const LeakPattern& pattern, std::string_view text,
                                        std::size_t begin, std::size_t end) {
  if (pattern.begins_word && !begins_word(text, begin)) return std::nullopt;
  if (pattern.follows != LeakPattern::Follows::block)
    return may_end_here(pattern, text, end) ? std::optional(end) : std::nullopt;
  const PemBlock block = pem_block(text, begin, end);
  const bool key = block.kind == PemBlock::Kind::open || block.kind == PemBlock::Kind::closed;
  return key ? std::optional(block.end) : std::nullopt;
}

int collect(unsigned id, unsigned long long from, unsigned long long to, unsigned /*flags*/,
            void* context) {
  const Collector& collector = *static_cast<Collector*>(context);
  const LeakPattern& pattern = kPatterns[id];
  const std::optional<std::size_t> end = end_of_match(pattern, collector.text, from, to);
  if (!end) return 0;
  // No exception may pass through vectorscan's C code: on bad_alloc the scan is stopped, and fails.
  try {
    collector.leaks.push_back({.name = std::string(pattern.name),
                               .reason = std::string(pattern.reason),
                               .begin = from,
                               .end = *end});
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}

}  // namespace

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

Result<LeakDatabase> LeakDatabase::create() {
  if (hs_valid_platform() != HS_SUCCESS)
    return unsupported("preparing the leak guard", "vectorscan does not run on this processor",
                       "it needs SSE4.2");
  hs_database_t* database = nullptr;
  const hs_error_t read =
      hs_deserialize_database(reinterpret_cast<const char*>(kDatabase), kDatabaseSize, &database);
  if (read != HS_SUCCESS)
    return unsupported("preparing the leak guard",
                       "vectorscan refuses the compiled patterns (" + std::to_string(read) + ")",
                       "coop was built with another version of vectorscan: build it again");
  return LeakDatabase(Database(database));
}

Result<Scratch> LeakDatabase::make_scratch() const {
  hs_scratch_t* scratch = nullptr;
  if (hs_alloc_scratch(database_.get(), &scratch) != HS_SUCCESS)
    return system_error_of(ENOMEM, "looking for secrets");
  return Scratch(scratch);
}

Result<void> LeakDatabase::scan(std::string_view text, const Scratch& scratch,
                                std::vector<Leak>& leaks) const {
  constexpr std::size_t kMost = std::size_t{1} << 31;
  if (text.size() > kMost) return system_error_of(EFBIG, "looking for secrets");
  Collector collector{.text = text, .leaks = leaks};
  if (hs_scan(database_.get(), text.data(), static_cast<unsigned>(text.size()), 0, scratch.get(),
              collect, &collector) != HS_SUCCESS)
    return system_error_of(ENOMEM, "looking for secrets");
  return {};
}

}  // namespace coop::leaks
