#include "cli/clock.h"

#include <ctime>

namespace coop::cli {

std::string clock_text(std::int64_t seconds, const char* format) {
  const std::time_t when = seconds;
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

}  // namespace coop::cli
