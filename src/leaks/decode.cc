#include "leaks/decode.h"

#include <algorithm>
#include <span>

#include "leaks/runs.h"

namespace coop::leaks {

namespace {

constexpr std::size_t kBatch = 100'000;
using Values = std::span<const unsigned char>;

void pack_base64(Values digits, std::string& bytes) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + digits.size() / 4 * 3 + 3);
  char* out = bytes.data() + begin;
  const auto value = [&](std::size_t index) { return unsigned{digits[index]}; };
  std::size_t index = 0;
  for (; index + 4 <= digits.size(); index += 4) {
    const unsigned word =
        value(index) << 18U | value(index + 1) << 12U | value(index + 2) << 6U | value(index + 3);
    *out++ = static_cast<char>(word >> 16U);
    *out++ = static_cast<char>(word >> 8U);
    *out++ = static_cast<char>(word);
  }
  if (index + 2 <= digits.size())
    *out++ = static_cast<char>(value(index) << 2U | value(index + 1) >> 4U);
  if (index + 3 <= digits.size())
    *out++ = static_cast<char>(value(index + 1) << 4U | value(index + 2) >> 2U);
  bytes.resize(static_cast<std::size_t>(out - bytes.data()));
}

void pack_hex(Values digits, std::string& bytes) {
  for (std::size_t index = 0; index + 2 <= digits.size(); index += 2)
    bytes += static_cast<char>(unsigned{digits[index]} << 4U | digits[index + 1]);
}

// Try every alignment: characters before a blob may look like part of it ("key/c2st…"), and then
// only another start gives the secret.
void add_digits(std::string_view text, Encoding encoding, Stretch stretch,
                std::vector<unsigned char>& values, Batch& batch) {
  const bool base64 = encoding == Encoding::base64;
  const Digits digits = read_digits(text, encoding, stretch.begin, stretch.end, values);
  if (digits.count < (base64 ? kLeastBase64 : kLeastHex)) return;
  const unsigned ways = base64 ? digits.ascii_from : 0b11U;
  for (; stretch.skipped < 4; ++stretch.skipped) {
    if ((ways >> stretch.skipped & 1U) == 0) continue;
    stretch.offset = batch.bytes.size();
    const Values rest = Values(values).subspan(stretch.skipped, digits.count - stretch.skipped);
    if (base64) pack_base64(rest, batch.bytes);
    else pack_hex(rest, batch.bytes);
    stretch.size = batch.bytes.size() - stretch.offset;
    batch.bytes += '\n';
    batch.stretches.push_back(stretch);
  }
}

void add_url(std::string_view text, Stretch stretch, Batch& batch) {
  stretch.offset = batch.bytes.size();
  for (std::size_t place = stretch.begin; place < stretch.end;) {
    const Digit digit = digit_at(text, Encoding::url, place);
    batch.bytes += static_cast<char>(digit.value);
    place += digit.size;
  }
  stretch.size = batch.bytes.size() - stretch.offset;
  batch.bytes += '\n';
  batch.stretches.push_back(stretch);
}

}  // namespace

void LeakDecoder::next(Batch& batch) {
  batch.bytes.clear();
  batch.stretches.clear();
  while (batch.bytes.size() < kBatch) {
    const Run run = next_run(text_, encoding_, place_);
    place_ = run.next;
    if (run.begin == run.end) return;
    const Stretch stretch{.begin = run.begin, .end = run.end};
    if (encoding_ == Encoding::url) add_url(text_, stretch, batch);
    else add_digits(text_, encoding_, stretch, values_, batch);
  }
}

EncodedPlace::EncodedPlace(std::string_view text, Encoding encoding, const Stretch& stretch)
    : text_(text), encoding_(encoding), stretch_(stretch), cursor_{.place = stretch.begin} {}

void EncodedPlace::advance(Cursor& cursor, std::size_t digits) const {
  while (cursor.place < stretch_.end) {
    const Digit digit = digit_at(text_, encoding_, cursor.place);
    if (digit.value != kNoDigit) {
      if (cursor.digits == digits) return;
      ++cursor.digits;
    }
    cursor.place += digit.size;
  }
}

EncodedPlace::Range EncodedPlace::of(std::size_t begin, std::size_t end) {
  std::size_t first = begin;
  std::size_t last = end - 1;  // the digit that holds the end of the last byte
  if (encoding_ == Encoding::hex) {
    first = stretch_.skipped + begin * 2;
    last = stretch_.skipped + end * 2 - 1;
  } else if (encoding_ == Encoding::base64) {
    first = stretch_.skipped + begin * 4 / 3;
    last = stretch_.skipped + (end * 4 + 2) / 3 - 1;
  }
  advance(cursor_, first);
  Range range{.begin = cursor_.place};
  Cursor cursor = cursor_;
  advance(cursor, last);
  range.end = std::min(cursor.place + digit_at(text_, encoding_, cursor.place).size, stretch_.end);
  if (encoding_ == Encoding::base64 && end == stretch_.size)
    for (int padding = 0; padding < 2 && text_.substr(range.end).starts_with('='); ++padding)
      ++range.end;
  return range;
}

}  // namespace coop::leaks
