// A tool's answer as the result of tools/call.
#pragma once

#include <string_view>

#include "tools/tool.h"

namespace coop::mcp {

// What a client hands to its model differs: `content`, `structuredContent`, or both.
enum class Form : std::uint8_t {
  both,       // each has the text, so that no client's model misses it
  text_only,  // `content` alone, for clients that would show the text twice, or as quoted JSON
};

// By the name that the client gives of itself.
Form form_of(std::string_view client_name);

enum class Length : std::uint8_t {
  shown,  // at most tools::kMostShown characters
  whole,  // all that was kept
};

// `directory` is the workspace, for the URIs of files.
Json call_result(tools::ToolOutput output, Form form, Length length, std::string_view directory);

}  // namespace coop::mcp
