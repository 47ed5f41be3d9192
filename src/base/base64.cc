#include "base/base64.h"

#include <cstdint>

namespace coop {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned group = 0;
    for (std::size_t index = at; index < at + 3; ++index)
      group = group << 8U | (index < bytes.size() ? static_cast<unsigned char>(bytes[index]) : 0U);
    const std::size_t left = bytes.size() - at;
    text += kLetters[group >> 18U];
    text += kLetters[group >> 12U & 63U];
    text += left > 1 ? kLetters[group >> 6U & 63U] : '=';
    text += left > 2 ? kLetters[group & 63U] : '=';
  }
  return text;
}

}  // namespace coop
