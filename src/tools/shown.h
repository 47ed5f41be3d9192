// How much of a result a model is shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coop::tools {

// Clients replace a longer result by a preview (Claude Code from about 50,000 characters on).
inline constexpr std::size_t kMostShown = 50'000;
// For the text of one result: the rest is for the other fields and the names of all of them.
inline constexpr std::size_t kMostShownText = 48'000;

// Characters of a UTF-8 text as clients count them: UTF-16 units.
std::size_t characters_of(std::string_view text);
// The same for the text as a string of JSON, quoted characters included.
std::size_t json_characters_of(std::string_view text);

using Measure = std::size_t (*)(std::string_view text);
// The longest beginning that measures at most `most`; whole characters only.
std::string_view beginning_of(std::string_view text, std::size_t most, Measure measure);
// Head and tail with a note between them, if it measures more than `most`.
std::string clipped(const std::string& text, std::size_t most, Measure measure);

}  // namespace coop::tools
