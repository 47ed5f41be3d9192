#pragma once

#include <cstdint>
#include <string>

namespace coop::cli {

// UTC, for lists: `format` as strftime() takes it.
std::string clock_text(std::int64_t seconds, const char* format);

}  // namespace coop::cli
