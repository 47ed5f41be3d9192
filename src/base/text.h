// ASCII letters and blanks, independent of the locale; lists of words.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

namespace coop {

std::string lower(std::string_view text);

// All words with `separator` between them.
template <typename Words>
std::string joined(const Words& words, std::string_view separator) {
  std::string text;
  for (const auto& word : words) {
    if (&word != &*std::begin(words)) text += separator;
    text += word;
  }
  return text;
}

// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace coop
