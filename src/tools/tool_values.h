// Small things every file tool needs: arguments out of JSON, text into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/tool.h"

namespace coop::tools {

// The argument, or the fallback where there is none of that type.
std::string text_or(const Json& arguments, std::string_view name, std::string_view fallback);
std::int64_t number_or(const Json& arguments, std::string_view name, std::int64_t fallback);
// Whether it is there and true.
bool is_set(const Json& arguments, std::string_view name);

// JSON holds UTF-8 only: every other byte becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

// By the bytes at its beginning: text has no NUL.
bool looks_binary(std::string_view bytes);

// An error as the answer that says so.
ToolOutput answer(Result<ToolOutput> result);

// What is in a file, at most `most` bytes and one more when there are more.
Result<std::string> read_at_most(int fd, std::size_t most, std::string_view name);

}  // namespace coop::tools
