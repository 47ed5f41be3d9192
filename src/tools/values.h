// Helpers of every file tool: reading JSON arguments, writing text to JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/tool.h"

namespace coop::tools {

// The argument, or the fallback if there is none of that type.
std::string text_or(const Json& arguments, std::string_view name, std::string_view fallback);
std::int64_t number_or(const Json& arguments, std::string_view name, std::int64_t fallback);
// Whether it is there and true.
bool is_set(const Json& arguments, std::string_view name);

// JSON holds UTF-8 only: invalid bytes become U+FFFD.
std::string as_utf8(std::string_view bytes);

// Judged by its first bytes: text has no NUL.
bool looks_binary(std::string_view bytes);

// Turns an error into an answer.
ToolOutput answer(Result<ToolOutput> result);

// The content of a file, at most `most` bytes and one more when there are more.
Result<std::string> read_at_most(int fd, std::size_t most, std::string_view name);

}  // namespace coop::tools
