// Splits the kernel's and the account files' text. Views only, nothing is copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace coop::host {

// Removes everything up to `separator` from the front of `rest`, and the separator with it.
std::string_view take_field(std::string_view& rest, char separator);

// Removes the next line; nullopt when nothing is left.
std::optional<std::string_view> take_line(std::string_view& rest);

// Decimal digits only, no sign, no spaces; nullopt also when it does not fit.
std::optional<std::uint64_t> to_number(std::string_view text);

// Whether `word` is one of the words in `text`, separated by spaces or newlines.
bool has_word(std::string_view text, std::string_view word);

// The value of "name:   value" in /proc/self/status and similar files; empty when there is none.
std::string_view status_field(std::string_view text, std::string_view name);

}  // namespace coop::host
