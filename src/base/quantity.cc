#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace coop {

namespace {

__extension__ using Wide = unsigned __int128;  // size times unit may exceed 64 bits

constexpr std::string_view kSizeHint =
    "write a number with an optional unit: 512, 64k, 100m, 2g, 1t";
constexpr std::string_view kDurationHint = "write a duration like 250ms, 30s, 2m or 1h30m";

constexpr std::uint64_t kOverflow = UINT64_MAX;

// Reads digits with up to three decimals from the front of `text` and returns thousandths;
// kOverflow for a number that does not fit.
bool take_milli(std::string_view& text, std::uint64_t& milli) {
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc::invalid_argument) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || __builtin_mul_overflow(whole, std::uint64_t{1000}, &milli))
    milli = kOverflow;
  if (!text.starts_with('.')) return true;
  text.remove_prefix(1);
  std::uint64_t place = 100;
  std::size_t digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (++digits > 3) return false;
    if (__builtin_add_overflow(milli, static_cast<std::uint64_t>(text.front() - '0') * place,
                               &milli))
      milli = kOverflow;
    place /= 10;
    text.remove_prefix(1);
  }
  return digits > 0;
}

template <typename Number>
Result<Number> whole(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    return invalid("number", "\"" + std::string(text) + "\" is not a whole number");
  return value;
}

// The first that fits counts; a number alone is seconds.
struct DurationUnit {
  std::string_view name;
  std::uint64_t scale;   // thousandths of a second per thousandth of the unit,
  std::uint64_t divide;  // divided by this
};
constexpr std::array kDurationUnits{DurationUnit{"ms", 1, 1000}, DurationUnit{"s", 1, 1},
                                    DurationUnit{"m", 60, 1}, DurationUnit{"h", 3600, 1},
                                    DurationUnit{"", 1, 1}};

int shift_of(std::string_view unit) {
  if (unit.ends_with("ib")) unit.remove_suffix(2);
  else if (unit.ends_with("b")) unit.remove_suffix(1);
  if (unit.empty()) return 0;
  if (unit == "k") return 10;
  if (unit == "m") return 20;
  if (unit == "g") return 30;
  if (unit == "t") return 40;
  return -1;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const std::string lowered = lower(text);
  std::string_view rest = lowered;
  std::uint64_t milli = 0;
  if (!take_milli(rest, milli))
    return invalid("size", "\"" + std::string(text) + "\" is not a size", kSizeHint);
  const int shift = shift_of(rest);
  if (shift < 0)
    return invalid("size", "\"" + std::string(text) + "\" has an unknown unit", kSizeHint);
  const Wide bytes = (static_cast<Wide>(milli) << shift) / 1000;
  if (milli == kOverflow || bytes > static_cast<Wide>(INT64_MAX))
    return invalid("size", "\"" + std::string(text) + "\" is too large", kSizeHint);
  return static_cast<std::uint64_t>(bytes);
}

Result<std::uint64_t> parse_count(std::string_view text) { return whole<std::uint64_t>(text); }

Result<std::int64_t> parse_signed(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return whole<std::int64_t>(text);
}

Result<std::uint64_t> parse_milli(std::string_view text) {
  std::string_view rest = text;
  std::uint64_t milli = 0;
  if (!take_milli(rest, milli) || !rest.empty() || milli == kOverflow)
    return invalid("number", "\"" + std::string(text) + "\" is not a number",
                   "write a number of processors like 2 or 0.5");
  return milli;
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto bad = [&](const char* why = "is not a duration") {
    return invalid("duration", "\"" + std::string(text) + "\" " + why, kDurationHint);
  };
  constexpr const char* kTooLong = "is longer than a year";
  std::string_view rest = text;
  std::uint64_t total = 0;
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    std::uint64_t milli = 0;
    if (!take_milli(rest, milli)) return bad();
    const DurationUnit& unit = *std::ranges::find_if(
        kDurationUnits, [&](const DurationUnit& known) { return rest.starts_with(known.name); });
    rest.remove_prefix(unit.name.size());
    // "1m30": the last number has no unit.
    if (unit.name.empty() && (!rest.empty() || total != 0)) return bad();
    std::uint64_t part = 0;
    if (__builtin_mul_overflow(milli, unit.scale, &part)) return bad(kTooLong);
    if (__builtin_add_overflow(total, part / unit.divide, &total)) return bad(kTooLong);
  }
  // A year is longer than any run; it also keeps later sums of milliseconds from overflowing.
  if (total > 366ULL * 24 * 3600 * 1000) return bad(kTooLong);
  return std::chrono::milliseconds(total);
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "KMGT";
  if (bytes < 1024) return std::to_string(bytes) + " B";
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >> (10 * (unit + 2)) != 0) ++unit;
  const auto tenths =
      static_cast<std::uint64_t>((static_cast<Wide>(bytes) * 10) >> (10 * (unit + 1)));
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text + " " + kUnits[unit] + "iB";
}

std::string format_duration(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  if (count % 1000 != 0) return std::to_string(count) + "ms";
  if (count % 60000 != 0) return std::to_string(count / 1000) + "s";
  return std::to_string(count / 60000) + "m";
}

}  // namespace coop
