// Cron expressions: what is accepted selects something in every field and nothing beyond it.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/path.h"
#include "policy/people/cron_expression.h"

namespace {

void check_bits(std::uint64_t bits, unsigned least, unsigned most) {
  if (bits == 0) std::abort();
  if (static_cast<unsigned>(std::countr_zero(bits)) < least) std::abort();
  if (static_cast<unsigned>(std::bit_width(bits)) > most + 1) std::abort();
}

// The field as a list of its values.
std::string listed(std::uint64_t bits) {
  std::string text;
  for (unsigned value = 0; value < 64; ++value)
    if ((bits >> value & 1U) != 0) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cron = coop::policy::parse_cron(text);
  if (!cron) {
    if (cron.error().subject.empty() || cron.error().subject.size() > 1000) std::abort();
    for (const char c : to_text(cron.error()) + cron.error().hint)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
    return 0;
  }
  check_bits(cron->minutes, 0, 59);
  check_bits(cron->hours, 0, 23);
  check_bits(cron->days, 1, 31);
  check_bits(cron->months, 1, 12);
  check_bits(cron->weekdays, 0, 6);
  const std::string again = listed(cron->minutes) + " " + listed(cron->hours) + " " +
                            listed(cron->days) + " " + listed(cron->months) + " " +
                            listed(cron->weekdays);
  if (coop::policy::parse_cron(again) != *cron) std::abort();
  return 0;
}
